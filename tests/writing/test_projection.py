"""The index is a projection of pages and ledger: behind, it catches up; gone, it comes back the same."""

from collections.abc import Sequence
from typing import Any

import pytest

from pagestore import History, Page, PageId, SessionId, SpaceId
from tests.logs import new_log
from tests.writing.parts import GARDEN, S1, SPACE, DictIndex, Rules, finding_on, opened, pages_in, turn
from tiermem.errors import IndexUnavailable
from tiermem.index.values import Collection, Entry, TurnContext, turn_id
from tiermem.ledger import Ledger, RetiredEntry
from tiermem.model import SummaryUnit
from tiermem.reasoning.interface import Operation
from tiermem.writing import Selection, Writer
from tiermem.writing.projection import _BATCH
from tiermem.writing.values import ProjectionCounts

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("logs")]


async def filled() -> tuple[Ledger, DictIndex, Writer, Rules]:
    ledger, index, rules = await opened(), DictIndex(), Rules()
    writer = Writer(ledger, index, rules.engine)
    await writer.observe(S1, GARDEN)
    await writer.seal()
    await writer.distil_pending()
    return ledger, index, writer, rules


async def ids_on(ledger: Ledger, page_id: PageId) -> list[str]:
    """How the index knows the turns of a page, erased ones too."""
    return [turn_id(line.seq) for line in (await ledger.page(page_id)).lines]


async def test_units_and_turns_are_found_after_distilling() -> None:
    ledger, index, _, _ = await filled()
    (info,) = await ledger.pages()
    assert set(index.of("units")) == {unit.id for unit in ledger.tier1.units()}
    turns = [index.of("turns")[id_] for id_ in await ids_on(ledger, info.id)]
    assert [entry.text for entry in turns] == [one.text for one in GARDEN]
    assert {(entry.said_at, entry.session) for entry in turns} == {(GARDEN[0].said_at, S1)}


async def test_turns_are_found_after_sealing_with_what_was_said_around_them() -> None:
    ledger, index, writer, _ = await filled()
    (first,) = await ledger.pages()
    await writer.observe(S1, [turn("It is red.", speaker="user", role="user", day=9)])
    await writer.seal()
    await writer.projection.project()
    second = (await ledger.pages())[1]
    turns = index.of("turns")
    told, asked = await ids_on(ledger, first.id), await ids_on(ledger, second.id)
    assert set(turns) == {*told, *asked}
    said = turns[told[1]].context
    assert said is not None
    assert (said.page.id, said.line) == (first.id, 1)
    assert said.around == "\n".join(one.text for one in GARDEN)
    assert said.near == (told[0], told[2])
    after = turns[asked[0]]
    assert after.text == "It is red."
    assert after.context == TurnContext(
        page=await ledger.page(second.id),
        line=0,
        around="\n".join([*(one.text for one in GARDEN[1:]), "It is red."]),
        near=(told[3],),
    )


async def test_turns_of_different_sessions_are_not_around_each_other() -> None:
    ledger, index, writer, _ = await filled()
    await writer.observe(SessionId("other"), [turn("It is red.", day=9)])
    await writer.seal()
    await writer.projection.project()
    other = (await ledger.pages())[1]
    (asked,) = await ids_on(ledger, other.id)
    said = index.of("turns")[asked].context
    page = await ledger.page(other.id)
    assert said == TurnContext(page=page, line=0, around="It is red.", near=())


async def test_projecting_again_puts_nothing() -> None:
    _, index, writer, _ = await filled()
    mark = index.marks[SPACE]
    assert await writer.projection.project() == ProjectionCounts()
    assert index.marks[SPACE] == mark


async def test_only_what_changed_since_the_mark_is_put() -> None:
    ledger, _, writer, _ = await filled()
    await writer.observe(S1, [turn("Ann moved to Porto.", day=9)])
    await writer.seal()
    assert await writer.projection.project() == ProjectionCounts(units=0, pages=1)
    await ledger.write(RetiredEntry(unit_ids=(ledger.tier1.units()[0].id,), reason="erased"))
    assert await writer.projection.project() == ProjectionCounts(units=1, pages=0)


async def test_turns_of_an_open_page_are_found_by_its_id_as_it_grows() -> None:
    ledger, index = await opened(), DictIndex()
    writer = Writer(ledger, index, Rules().engine)
    for number, said in enumerate(GARDEN):
        await writer.observe(S1, [said])
        assert await writer.projection.project() == ProjectionCounts(open_pages=1)
        (page,) = await ledger.open_pages()
        assert page.id.startswith("o1:")
        assert set(index.of("turns")) == {turn_id(line.seq) for line in page.lines}
        assert len(page.lines) == number + 1
        assert await writer.projection.project() == ProjectionCounts()
    built = DictIndex()
    await Writer(ledger, built, Rules().engine).projection.project()
    assert built.entries == {key: found for key, found in index.entries.items() if found}


async def test_only_new_turns_and_those_they_stand_around_are_put() -> None:
    put: list[str] = []

    class Telling(DictIndex):
        async def put(self, space: SpaceId, collection: Collection, entries: Sequence[Entry]) -> None:
            put.extend(entry.text for entry in entries if collection == "turns")
            await super().put(space, collection, entries)

    ledger, index = await opened(), Telling()
    writer = Writer(ledger, index, Rules().engine)
    said = [turn(f"Ann counted {number} birds over the harbour.") for number in range(9)]
    await writer.observe(S1, said[:8])
    await writer.observe(SessionId("other"), [turn("It rained.")])
    await writer.projection.project()
    put.clear()
    await writer.observe(S1, said[8:])
    await writer.projection.project()
    assert put == [one.text for one in said[5:]]


async def test_a_page_that_seals_takes_the_place_of_the_open_one() -> None:
    ledger, index = await opened(), DictIndex()
    writer = Writer(ledger, index, Rules().engine)
    await writer.observe(S1, GARDEN[:2])
    await writer.projection.project()
    await writer.observe(S1, GARDEN[2:])
    (sealed,) = await writer.seal()
    await writer.observe(S1, [turn("It is red.", day=9)])
    assert await writer.projection.project() == ProjectionCounts(pages=1, open_pages=1)
    (opened_after,) = await ledger.open_pages()
    assert await pages_in(ledger, index) == {sealed, opened_after.id}
    first, second = await ids_on(ledger, sealed), await ids_on(ledger, opened_after.id)
    assert set(index.of("turns")) == {*first, *second}
    said = index.of("turns")[second[0]].context
    assert said is not None
    assert said.near == (first[3],)


async def test_a_page_that_seals_while_it_is_put_comes_with_the_next_run() -> None:
    class SealsWhenRead(Ledger):
        async def page(self, page_id: PageId, *, kept: bool = False) -> Page:
            if page_id.startswith("o1:"):
                await self.seal()
            return await super().page(page_id, kept=kept)

    ledger, index = await SealsWhenRead.open(new_log(SPACE)), DictIndex()
    writer = Writer(ledger, index, Rules().engine)
    await writer.observe(S1, GARDEN)
    await writer.projection.project()
    (info,) = await ledger.pages()
    assert set(index.of("turns")) == {*await ids_on(ledger, info.id)}
    await writer.projection.project()
    assert set(index.of("turns")) == {*await ids_on(ledger, info.id)}
    assert await pages_in(ledger, index) == {info.id}


async def test_purging_leaves_no_erased_turn_of_an_open_page() -> None:
    ledger, index = await opened(), DictIndex()
    writer = Writer(ledger, index, Rules().engine)
    await writer.observe(S1, GARDEN)
    await writer.projection.project()
    await writer.eraser.erase(Selection(turn=GARDEN[1].turn_id), "asked to")
    (page,) = await ledger.open_pages()
    assert set(index.of("turns")) == {turn_id(page.lines[n].seq) for n in (0, 2, 3)}
    assert "bicycle" not in repr(index.entries)
    await writer.observe(S1, [turn("It rained.", day=2)])
    await writer.seal()
    await writer.projection.project()
    (info,) = await ledger.pages()
    ids = await ids_on(ledger, info.id)
    assert set(index.of("turns")) == {ids[n] for n in (0, 2, 3, 4)}


async def test_a_retired_unit_stays_findable_for_the_past_only() -> None:
    ledger, index, writer, _ = await filled()
    gone = ledger.tier1.units()[0]
    await ledger.write(RetiredEntry(unit_ids=(gone.id,), reason="erased"))
    await writer.projection.project()
    assert gone.id not in {hit.id for hit in await index.search(SPACE, "units", gone.text, limit=9)}
    past = await index.search(SPACE, "units", gone.text, limit=9, inactive=True)
    assert past[0].id == gone.id


async def test_a_unit_that_returns_is_found_again() -> None:
    ledger, index, writer, rules = await filled()

    def supersedes(fact: object, neighbours: Sequence[SummaryUnit]) -> Operation:
        return Operation(op="ADD", reason="moved on", supersedes=(neighbours[0].id,))

    rules.reconciles = supersedes
    await writer.observe(S1, [turn("Ann sold the red bicycle to Marco.", day=9)])
    await writer.seal()
    report = await writer.write_back([await finding_on(ledger, "Ann sold the red bicycle to Marco.")])
    (decision,) = report.decisions
    (older,) = decision.superseded
    assert not index.of("units")[older].active
    assert decision.unit_id is not None
    await ledger.write(RetiredEntry(unit_ids=(decision.unit_id,), reason="erased"))
    await writer.projection.project()
    assert index.of("units")[older].active


async def test_an_index_that_was_deleted_is_built_again_the_same_without_an_engine() -> None:
    ledger, index, writer, rules = await filled()
    before, calls = {c: dict(index.of(c)) for c in ("units", "turns")}, rules.calls.copy()
    empty = DictIndex()
    assert await Writer(ledger, empty, rules.engine).projection.project() == ProjectionCounts(
        units=4, pages=1
    )
    assert {c: dict(empty.of(c)) for c in ("units", "turns")} == before
    assert await writer.projection.rebuild() == ProjectionCounts(units=4, pages=1)
    assert {c: dict(index.of(c)) for c in ("units", "turns")} == before
    assert rules.calls == calls


async def test_an_index_from_an_older_day_catches_up() -> None:
    ledger, index, writer, _ = await filled()
    old_entries = {key: dict(entries) for key, entries in index.entries.items()}
    old_marks = dict(index.marks)
    await writer.observe(S1, [turn("Ann moved to Porto.", day=9)])
    await writer.seal()
    await writer.distil_pending()
    index.entries, index.marks = old_entries, old_marks
    await writer.projection.project()
    assert set(index.of("units")) == {unit.id for unit in ledger.tier1.units()}
    assert len(await pages_in(ledger, index)) == 2


async def test_an_index_that_knows_more_than_the_ledger_is_built_again() -> None:
    _, index, _, _ = await filled()
    other = await opened()
    writer = Writer(other, index, Rules().engine)
    await writer.observe(S1, [turn("Ann moved to Porto.", day=9)])
    await writer.seal()
    await writer.projection.project()
    assert [entry.text for entry in index.of("turns").values()] == ["Ann moved to Porto."]
    assert index.of("units") == {}


async def test_a_put_that_fails_leaves_the_mark_where_it_was() -> None:
    class Failing(DictIndex):
        async def put(self, space: SpaceId, collection: Collection, entries: Sequence[Entry]) -> None:
            if collection == "turns":
                raise IndexUnavailable("gone")
            await super().put(space, collection, entries)

    index = Failing()
    writer = Writer(await opened(), index, Rules().engine)
    await writer.observe(S1, GARDEN)
    await writer.seal()
    with pytest.raises(IndexUnavailable):
        await writer.projection.project()
    assert SPACE not in index.marks


async def test_more_entries_than_one_batch_arrive_whole() -> None:
    ledger, index = await opened(), DictIndex()
    writer = Writer(ledger, index, Rules().engine)
    count = 2 * _BATCH + 3
    for number in range(count):
        await writer.observe(S1, [turn(f"Ann counted {number} birds over the harbour.")])
        await writer.seal()
    report = await writer.distil_pending()
    assert report.distilled == len(index.of("units")) == len(await pages_in(ledger, index)) == count
    assert index.marks[SPACE] == (await ledger.changes(-1)).upto


async def test_the_same_words_in_two_spaces_never_meet() -> None:
    index = DictIndex()
    writers, ledgers = {}, {}
    for space in (SpaceId("left"), SpaceId("right")):
        ledgers[space] = await Ledger.open(new_log(space))
        writers[space] = Writer(ledgers[space], index, Rules().engine)
        await writers[space].observe(S1, GARDEN)
        await writers[space].seal()
        await writers[space].distil_pending()
    left, right = ({unit.id for unit in ledgers[space].tier1.units()} for space in ledgers)
    assert len(left) == len(right) == len(GARDEN)
    assert not left & right

    shown: list[str] = []

    def watches(fact: object, neighbours: Sequence[SummaryUnit]) -> Operation:
        shown.extend(unit.id for unit in neighbours)
        return Operation(op="SKIP", reason="seen")

    ledger = ledgers[SpaceId("left")]
    finding = await finding_on(ledger, "Ann planted 12 tomatoes", quote=GARDEN[0].text)
    looking = Writer(ledger, index, Rules(reconciles=watches).engine)
    await looking.write_back([finding])
    assert shown
    assert set(shown) <= left

    await writers[SpaceId("left")].projection.rebuild()
    assert set(index.of("units", SpaceId("right"))) == right


async def test_a_finding_of_another_space_is_refused() -> None:
    left = await Ledger.open(new_log(SpaceId("left")))
    right = await Ledger.open(new_log(SpaceId("right")))
    for ledger in (left, right):
        await ledger.append(S1, GARDEN)
        await ledger.seal()
    finding = await finding_on(left, GARDEN[0].text)
    writer = Writer(right, DictIndex(), Rules().engine)
    report = await writer.write_back([finding])
    assert [decision.op for decision in report.decisions] == ["SKIP"]
    assert "not in this space" in report.decisions[0].reason
    assert right.tier1.units() == ()


async def test_the_mark_is_set_when_all_before_it_is_durable() -> None:
    order: list[str] = []

    class Watched(DictIndex):
        async def put(self, *given: Any, **more: Any) -> None:
            order.append("put")
            await super().put(*given, **more)

        async def flush(self) -> None:
            order.append("flush")

        async def set_mark(self, space: SpaceId, mark: History) -> None:
            order.append("mark")
            await super().set_mark(space, mark)

    ledger = await opened()
    writer = Writer(ledger, Watched(), Rules().engine)
    await writer.observe(S1, GARDEN)
    await writer.seal()
    order.clear()
    await writer.projection.project()
    assert order[-2:] == ["flush", "mark"]
    assert "put" in order[:-2]
