"""One pass does what waits and makes one unit of what is told twice; every merge can be undone."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, nullcontext
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from pagestore import SessionId, Turn
from tests.ledger.building import answer
from tests.writing import judging
from tests.writing.parts import S1, DictIndex, Rules, finding_on, opened, turn
from tiermem.errors import BudgetExceeded, IndexUnavailable, InvalidInput, MemoryClosed, ModelUnavailable
from tiermem.ledger import AnsweredEntry, Ledger, RetiredEntry
from tiermem.model import AnswerId, SummaryUnit
from tiermem.reasoning.interface import Operation
from tiermem.salience import Outcome
from tiermem.writing import Consolidation, Consolidator, Selection, Writer, WriterOptions
from tiermem.writing.consolidate import Moment

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("logs")]

NOW = datetime(2024, 3, 1, tzinfo=UTC)
MILL, REALLY, VERY = (
    "Ann loves the old mill.",
    "Ann really loves the old mill.",
    "Ann loves the very old mill.",
)
FERRY = "The ferry leaves at 9.40."
ALONE = WriterOptions(page_tokens=40)
"""Each page is summarised in a call of its own."""


class Town:
    """A memory of one session in which things are told again on pages of their own."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger, self.index, self.rules = ledger, DictIndex(), Rules()
        self.writer = Writer(ledger, self.index, self.rules.engine, ALONE)
        self.consolidator = Consolidator(self.writer, ledger, self.index, ALONE)

    @classmethod
    async def told(cls, *said: str | Turn, session: SessionId = S1) -> "Town":
        town = cls(await opened())
        for one in said:
            await town.tell(one, session=session)
        return town

    async def tell(self, said: str | Turn, *, session: SessionId = S1) -> None:
        await self.writer.observe(session, [turn(said) if isinstance(said, str) else said])
        await self.writer.seal()
        await self.writer.distil_pending()

    async def passes(self, moment: Moment = nullcontext) -> Consolidation:
        return await self.consolidator.run(NOW, moment=moment)

    def texts(self) -> list[str]:
        return [unit.text for unit in self.ledger.tier1.units()]

    def unit(self, text: str) -> SummaryUnit:
        return next(unit for unit in self.ledger.tier1.all_units() if unit.text == text)

    async def cites(self, name: str, *units: SummaryUnit) -> AnswerId:
        given = judging.citing(name, [*units], shown=[*units])
        await self.ledger.write(AnsweredEntry(answer=given))
        return given.id

    async def judge(self, answer_id: AnswerId, outcome: Outcome) -> None:
        await self.writer.feedback(answer_id, outcome=outcome, output=None, by="user")

    def records(self) -> int:
        return sum(record.kind == "consolidated" for record in self.ledger._log.records())


def after(steps: int, then: Callable[[], Awaitable[None]] | Exception) -> Moment:
    """Moments of which one, after so many, is not granted, or in which something happens first."""
    taken = 0

    @asynccontextmanager
    async def moment() -> AsyncIterator[None]:
        nonlocal taken
        taken += 1
        if taken == steps + 1:
            if isinstance(then, Exception):
                raise then
            await then()
        yield

    return moment


async def test_what_is_told_twice_becomes_one_unit_that_rests_on_the_words_of_all() -> None:
    town = await Town.told(MILL, FERRY, REALLY, VERY)
    units = [town.unit(text) for text in (MILL, REALLY, VERY)]
    (merged,) = (await town.passes()).merged
    assert merged.of == tuple(unit.id for unit in units)
    assert (merged.unit.text, merged.unit.supersedes) == (MILL, merged.of)
    assert set(merged.unit.spans) == {span for unit in units for span in unit.spans}
    assert sorted(town.texts()) == sorted([FERRY, MILL])
    assert "they tell the same (cosine 1.000" in merged.reason


async def test_the_index_shows_the_one_and_rebuilding_it_or_reading_the_log_again_changes_nothing() -> None:
    town = await Town.told(MILL, REALLY)
    await town.passes()
    entries = dict(town.index.of("units"))
    assert sorted(entry.active for entry in entries.values()) == [False, False, True]
    await town.writer.projection.rebuild()
    assert town.index.of("units") == entries
    again = (await Ledger.open(town.ledger._log)).tier1
    (one,) = town.ledger.tier1.units()
    assert again.units() == (one,)
    assert again.merged_units(one.id) == town.ledger.tier1.merged_units(one.id) == one.supersedes


async def test_another_pass_merges_nothing_more() -> None:
    town = await Town.told(MILL, REALLY)
    await town.passes()
    anew = Consolidator(town.writer, town.ledger, town.index, WriterOptions())
    for consolidator in (town.consolidator, anew):
        assert (await consolidator.run(NOW)).merged == ()
    assert town.records() == 1


async def test_what_is_told_once_more_joins_what_was_merged() -> None:
    town = await Town.told(MILL, REALLY)
    (first,) = (await town.passes()).merged
    await town.tell(VERY)
    (second,) = (await town.passes()).merged
    assert set(second.of) == {first.unit.id, town.unit(VERY).id}
    assert len(second.unit.spans) == 3
    assert town.texts() == [MILL]
    assert set(town.ledger.tier1.merged_units(second.unit.id)) == {
        first.unit.id,
        *(town.ledger.tier1.merged_units(first.unit.id)),
        town.unit(VERY).id,
    }


async def test_withdrawing_the_merged_unit_undoes_it_for_good_and_restoring_it_does_it_again() -> None:
    town = await Town.told(MILL, REALLY)
    before = town.ledger.tier1.units()
    (merged,) = (await town.passes()).merged
    withdrawn = await town.writer.withdraw(merged.unit.id, "they are two")
    assert withdrawn.returned == town.ledger.tier1.units() == before
    report = await town.passes()
    assert (report.merged, town.ledger.tier1.units()) == ((), before)
    assert [near.reason for near in report.near] == ["they were merged once, and taken apart"]
    await town.writer.reinstate(merged.unit.id, "they are one")
    assert town.ledger.tier1.units() == (merged.unit,)


async def test_words_of_a_merge_that_was_undone_are_evidence_still() -> None:
    town = await Town.told(MILL, REALLY)
    (merged,) = (await town.passes()).merged
    await town.writer.withdraw(merged.unit.id, "they are two")
    assert all(town.ledger.tier1.taken_back(span.page_id) == () for span in merged.unit.spans)


async def test_a_merge_of_a_merge_can_be_undone_and_done_again() -> None:
    """The middle of three in a chain holds in between, and is no reason to refuse the last."""
    town = await Town.told(MILL, REALLY)
    await town.passes()
    await town.tell(VERY)
    (second,) = (await town.passes()).merged
    await town.writer.withdraw(second.unit.id, "apart")
    assert sorted(town.texts()) == sorted([MILL, VERY])
    await town.writer.reinstate(second.unit.id, "together")
    assert town.ledger.tier1.units() == (second.unit,)


async def test_a_merge_is_not_done_again_over_what_a_unit_has_learned_since() -> None:
    town = await Town.told(MILL, REALLY)
    (merged,) = (await town.passes()).merged
    await town.writer.withdraw(merged.unit.id, "apart")
    town.rules.distils = lambda page: ()
    await town.tell("Ann painted the old mill green.")
    target = town.unit(MILL)
    more = "Ann loves the old mill and painted the old mill green."
    town.rules.reconciles = lambda fact, shown: Operation(op="UPDATE", reason="", target=target.id, text=more)
    await town.writer.write_back([await finding_on(town.ledger, "Ann painted the old mill green.")])
    assert town.unit(more).id == target.id
    with pytest.raises(InvalidInput, match="says more by now"):
        await town.writer.reinstate(merged.unit.id, "together")


async def test_a_correction_of_the_merged_unit_takes_back_the_words_of_all() -> None:
    town = await Town.told(MILL, REALLY)
    (merged,) = (await town.passes()).merged
    await town.writer.correct(merged.unit.id, turn("Ann cannot stand the old mill.", day=2))
    tier1 = town.ledger.tier1
    assert all(tier1.taken_back(span.page_id) for span in merged.unit.spans)
    await town.writer.eraser.erase(Selection(page=town.unit(REALLY).spans[0].page_id), "asked to")
    tier1 = town.ledger.tier1
    assert tier1.unit(merged.unit.id) is None
    assert tier1.taken_back(town.unit(MILL).spans[0].page_id)


@pytest.mark.parametrize(
    "other",
    [
        replace(turn(REALLY), speaker="Marco"),
        replace(turn(REALLY), metadata={"channel": "private"}),
        replace(turn(REALLY), role="assistant"),
        replace(turn(REALLY), trust="system"),
    ],
    ids=["speaker", "metadata", "role", "trust"],
)
async def test_turns_that_a_filter_tells_apart_keep_units_of_their_own(other: Turn) -> None:
    town = await Town.told(MILL, other)
    report = await town.passes()
    assert report.merged == ()
    assert len(report.near) == 1
    assert len(town.texts()) == 2


async def test_other_sessions_keep_units_of_their_own() -> None:
    town = await Town.told(MILL)
    await town.tell(REALLY, session=SessionId("s2"))
    report = await town.passes()
    assert (report.merged, len(town.texts())) == ((), 2)


async def test_a_page_and_findings_that_wait_are_seen_to_first() -> None:
    town = await Town.told(MILL)
    await town.writer.observe(S1, [turn(REALLY)])
    await town.writer.seal()
    await town.writer.record_answer(answer("a1"), [await finding_on(town.ledger, MILL)])
    report = await town.passes()
    assert (report.pages, report.units, report.findings, len(report.merged)) == (1, 1, 1, 1)
    assert report.left == ()


async def test_idle_sessions_seal_by_the_clock_that_is_given() -> None:
    town = Town(await opened())
    await town.writer.observe(S1, [turn(MILL)])
    assert (await town.passes()).sealed == ()
    later = datetime.now(UTC) + timedelta(minutes=31)
    report = await town.consolidator.run(later)
    assert (report.sealed, report.pages, town.texts()) == ((S1,), 1, [MILL])


async def test_a_finding_on_an_open_page_is_left_and_told() -> None:
    town = Town(await opened())
    await town.writer.observe(S1, [turn(MILL)])
    await town.writer.record_answer(answer("a1"), [await finding_on(town.ledger, MILL)])
    assert (await town.passes()).left == ("1 findings: the page that they rest on is still open",)


async def test_a_limit_reached_half_way_leaves_the_rest_to_a_pass_that_goes_on_there() -> None:
    town = Town(await opened())
    for text in (MILL, FERRY, REALLY):
        await town.writer.observe(S1, [turn(text)])
        await town.writer.seal()
    spent = BudgetExceeded("the daily limit of 1 call is used up")
    report = await town.passes(after(2, spent))
    assert (report.pages, report.left) == (1, (f"the rest of this pass: {spent}",))
    assert town.rules.calls["distil"] == 1
    report = await town.passes()
    assert (report.pages, report.left) == (2, ())
    assert town.rules.calls["distil"] == 3


@pytest.mark.parametrize("steps", range(8))
async def test_whenever_the_memory_closes_the_next_pass_goes_on(steps: int) -> None:
    town = await Town.told(MILL, FERRY, REALLY)
    report = await town.passes(after(steps, MemoryClosed("the memory was closed")))
    if report.left:
        await town.passes()
    assert sorted(town.texts()) == sorted([FERRY, MILL])
    assert town.records() == 1


async def test_a_model_that_is_down_is_not_asked_about_every_page() -> None:
    town = Town(await opened())

    def down(page: object) -> None:
        raise ModelUnavailable("try again later")

    town.rules.distils = down  # type: ignore[assignment]  # it fails
    for number in range(6):
        await town.writer.observe(S1, [turn(f"We counted {number + 3} herons near the old mill.")])
        await town.writer.seal()
    report = await town.passes()
    assert (report.pages, town.rules.calls["distil"]) == (0, 3)
    assert report.left[-1].startswith("3 pages: not asked")


async def test_an_index_that_is_down_leaves_what_is_told_twice() -> None:
    town = await Town.told(MILL, REALLY)
    town.index.fail = IndexUnavailable("no route to host")
    report = await town.passes()
    assert report.merged == ()
    assert "cannot be looked for: no route to host" in report.left[-1]
    town.index.fail = None
    assert len((await town.passes()).merged) == 1


async def test_a_unit_that_changed_since_it_was_looked_at_is_not_merged_as_it_was() -> None:
    town = await Town.told(MILL, REALLY)
    unit = town.unit(REALLY)

    async def withdrawn() -> None:
        await town.ledger.write(RetiredEntry(unit_ids=(unit.id,), reason="a joke"))

    report = await town.passes(after(4, withdrawn))
    assert report.merged == ()
    assert [near.reason for near in report.near] == ["one of them changed meanwhile"]


@pytest.mark.local_only("while one pass consolidates a shared space, no other begins")
async def test_of_two_proposals_on_one_unit_the_second_finds_it_taken() -> None:
    town = await Town.told(MILL, REALLY)
    other = Consolidator(town.writer, town.ledger, town.index, WriterOptions())

    async def overtaken() -> None:
        await other.run(NOW)

    report = await town.passes(after(4, overtaken))
    assert report.merged == ()
    assert town.records() == 1
    assert town.texts() == [MILL]


@pytest.mark.parametrize("gone", [MILL, REALLY])
async def test_erasing_one_side_takes_the_merge_along_and_the_other_side_holds(gone: str) -> None:
    town = await Town.told(MILL, REALLY, FERRY)
    (merged,) = (await town.passes()).merged
    (kept,) = {MILL, REALLY} - {gone}
    erasure, _ = await town.writer.eraser.erase(Selection(page=town.unit(gone).spans[0].page_id), "asked to")
    assert merged.unit.id in erasure.units
    assert sorted(town.texts()) == sorted([FERRY, kept])
    left = str(list(town.ledger._log.records()))
    assert merged.unit.id not in left
    assert town.unit(kept).id in erasure.returned
    assert (await Ledger.open(town.ledger._log)).tier1.units() == town.ledger.tier1.units()
    assert {entry.id for entry in town.index.of("units").values() if entry.active} == {
        unit.id for unit in town.ledger.tier1.units()
    }


async def test_a_merge_keeps_superseded_what_its_units_had_superseded() -> None:
    town = await Town.told("Ann loves the new mill.", REALLY)
    old = town.unit("Ann loves the new mill.")
    town.rules.distils = lambda page: ()
    town.rules.reconciles = lambda fact, shown: Operation(op="ADD", reason="", supersedes=(old.id,))
    await town.tell(turn(MILL, day=2))
    await town.writer.write_back([await finding_on(town.ledger, MILL)])
    assert town.unit(MILL).supersedes == (old.id,)
    (merged,) = (await town.passes()).merged
    assert old.id in merged.unit.supersedes
    await town.writer.withdraw(merged.unit.id, "apart")
    assert not town.ledger.tier1.is_active(old.id)


async def test_what_is_proposed_alone_is_what_a_pass_then_does_and_writes_nothing() -> None:
    town = await Town.told(MILL, FERRY, REALLY)
    before = len(list(town.ledger._log.records()))
    proposal = await town.consolidator.propose(NOW)
    assert len(list(town.ledger._log.records())) == before
    assert proposal.proposed
    done = await town.passes()
    assert (proposal.merged, proposal.near, proposal.sealed) == (done.merged, done.near, done.sealed)


async def test_progress_is_told_step_by_step() -> None:
    town = await Town.told(MILL, REALLY)
    seen: list[tuple[int, int]] = []
    await town.consolidator.run(NOW, progress=lambda done, steps: seen.append((done, steps)))
    assert seen == [(1, 2), (2, 2)]


async def test_a_merged_unit_has_the_uses_and_the_weight_of_its_sides_together() -> None:
    town = await Town.told(MILL, REALLY)
    one, other = town.unit(MILL), town.unit(REALLY)
    first = await town.cites("a1:1", one, other)
    second = await town.cites("a1:2", other)
    await town.judge(first, "success")
    await town.judge(second, "success")
    tier1 = town.ledger.tier1
    assert [(tier1.uses(unit.id), tier1.weight(unit.id)) for unit in (one, other)] == [(1, 0.05), (2, 0.15)]
    used = tier1.last_used(other.id)
    (merged,) = (await town.passes()).merged
    told = town.ledger.tier1.signals(merged.unit)
    assert (told.uses, told.weight, told.last_used) == (2, 0.2, used), "an answer that cites both is one use"
    assert len(town.ledger.tier1.judgements(merged.unit.id)) == 3
    await town.judge(await town.cites("a1:3", merged.unit), "success")
    assert (town.ledger.tier1.uses(merged.unit.id), town.ledger.tier1.weight(merged.unit.id)) == (3, 0.3)
    again = (await Ledger.open(town.ledger._log)).tier1
    assert again.signals(merged.unit) == town.ledger.tier1.signals(merged.unit)
    await town.writer.withdraw(merged.unit.id, "apart")
    assert [town.ledger.tier1.weight(unit.id) for unit in (one, other)] == [0.05, 0.15]


async def test_an_answer_of_before_a_merge_that_is_judged_after_it_moves_what_stands_for_its_units() -> None:
    town = await Town.told(MILL, REALLY)
    before = await town.cites("a1:1", town.unit(REALLY))
    await town.judge(before, "success")
    await town.passes()
    await town.tell(VERY)
    (merged,) = (await town.passes()).merged
    assert town.ledger.tier1.weight(merged.unit.id) == 0.1
    await town.judge(before, "failure")
    assert town.ledger.tier1.weight(merged.unit.id) == -0.05, "the newest outcome of an answer counts"
    await town.writer.eraser.erase(Selection(page=town.unit(MILL).spans[0].page_id), "asked to")
    assert town.ledger.tier1.weight(town.unit(REALLY).id) == -0.05
    again = (await Ledger.open(town.ledger._log)).tier1
    assert again.weight(town.unit(REALLY).id) == -0.05


async def test_units_that_an_erasing_brings_back_are_looked_at_again() -> None:
    town = await Town.told(MILL, REALLY, VERY)
    await town.passes()
    await town.writer.eraser.erase(Selection(page=town.unit(VERY).spans[0].page_id), "asked to")
    assert len(town.texts()) == 2
    (merged,) = (await town.passes()).merged
    assert town.ledger.tier1.units() == (merged.unit,)


async def test_a_finding_that_is_erased_while_a_pass_waits_is_not_decided_on() -> None:
    town = await Town.told(MILL, FERRY)
    given = judging.citing("a1", [town.unit(MILL)], shown=[town.unit(MILL), town.unit(FERRY)])
    await town.ledger.write(AnsweredEntry(answer=given, findings=(await finding_on(town.ledger, MILL),)))
    (finding,) = town.ledger.tier1.pending

    async def erased() -> None:
        await town.writer.eraser.erase(Selection(page=town.unit(FERRY).spans[0].page_id), "asked to")

    report = await town.passes(after(1, erased))
    assert (report.findings, town.ledger.tier1.pending, town.ledger.tier1.decisions) == (0, {}, {})
    assert finding not in str(list(town.ledger._log.records()))


async def test_what_is_told_twice_is_looked_for_in_moments_alone() -> None:
    """Whoever erases is alone: nobody puts words into the index meanwhile."""
    town = await Town.told(MILL, REALLY)
    inside = False

    @asynccontextmanager
    async def moment() -> AsyncIterator[None]:
        nonlocal inside
        inside = True
        yield
        inside = False

    put, seen = town.writer.projection.attempt, list[bool]()

    async def noted() -> object:
        seen.append(inside)
        return await put()

    town.writer.projection.attempt = noted  # type: ignore[method-assign, assignment]
    await town.passes(moment)
    assert seen == [True, True]


async def test_a_cold_unit_that_tells_the_same_is_found_without_opening_the_memory_again() -> None:
    town = await Town.told(MILL, FERRY)
    await town.passes()
    await town.writer.limit_hot_units(1)
    await town.writer.projection.attempt()
    mill, ferry = town.unit(MILL), town.unit(FERRY)
    assert list(town.ledger.tier1.cold) == [mill.id]
    assert not any(
        hit.id == mill.id for hit in await town.index.search(town.ledger.indexed_as, "units", MILL, limit=9)
    )
    await town.tell(REALLY)
    (merged,) = (await town.passes()).merged
    assert merged.of == (mill.id, town.unit(REALLY).id)
    assert town.ledger.tier1.is_active(ferry.id)
