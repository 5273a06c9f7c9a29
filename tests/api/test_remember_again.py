"""What is remembered twice is one unit, as long as nothing that is known of it differs."""

from __future__ import annotations

from typing import Any

import pytest

import tiermem
from tests.api.conftest import OpenMemory

FACTS = (
    "The kiln is hot.",
    "Mittens sleeps in the boathouse at night.",
    "Das Boot liegt seit Mai in Kiel.",
    "Klucz jest pod czerwoną doniczką.",
    "Dentist: Dr. Alvarez, on Mondays at nine.",
    "I paid 1,450 dollars\nfor the new roof.",
)


@pytest.fixture
def memory(open_memory: OpenMemory) -> tiermem.Memory:
    return open_memory()


@pytest.mark.parametrize("fact", FACTS)
def test_the_same_fact_of_the_same_speaker_is_the_unit_that_exists(memory: tiermem.Memory, fact: str) -> None:
    first = memory.remember(fact, speaker="Ann")
    before = memory.stats().turns
    again = memory.remember(f" {fact}  ", speaker="Ann")
    assert (again.unit, again.page_id, again.is_new) == (first.unit, first.page_id, False)
    assert first.is_new
    assert memory.stats().turns == before
    assert memory.units() == (first.unit,)


@pytest.mark.parametrize(
    "differs",
    [
        {"speaker": "Bo"},
        {"speaker": "ann"},
        {"session": "work"},
        {"said_at": "2020-05-08"},
        {"metadata": {"channel": "general"}},
        {"importance": 0.9},
        {"role": "assistant"},
        {"trust": "web"},
    ],
    ids=str,
)
def test_what_differs_is_kept_beside_it(memory: tiermem.Memory, differs: dict[str, Any]) -> None:
    first = memory.remember("The kiln is hot.", speaker="Ann", trust="tool" if "trust" in differs else None)
    given = {"speaker": "Ann", **differs}
    if "trust" in differs:
        assert not memory.remember("The kiln is hot.", **given).is_new  # trusted less than what exists
        given["trust"] = "user"
    other = memory.remember("The kiln is hot.", **given)
    assert other.is_new
    assert other.unit.id != first.unit.id
    assert not memory.remember("The kiln is hot.", **given).is_new
    assert len(memory.units()) == 2


def test_what_holds_no_longer_is_stated_again(memory: tiermem.Memory) -> None:
    first = memory.remember("I live in Paris.", speaker="Ann")
    memory.correct(first.unit.id, "I live in Rome.", speaker="Ann")
    assert memory.remember("I live in Paris.", speaker="Ann").is_new
    withdrawn = memory.remember("I play the cello.", speaker="Ann")
    memory.withdraw(withdrawn.unit.id, reason="it was a joke")
    assert memory.remember("I play the cello.", speaker="Ann").is_new


def test_what_was_erased_is_stored_again(memory: tiermem.Memory) -> None:
    first = memory.remember("The alarm code is 4711.", speaker="Ann")
    memory.erase(page=first.page_id, reason="asked for")
    assert memory.units() == ()
    assert memory.remember("The alarm code is 4711.", speaker="Ann").is_new


def test_a_fact_of_another_agent_is_its_own(memory: tiermem.Memory) -> None:
    mine = memory.remember("The kiln is hot.", speaker="Ann")
    with memory.as_agent("scout") as scout:
        theirs = scout.remember("The kiln is hot.", speaker="Ann")
        assert theirs.is_new
        assert not scout.remember("The kiln is hot.", speaker="Ann").is_new
    assert theirs.unit.id != mine.unit.id


def test_words_that_end_alike_are_other_facts(memory: tiermem.Memory) -> None:
    memory.remember("It is not true that the kiln is hot.", speaker="Ann")
    assert memory.remember("the kiln is hot.", speaker="Ann").is_new


def test_a_fact_is_known_after_reopening(open_memory: OpenMemory) -> None:
    with open_memory() as memory:
        first = memory.remember("The kiln is hot.", speaker="Ann")
    assert open_memory().remember("The kiln is hot.", speaker="Ann").unit == first.unit
