"""The quick tier leaves out what `tests/slow.txt` lists, and each listed test exists."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from tests import tiers

PROJECT = """
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

RUNS = []

@pytest.fixture
def postgres():
    pass

@pytest.mark.parametrize("n", range(3))
def test_slow(n):
    pass

def test_on_a_server(postgres):
    pass

def test_fast():
    pass

@settings(max_examples=70, deadline=None)
@given(st.integers())
def test_property(n):
    RUNS.append(n)

class Machine(RuleBasedStateMachine):
    @rule()
    def step(self):
        pass

TestMachine = Machine.TestCase
TestMachine.settings = settings(max_examples=70, deadline=None)

def test_examples():
    assert len(RUNS) <= {most}
    assert TestMachine.settings.max_examples == {most}
"""
PLUGIN = """
from pathlib import Path

from tests import tiers

tiers.ROOT = Path(__file__).parent
pytest_addoption = tiers.add_options


def pytest_configure(config):
    config.pluginmanager.register(tiers.Tiers(config))
"""


def find_missing(entries: frozenset[str]) -> list[str]:
    """Find the entries whose file or function does not exist."""
    return [entry for entry in sorted(entries) if not is_defined(*entry.split("::"))]


def is_defined(file: str, *names: str) -> bool:
    """Whether a file exists and defines or inherits the function."""
    if not (tiers.ROOT / file).is_file():
        return False
    found: object = import_module(file.removesuffix(".py").replace("/", ".")) if names else None
    for name in names:
        found = getattr(found, name, None)
    return found is not None or not names


def test_every_listed_test_exists() -> None:
    missing = find_missing(tiers.read_list())
    assert not missing, f"remove from tests/slow.txt, or run `make test-times`: {missing}"


def test_an_entry_without_its_file_function_or_method_is_found() -> None:
    here = "tests/test_tiers.py"
    assert find_missing(frozenset([here, f"{here}::{test_every_listed_test_exists.__name__}"])) == []
    missing = [
        f"{here}::test_of_before",
        "tests/index/test_memory.py::TestMemoryIndex::test_of_before",
        "tests/x.py",
    ]
    assert find_missing(frozenset(missing)) == sorted(missing)


def test_no_entry_is_part_of_another() -> None:
    listed = tiers.read_list()
    assert not [entry for entry in listed if not listed.isdisjoint(tiers.list_names(entry)[:-1])]


def test_what_is_kept_is_not_listed_and_what_is_left_out_is() -> None:
    listed = tiers.read_list()
    assert not [entry for entry in listed if tiers.is_listed(entry, tiers.KEPT)]
    assert all(tiers.is_listed(entry, listed) for entry in tiers.LEFT_OUT)


def test_what_is_kept_fits_first_and_what_is_left_out_never() -> None:
    [kept, *_], [left_out, *_] = sorted(tiers.KEPT), sorted(tiers.LEFT_OUT)
    seconds = {f"{kept}::test_long": 9.0, f"{left_out}::test_short": 0.1, "a.py::test_short": 1.5}
    assert tiers.choose_slow(seconds, 10.0) == ["a.py", tiers.list_names(left_out)[0]]


def test_the_list_has_no_parameters_and_is_sorted() -> None:
    entries = [line for line in tiers.LIST.read_text().splitlines() if not line.startswith("#")]
    assert entries == sorted(set(entries))
    assert not [entry for entry in entries if "[" in entry]


@pytest.mark.parametrize(
    ("budget", "slow"),
    [
        (100.0, []),
        (6.0, ["a.py::test_two"]),
        (5.9, ["a.py::TestThree", "a.py::test_two"]),
        (3.0, ["a.py::test_two", "b.py"]),
        (0.0, ["a.py", "b.py"]),
    ],
)
def test_the_quickest_tests_that_fit_the_budget_are_kept(budget: float, slow: list[str]) -> None:
    seconds = {
        "a.py::test_one[x]": 0.5,
        "a.py::test_one[y::z]": 0.5,
        "a.py::test_two": 5.0,
        "a.py::TestThree::test_three": 2.0,
        "b.py::test_four[x]": 1.5,
        "b.py::test_four[y]": 1.5,
    }
    assert tiers.choose_slow(seconds, budget) == slow


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with a list of its own, and the hooks of the two tiers."""
    (tmp_path / "conftest.py").write_text(PLUGIN + f"tiers.LIST = Path({str(tmp_path / 'slow.txt')!r})\n")
    (tmp_path / "slow.txt").write_text("# slow\ntest_it.py::test_slow\ntest_whole.py\n")
    (tmp_path / "test_whole.py").write_text("raise ValueError('imported')\n")
    (tmp_path / "test_it.py").write_text(PROJECT.replace("{most}", str(tiers.EXAMPLES)))
    return tmp_path


def run(project: Path, *options: str) -> str:
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "--noconftest",
        "-p",
        "conftest",
        "-p",
        "no:cacheprovider",
    ]
    ran = subprocess.run(
        [*command, "--rootdir", str(project), *options, str(project)],
        cwd=project,
        env={"PYTHONPATH": f"{tiers.ROOT}:{project}", "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    return ran.stdout + ran.stderr


def test_the_quick_tier_skips_listed_tests_and_limits_examples(project: Path) -> None:
    assert "4 passed, 4 deselected" in run(project, "--quick")


def test_without_the_option_everything_runs(project: Path) -> None:
    assert "imported" in run(project)
    (project / "test_whole.py").unlink()
    assert "1 failed, 7 passed" in run(project)


def test_times_are_measured_for_every_test(project: Path) -> None:
    (project / "test_whole.py").write_text("def test_whole(): sum(range(3_000_000))\n")
    assert "9 passed" in run(project, "--times", "build/times.tsv")
    times = tiers.read_times(project / "build" / "times.tsv")
    assert len(times) == 8, "a test that needs a server is in no list, so its time is not needed"
    assert times["test_whole.py::test_whole"] > 0.01
    tiers.write_list(project / "build" / "times.tsv", project / "slow.txt")
    assert tiers.read_list(project / "slow.txt") == frozenset()
