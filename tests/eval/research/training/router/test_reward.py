"""Eq. 1 with Table 11, by the six outcomes a choice can have, and as ms-swift calls it."""

import subprocess
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

import pytest

from eval.research.training.router import router_reward
from eval.research.training.router.router_reward import Choice, RouterReward, choice_in, register, reward

TABLE_11 = {
    "CORRECT_REWARD": 1.0,
    "WRONG_PENALTY": -1.5,
    "COST_S": 0.0,
    "COST_R": 0.1,
    "WASTE_R": 0.4,
    "FORMAT_ERROR_PENALTY": -1.0,
}

OUTCOMES: list[tuple[Choice | None, bool, bool, float]] = [
    ("S", True, True, 1.0),
    ("S", True, False, 1.0),
    ("S", False, True, -1.5),
    ("S", False, False, -1.5),
    ("R", False, True, 0.9),
    ("R", True, True, 0.5),
    ("R", False, False, -1.6),
    ("R", True, False, -2.0),
    (None, True, True, -1.0),
    (None, False, False, -1.0),
]


def test_the_coefficients_are_those_of_table_11() -> None:
    assert {name: getattr(router_reward, name) for name in TABLE_11} == TABLE_11


@pytest.mark.parametrize(("choice", "c_s", "c_r", "worth"), OUTCOMES)
def test_a_choice_is_worth_what_equation_1_says(
    choice: Choice | None, c_s: bool, c_r: bool, worth: float
) -> None:
    assert reward(choice, c_s=c_s, c_r=c_r) == pytest.approx(worth)


@pytest.mark.parametrize(
    ("reply", "choice"),
    [
        ('{"action": "S"}', "S"),
        (' {"thinking": "no day is given", "action": "R"}\n', "R"),
        ("S", None),
        ('{"action": "S/R"}', None),
        ('{"action": ["S"]}', None),
        ('["S"]', None),
        ('{"action": "S"} {"action": "R"}', None),
        ("", None),
    ],
)
def test_a_reply_chooses_by_its_action_alone(reply: str, choice: Choice | None) -> None:
    assert choice_in(reply) == choice


def test_ms_swift_gives_columns_and_gets_a_reward_for_each_completion() -> None:
    replies = ['{"action": "S"}', '{"action": "R"}', "R"]
    given = RouterReward()(replies, c_s=[True, True, False], c_r=[True, False, True], trainer_state=None)
    assert given == pytest.approx([1.0, -2.0, -1.0])
    with pytest.raises(ValueError, match="zip"):
        RouterReward()(replies, c_s=[True], c_r=[True])


@pytest.fixture
def swift(monkeypatch: pytest.MonkeyPatch) -> dict[str, type]:
    """ms-swift as far as a plugin sees it: `swift.plugin.orms`, a mapping from names to classes."""
    orms: dict[str, type] = {}
    package, plugin = ModuleType("swift"), ModuleType("swift.plugin")
    package.__path__ = []
    plugin.orms = orms  # type: ignore[attr-defined]
    for name, module in (("swift", package), ("swift.plugin", plugin)):
        module.__spec__ = ModuleSpec(name, None)
        monkeypatch.setitem(sys.modules, name, module)
    return orms


def test_it_registers_where_ms_swift_is(swift: dict[str, type]) -> None:
    assert register()
    assert swift == {"tiermem_router": RouterReward}


def test_the_file_is_loaded_by_its_path_with_the_standard_library_alone(tmp_path: Path) -> None:
    file = Path(router_reward.__file__)
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, {str(file.parent)!r}); "
         "import router_reward; print(router_reward.reward('R', c_s=False, c_r=True))"],
        cwd=tmp_path, check=True, capture_output=True, text=True,
    )  # fmt: skip
    assert float(done.stdout) == pytest.approx(0.9)
