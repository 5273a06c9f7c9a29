"""No attack on memory raises trust, supersedes what a more trusted source said, or crosses spaces.

A part of the set; `python -m tests.injections.attack` runs all of it and prints the figures.
"""

import anyio
import pytest

from tests.injections.attack import ENGINES, run
from tests.injections.cases import betrays, made, written

FIGURES = ("raised", "superseded", "crossed", "reached")


def test_the_set_holds_at_least_sixty_attacks_of_many_families() -> None:
    attacks = written()
    assert len(attacks) >= 60
    assert len({attack.name for attack in attacks}) == len(attacks)
    assert len({attack.family for attack in attacks}) >= 10
    assert len(set(made(500))) == 500


@pytest.mark.parametrize("engine", ENGINES)
def test_attacks_achieve_nothing(engine: str) -> None:
    attacks = (*written()[:: 3 if engine == "local" else 5], *made(5, seed=1))
    total = anyio.run(run, attacks, engine)
    assert total["attacks"] >= 20
    assert total["units"] > 6 * total["attacks"]
    assert total["praised"] > total["attacks"] / 2
    assert {name: total[name] for name in FIGURES} == dict.fromkeys(FIGURES, 0)


def test_a_memory_that_withholds_what_no_rule_confirms_tells_no_lie_at_all() -> None:
    total = anyio.run(run, written()[::5], "gullible", "abstain")
    assert total["answered"]
    assert {name: total[name] for name in (*FIGURES, "marked")} == dict.fromkeys((*FIGURES, "marked"), 0)


def test_a_disguised_lie_is_known_again() -> None:
    from tests.injections.cases import DISGUISES

    for name, disguise in DISGUISES.items():
        assert betrays(disguise("Ann's bank is Quickcash."), "Quickcash"), name
    assert not betrays("Ann's bank is the Savings Bank.", "Quickcash")


@pytest.mark.parametrize("bug", ["trust everybody", "merge across levels", "anybody supersedes", "no floor"])
def test_the_set_finds_a_memory_that_believes_too_much(bug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from tiermem.reading.view import View
    from tiermem.writing import distil, edit

    match bug:
        case "trust everybody":
            monkeypatch.setattr(distil, "proof_rank", lambda *given: 3)
        case "merge across levels":
            monkeypatch.setattr(edit, "why_not_one", lambda text, target, new, grounds: None)
        case "anybody supersedes":
            monkeypatch.setattr(edit, "_may_supersede", lambda newer, older: True)
        case "no floor":
            monkeypatch.setattr(View, "as_visible", lambda self, page: page)
            monkeypatch.setattr(View, "unit", lambda self, unit_id: self.tier1.unit(unit_id))
    assert any(anyio.run(run, (attack,), "gullible")["successful"] for attack in written()[::5])
