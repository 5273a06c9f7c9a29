"""An index that holds no more than some units: what goes cold is kept, found and counted."""

import tempfile
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tiermem
from tests.api.conftest import OpenMemory
from tests.engines import quoting_engine
from tests.stores import is_on_postgresql
from tiermem.embedding.hashed import HashEmbedder
from tiermem.errors import InvalidInput

THINGS = ("canoe", "piano", "kettle", "telescope", "lantern", "bicycle", "violin", "tent", "loom", "sledge")


def bought(number: int) -> str:
    return f"Ann bought a {THINGS[number]} for {number + 200} euros."


def tell(memory: tiermem.Memory, things: range = range(10)) -> None:
    for number in things:
        memory.add(bought(number), speaker="Ann", session=f"s{number}", said_at=f"2024-03-{number + 1:02}")
    memory.flush()


def cold(memory: tiermem.Memory) -> list[str]:
    """The texts of cold units, those first that went first."""
    tier1 = memory._async._caller.components.ledger.tier1
    return [unit.text for unit_id in tier1.cold if (unit := tier1.unit(unit_id)) is not None]


def found(memory: tiermem.Memory) -> dict[str, list[str]]:
    return {thing: [one.text for one in memory.search(thing)] for thing in THINGS}


def test_units_beyond_the_limit_are_kept_found_and_counted(open_memory: OpenMemory) -> None:
    memory = open_memory(hot_units=4)
    tell(memory)
    figures = memory.stats()
    assert (figures.units, figures.units_cold, figures.index_pending) == (10, 6, 0)
    assert len(memory.units()) == 10
    for number, thing in enumerate(THINGS):
        best = memory.search(f"What did the {thing} cost?", limit=3)
        assert any(one.unit_id and thing in one.text for one in best), f"the unit of the {thing} is found"
        assert str(number + 200) in memory.ask(f"What did the {thing} cost in euros?").text
    for unit in memory.units():
        assert memory.trail(unit.id)[0].unit == unit


def test_an_index_made_anew_holds_the_same_units(open_memory: OpenMemory) -> None:
    memory = open_memory(hot_units=4)
    tell(memory)
    before, told = cold(memory), found(memory)
    memory.reindex()
    assert (cold(memory), found(memory)) == (before, told)


def test_the_limit_is_on_record_and_holds_for_whoever_opens_the_space(open_memory: OpenMemory) -> None:
    memory = open_memory(hot_units=4)
    tell(memory)
    went, told = cold(memory), found(memory)
    memory.close()
    looking = open_memory(read_only=True, hot_units=9)
    assert (cold(looking), found(looking)) == (went, told)
    with open_memory() as again:
        assert cold(again) == went, "None leaves it as it is"
        assert len(again.stats().problems) == 0
    with open_memory(hot_units=1000) as wide:
        wide.flush()
        assert (cold(wide), wide.stats().units_cold) == ([], 0)


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_of_no_units_is_refused(open_memory: OpenMemory, limit: int) -> None:
    with pytest.raises(InvalidInput, match=r"hot_units: .*greater than or equal to 1"):
        open_memory(hot_units=limit)


def test_what_was_hot_then_and_is_cold_now_answers_a_question_about_then(open_memory: OpenMemory) -> None:
    memory = open_memory(hot_units=3)
    tell(memory, range(3))
    memory.ask("What did the canoe cost in euros?")
    then = memory.answers()[-1].at
    tell(memory, range(3, 10))
    assert memory.stats().units_cold == 7
    for number in range(3):
        asked = memory.ask(f"What did the {THINGS[number]} cost in euros?", as_of=then, mode="summary")
        assert str(number + 200) in asked.text
    later = memory.ask("What did the tent cost in euros?", as_of=then, mode="summary")
    assert "207" not in later.text


def test_erasing_takes_hot_and_cold_units_and_leaves_in_the_index_what_is_hot_now(
    open_memory: OpenMemory, pytestconfig: pytest.Config
) -> None:
    memory = open_memory(hot_units=4)
    tell(memory)
    for number in (0, 9):
        receipt = memory.erase(session=f"s{number}", reason="asked to")
        # PostgreSQL keeps the old rows until it vacuums the table.
        assert receipt.erasure.index == ("removed" if is_on_postgresql(pytestconfig) else "rewritten")
        assert receipt.leftovers.clean
        assert not memory.leftover_scan([THINGS[number]]).found
    assert len(memory.units()) == 8
    told = found(memory)
    assert not any(THINGS[number] in text for number in (0, 9) for texts in told.values() for text in texts)
    memory.reindex()
    assert found(memory) == told


def count_indexed(memory: tiermem.Memory) -> int:
    """How many units are in the index."""
    components = memory._async._caller.components
    index, space = components.reader._index, components.ledger.indexed_as
    return memory._call(lambda: index.count(space, "units"))


@pytest.mark.parametrize("index", [None, "memory"])
@pytest.mark.parametrize("gone", [(0,), (9,), (4, 5), (0, 9), (1, 2, 3)])
def test_erasing_puts_no_cold_unit_into_the_index(
    open_memory: OpenMemory, gone: tuple[int, ...], index: str | None
) -> None:
    memory = open_memory(hot_units=3, **({} if index is None else {"index": index}))
    tell(memory)
    for number in gone:
        memory.erase(session=f"s{number}", reason="asked to")
        figures = memory.stats()
        assert count_indexed(memory) == figures.units - figures.units_cold == 3


ACTIONS = ("tell", "tell", "ask", "erase", "reopen", "limit")
"""What may happen in a life whose units go cold and come back."""


def live_hot_and_cold(life: Sequence[tuple[str, int]]) -> int:
    """One memory whose index holds a few units, on disk; after each step all that was said and not erased is
    found, and nothing that was erased is. Gives how many units were cold at the end.
    """
    limit, said = 3, set[int]()
    with tempfile.TemporaryDirectory() as folder:
        memory = _opened(folder, limit)
        try:
            for what, n in (*life, ("reopen", 0)):
                if what == "tell" and n not in said:
                    tell(memory, range(n, n + 1))
                    said.add(n)
                elif what == "ask":
                    memory.ask(f"What did the {THINGS[n]} cost in euros?")
                elif what == "erase" and n in said:
                    assert memory.erase(session=f"s{n}", reason="asked to").leftovers.clean
                    said.remove(n)
                elif what in ("reopen", "limit"):
                    limit = 1 + n % 5 if what == "limit" else limit
                    memory.close()
                    memory = _opened(folder, limit)
                    memory.flush()
                figures = memory.stats()
                assert figures.units == len(said)
                assert figures.units_cold == max(0, len(said) - limit), f"after {what}, at most {limit}"
                for number, thing in enumerate(THINGS):
                    best = memory.search(f"What did the {thing} cost?", limit=3)
                    assert any(one.unit_id and thing in one.text for one in best) is (number in said), thing
            return memory.stats().units_cold
        finally:
            memory.close()


def _opened(folder: str, limit: int) -> tiermem.Memory:
    return tiermem.open(
        folder, engine=quoting_engine(), embedder=HashEmbedder(), distil="deferred", hot_units=limit
    )


@settings(max_examples=6)
@given(st.lists(st.tuples(st.sampled_from(ACTIONS), st.integers(0, 9)), max_size=14))
def test_whatever_goes_cold_and_comes_back_is_found_until_it_is_erased(life: list[tuple[str, int]]) -> None:
    live_hot_and_cold(life)
