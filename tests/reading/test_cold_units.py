"""Cold units are found by their words and by their turns, whatever happened to them before."""

from collections.abc import Sequence
from dataclasses import replace

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engines import engine
from tests.ledger.building import answered
from tests.ledger.test_tier1 import folded
from tests.ledger.test_tiers import distilled_units
from tests.reading.world import SPACE, ListIndex, World, distilled, make_question, make_unit
from tiermem.index.candidates import Candidates
from tiermem.index.words import WordIndex
from tiermem.ledger import BoundedEntry, ReinstatedEntry, RetiredEntry, Shared
from tiermem.llm.meter import Meter
from tiermem.model import SummaryUnit, UnitId
from tiermem.reading.backlog import Backlog, ColdUnits
from tiermem.reading.options import ReadingOptions
from tiermem.reading.search import NO_CANDIDATES, UNITS, LookUp
from tiermem.reading.view import EVERYTHING, View
from tiermem.writing import Selection, Writer

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("logs")]

ANIMALS = ("dog", "cow", "cat", "hen", "fox", "owl", "bee", "elk", "yak", "emu", "ram", "pig")


async def zoo(world: World, *animals: str) -> list[SummaryUnit]:
    """A unit for each, of a page of its own, which tells it in other words than the page."""
    units: list[SummaryUnit] = []
    for animal in animals:
        page = await world.page(f"Ann: I met a {animal} today")
        units += await world.units(page, (f"Ann saw one {animal} somewhere", f"met a {animal}"))
    return units


def hot(world: World) -> set[str]:
    tier1 = world.ledger.tier1
    return {unit.id for unit in tier1.all_units() if not tier1.is_cold(unit.id)}


def indexed(world: World) -> set[str]:
    return {*world.index.entries.get((world.ledger.space, "units"), {})}


async def best(world: World, query: str) -> list[str]:
    found = await (await world.look_up()).units(make_question(query), limit=5)
    return [unit.text for unit in found.units]


async def limited(limit: int) -> World:
    world = await World.new()
    await world.ledger.write(BoundedEntry(hot_units=limit))
    return world


async def test_the_index_holds_hot_units_alone() -> None:
    world = await limited(4)
    await zoo(world, *ANIMALS)
    assert indexed(world) == hot(world)
    assert len(indexed(world)) == 4


async def test_a_cold_unit_is_found_by_words_that_its_page_does_not_have() -> None:
    world = await limited(2)
    dog, *_ = await zoo(world, *ANIMALS[:4])
    world.index.entries.pop((world.ledger.space, "turns"))
    assert dog.id not in indexed(world)
    assert dog.text in (await best(world, "saw one dog somewhere"))[:3]


async def test_a_cold_unit_is_found_by_its_turn() -> None:
    world = await limited(2)
    dog, *_ = await zoo(world, *ANIMALS[:4])
    assert dog.text in await best(world, "met dog today")


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ('"harbour gate" lantern violin', "the harbour gate is open"),
        ("“harbour gate” and lantern, lantern, violin", "the harbour gate is open"),
        ("lantern violin ORD-20417", "it is the order ORD-20417"),
        ("Which lantern and violin came with ORD-20417?", "it is the order ORD-20417"),
        ('Whose lantern and violin are at the "harbour gate"?', "the harbour gate is open"),
    ],
)
async def test_a_cold_unit_that_contains_the_phrase_of_a_query_is_first(query: str, wanted: str) -> None:
    world = await limited(1)
    world.index = WithoutTurns()
    # Words of the whole query rank more than `UNITS` units before the wanted one.
    crowd = [f"gate harbour 20417 ORD lantern violin {n}" for n in range(UNITS + 10)]
    page = await world.page("Ann: I wrote it down")
    await world.units(page, *((text, "wrote it down") for text in (wanted, *crowd, "the last")))
    assert indexed(world) == hot(world)
    (unit,) = [unit for unit in world.ledger.tier1.all_units() if unit.text == wanted]
    assert world.ledger.tier1.is_cold(unit.id)
    view = await View.open(world.ledger, world.index, EVERYTHING)
    lookup = LookUp(view, ReadingOptions(), as_typed=True)
    found = await lookup.units(make_question(query), limit=3)
    assert [one.text for one in found.units][:1] == [wanted]


async def test_what_is_cold_is_not_told_as_waiting_for_the_index() -> None:
    world = await limited(2)
    await zoo(world, *ANIMALS[:4])
    found = await (await world.look_up()).units(make_question("dog"), limit=5)
    assert found.degradations == ()
    assert await world.reader().index_pending() == 0


async def test_a_cold_unit_that_an_answer_cites_is_in_the_index_after_the_next_run() -> None:
    world = await limited(3)
    dog, cow, *_ = await zoo(world, *ANIMALS[:5])
    assert dog.id not in indexed(world)
    outcome = await world.ask("Which animal did Ann see somewhere, one dog?", recall_turns=0)
    answer, findings = world.reader().make_answer(outcome, meter=Meter())
    assert dog.id in {one.unit_id for one in answer.citations}
    await Writer(world.ledger, world.index, engine()).record_answer(answer, findings)
    assert dog.text in (await best(world, "saw one dog somewhere"))[:3], "also before"
    await world.project()
    assert dog.id in indexed(world)
    assert indexed(world) == hot(world)
    assert cow.id not in indexed(world)


class WithoutTurns(ListIndex):
    """An index that finds no turns: units are found by themselves or not at all."""

    async def turns(self, *args: object, **kwargs: object) -> Candidates:
        return NO_CANDIDATES


_steps = st.one_of(
    st.tuples(st.just("tell"), st.just(0)),
    st.tuples(st.sampled_from(("cite", "withdraw", "reinstate", "erase")), st.integers(0, 11)),
    st.tuples(st.just("limit"), st.integers(1, 5)),
    st.tuples(st.just("project"), st.just(0)),
)


async def lived(steps: Sequence[tuple[str, int]]) -> tuple[World, set[str]]:
    """A world after these steps, and the units that were erased."""
    world = await World.new()
    world.index = WithoutTurns()
    left, erased = list(ANIMALS), set[str]()
    for number, (step, value) in enumerate(steps):
        if step == "tell":
            await zoo(world, *left[:1])
            left = left[1:]
        elif step == "limit":
            await world.ledger.write(BoundedEntry(hot_units=value))
        elif step == "project":
            await world.project()
            assert indexed(world) == hot(world)
        elif units := world.ledger.tier1.all_units():
            unit = units[value % len(units)]
            erased |= {unit.id} if step == "erase" else set()
            await happened(world, step, unit, number)
    return world, erased


async def happened(world: World, step: str, unit: SummaryUnit, number: int) -> None:
    """One thing that may happen to a unit."""
    if step == "cite":
        await world.ledger.write(answered(f"a{number}", cites=[unit.id]))
    elif step == "withdraw":
        await world.ledger.write(RetiredEntry(unit_ids=(unit.id,), reason="wrong"))
    elif step == "reinstate":
        await world.ledger.write(ReinstatedEntry(unit_ids=(unit.id,), reason="right"))
    else:
        writer = Writer(world.ledger, world.index, engine())
        await writer.eraser.erase(Selection(page=unit.spans[0].page_id), "asked to")


@settings(max_examples=15)
@given(steps=st.lists(_steps, max_size=25))
def test_whatever_went_cold_is_found_through_any_life(steps: Sequence[tuple[str, int]]) -> None:
    async def main() -> None:
        world, erased = await lived([("tell", 0), ("limit", 2), *[("tell", 0)] * 4, *steps])
        lookup = await world.look_up()
        for unit in world.ledger.tier1.units():
            assert unit.id in {
                one.unit_id for one in (await lookup.units(make_question(unit.text), limit=12)).units
            }
        assert erased.isdisjoint(unit.id for unit in world.ledger.tier1.all_units())
        await world.project()
        assert indexed(world) == hot(world)
        await Writer(world.ledger, world.index, engine()).projection.rebuild()
        assert indexed(world) == hot(world)

    anyio.run(main)


async def test_what_went_cold_is_found_after_a_question_that_was_cut_short(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tier1 = folded(BoundedEntry(hot_units=3), *distilled_units(4))
    cold = ColdUnits(SPACE, tier1)
    (unit,) = [unit for unit in tier1.all_units() if tier1.is_cold(unit.id)]

    async def cancel(*_: object) -> None:
        scope.cancel()
        await anyio.sleep_forever()

    with anyio.CancelScope() as scope, monkeypatch.context() as patch:
        patch.setattr(WordIndex, "put_rows", cancel)
        await cold.update()
    assert scope.cancelled_caught
    assert await cold.find("units", unit.text, limit=9) == ()
    await cold.update()
    assert [hit.id for hit in await cold.find("units", unit.text, limit=9)] == [unit.id]


async def test_a_cold_unit_is_found_by_all_once_it_is_shared_and_let_go_of_once_it_is_hot() -> None:
    world = await limited(1)
    for animal in ANIMALS[:2]:
        await world.say(f"Ann: I met a {animal} today", agent="bob")
        (page_id,) = await world.ledger.seal()
        page = await world.ledger.page(page_id)
        unit = replace(make_unit(page, f"one {animal}", animal), agents=("bob",))
        await world.ledger.write(distilled(page, unit))
    backlog = Backlog(world.ledger)

    async def found_by(agent: str) -> list[str]:
        cold = (await backlog.after(-1)).cold
        sees = world.ledger.tier1.sees(agent)
        return [hit.id for hit in await cold.find("units", "dog cow", limit=9, sees=sees)]

    (dog,) = await found_by("bob")
    assert await found_by("ann") == []
    await world.ledger.write(Shared(unit_ids=(UnitId(dog),), reason="for all"))
    assert await found_by("bob") == await found_by("ann") == [dog]
    await world.ledger.write(BoundedEntry(hot_units=9))
    assert await found_by("bob") == await found_by("ann") == []
