"""The awaited face of a log: durable first, folded after, in the order of the log."""

import asyncio
import subprocess
import sys
import threading
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pagestore import LogOptions, PageId, Record, SessionId, Turn
from pagestore.errors import Corrupt, PageNotFound, PageStoreError
from pagestore.log import Log
from tests.ledger.building import SPACE, answered, distilled, entries, finding, span, state, unit, wrote_back
from tests.logs import new_lines, new_log
from tiermem.errors import UnknownId
from tiermem.ledger import Ledger, LedgerEntry, Tier1, finding_id, finding_unit_id, summary_unit_id
from tiermem.model import AnswerId, FindingId

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("logs")]
S1 = SessionId("s1")


def turns(*texts: str) -> list[Turn]:
    return [Turn(speaker="Ann", text=text, turn_id=text) for text in texts]


async def test_an_entry_is_in_the_log_and_in_tier1_once_write_returns() -> None:
    log = new_log(SPACE)
    ledger = await Ledger.open(log)
    record = await ledger.write(distilled("p1", unit("u1")))
    assert [r.seq for r in log.records(kinds=frozenset({"distilled"}))] == [record.seq]
    assert ledger.tier1.head == record.seq
    assert [u.id for u in ledger.tier1.units()] == ["u1"]


async def test_turns_and_pages_pass_through() -> None:
    ledger = await Ledger.open(new_log(SPACE))
    appended = await ledger.append(S1, turns("hello there", "good morning"))
    assert appended.new == 2
    (opened,) = await ledger.open_pages()
    assert opened.sealed_at is None
    (page_id,) = await ledger.seal(S1)
    page = await ledger.page(page_id)
    assert "good morning" in page.text
    assert [info.id for info in await ledger.pages()] == [page_id]
    assert (await ledger.page(opened.id)).id == page_id
    assert await ledger.open_pages(S1) == ()
    assert await ledger.sessions() == (S1,)
    with pytest.raises(PageNotFound):
        await ledger.page(PageId("p1:nowhere"))


async def test_an_answer_is_shown_with_what_it_started_from_and_not_one_record_more() -> None:
    ledger = await Ledger.open(new_log(SPACE))
    started_from = await ledger.write(distilled("p1", unit("u1")))
    await ledger.write(distilled("p2", unit("u2")))
    given = answered("a1")
    trace = replace(given.answer.trace, head=started_from.seq)
    recorded = await ledger.write(replace(given, answer=replace(given.answer, trace=trace)))
    past = await ledger.as_it_stood(AnswerId("a1"))
    assert [u.id for u in past.tier1.all_units()] == ["u1"]
    assert (await past.changes(-1)).head == recorded.seq - 1


async def test_the_state_of_a_moment_ends_with_the_record_of_that_moment() -> None:
    ticks = iter(range(100))
    clock = LogOptions(clock=lambda: datetime(2024, 1, 1, tzinfo=UTC) + timedelta(seconds=next(ticks)))
    ledger = await Ledger.open(new_log(SPACE, options=clock))
    records = [await ledger.write(distilled(f"p{n}", unit(f"u{n}"))) for n in range(4)]
    for number, record in enumerate(records):
        seen = (await ledger.as_of(record.at))[0].all_units()
        assert [u.id for u in seen] == [f"u{n}" for n in range(number + 1)]


async def test_a_checkpoint_binds_what_was_concluded() -> None:
    ledger = await Ledger.open(new_log(SPACE))
    await ledger.write(distilled("p1", unit("u1")))
    before = await ledger.checkpoint()
    await ledger.write(distilled("p2", unit("u2")))
    report = await ledger.verify(before)
    assert report.ok
    assert (await ledger.checkpoint()).size > before.size
    assert not (await ledger.verify(replace(before, root="0" * 64))).ok


async def test_a_closed_ledger_writes_no_more_and_closes_twice() -> None:
    ledger = await Ledger.open(new_log(SPACE))
    await ledger.close()
    await ledger.close()
    with pytest.raises(PageStoreError):
        await ledger.write(distilled("p1", unit("u1")))
    assert ledger.tier1.units() == ()


def test_a_reopened_ledger_stands_where_it_stood() -> None:
    @settings(max_examples=40)
    @given(log=st.lists(entries, max_size=8))
    def reopened(log: list[LedgerEntry]) -> None:
        async def main() -> None:
            store = new_log(SPACE)
            ledger = await Ledger.open(store)
            for entry in log:
                await ledger.write(entry)
            again = await Ledger.open(store)
            assert state(again.tier1) == state(ledger.tier1)
            assert again.tier1.head == ledger.tier1.head

        anyio.run(main)

    reopened()


def test_the_state_of_a_moment_is_the_fold_of_what_was_written_by_then() -> None:
    @settings(max_examples=30)
    @given(log=st.lists(entries, min_size=1, max_size=8), cut=st.integers(0, 7))
    def as_of(log: list[LedgerEntry], cut: int) -> None:
        async def main() -> None:
            store = new_log(SPACE)
            ledger = await Ledger.open(store)
            records = [await ledger.write(entry) for entry in log]
            at = min(cut, len(log) - 1)
            then, _ = await ledger.as_of(records[at].at)
            written = [r for r in records if r.at <= records[at].at]
            assert state(then) == state(Tier1.from_records(store.read(r.seq) for r in written))

        anyio.run(main)

    as_of()


async def test_a_clock_that_ran_ahead_never_shows_what_was_concluded_later() -> None:
    noon = datetime(2024, 1, 1, 12, tzinfo=UTC)
    now = noon
    ledger = await Ledger.open(new_log(SPACE, options=LogOptions(clock=lambda: now)))
    for number, minute in enumerate((1, 30, 2), 1):
        now = noon + timedelta(minutes=minute)
        await ledger.write(distilled(f"p{number}", unit(f"u{number}")))
    then, _ = await ledger.as_of(noon + timedelta(minutes=10))
    assert [u.id for u in then.units()] == ["u1"]


async def test_record_kinds_of_a_newer_version_are_kept_and_skipped() -> None:
    log = new_log(SPACE)
    log.record("dreamed", {"of": "electric sheep"})
    ledger = await Ledger.open(log)
    await ledger.write(distilled("p1", unit("u1")))
    assert len(list(log.records())) == 2
    assert [u.id for u in (await Ledger.open(log)).tier1.units()] == ["u1"]


async def test_fields_of_a_newer_version_are_ignored() -> None:
    log = new_log(SPACE)
    record = await (await Ledger.open(log)).write(distilled("p1", unit("u1")))
    newer = new_log(SPACE)
    newer.record("distilled", {**log.read(record.seq).body, "mood": "good"})
    assert [u.id for u in (await Ledger.open(newer)).tier1.units()] == ["u1"]


async def test_a_record_that_does_not_read_as_its_kind_is_corrupt_and_named() -> None:
    log = new_log(SPACE)
    record = log.record("wrote-back", {"write_back": {"op": "DELETE"}})
    with pytest.raises(Corrupt, match=f"record {record.seq} .*'wrote-back'"):
        await Ledger.open(log)


async def test_an_answer_is_read_back_whole_and_listed() -> None:
    ledger = await Ledger.open(new_log(SPACE))
    entry = answered("a1", finding("f1"))
    record = await ledger.write(entry)
    assert await ledger.answer(AnswerId("a1")) == entry.answer
    (info,) = ledger.tier1.answers.values()
    assert (info.id, info.question, info.at) == ("a1", "What does Ann like?", record.at)
    assert (info.route, info.read_tokens, info.raw_tokens) == ("ESCALATE", 10, 40)


async def test_an_unknown_answer_and_a_pending_page_are_unknown_ids() -> None:
    ledger = await Ledger.open(new_log(SPACE))
    with pytest.raises(UnknownId, match="'a9'"):
        await ledger.answer(AnswerId("a9"))
    with pytest.raises(UnknownId, match="'p9'"):
        await ledger.distilled(PageId("p9"))


async def test_what_became_of_a_page_is_read_back_with_its_rejected_claims() -> None:
    ledger = await Ledger.open(new_log(SPACE))
    entry = distilled("p1", unit("u1"), omissions=["number: 40"])
    await ledger.write(entry)
    assert await ledger.distilled(PageId("p1")) == entry


async def test_many_writers_are_folded_in_the_order_of_the_log() -> None:
    log = new_log(SPACE)
    ledger = await Ledger.open(log)
    async with anyio.create_task_group() as group:
        for number in range(40):
            group.start_soon(ledger.write, distilled(f"p{number}", unit(f"u{number}", spans=[span("p1")])))
    assert ledger.tier1.units() == Tier1.from_records(log.records()).units()
    assert len(ledger.tier1.units()) == 40


class SlowLog(Log):
    """A log whose next record is written when the test lets it."""

    def __init__(self) -> None:
        super().__init__(new_lines(), SPACE)
        self.started = threading.Event()
        self.go_on = threading.Event()

    def record(self, kind: str, body: Mapping[str, Any]) -> Record:
        self.started.set()
        assert self.go_on.wait(60)
        return super().record(kind, body)


async def test_reading_goes_on_while_a_write_waits_for_the_disk() -> None:
    log = SlowLog()
    ledger = await Ledger.open(log)
    await ledger.append(S1, turns("hello there"))
    async with anyio.create_task_group() as group:
        group.start_soon(ledger.write, distilled("p1", unit("u1")))
        await anyio.to_thread.run_sync(log.started.wait, 60)
        assert len(await ledger.open_pages()) == 1
        assert ledger.tier1.units() == ()
        log.go_on.set()
    assert len(ledger.tier1.units()) == 1


async def test_an_entry_whose_writer_was_cancelled_is_folded_all_the_same() -> None:
    log = SlowLog()
    ledger = await Ledger.open(log)
    writing = asyncio.ensure_future(ledger.write(distilled("p1", unit("u1"))))
    await anyio.to_thread.run_sync(log.started.wait, 60)
    writing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await writing
    log.go_on.set()
    await ledger.write(distilled("p2", unit("u2", spans=[span("p2")])))
    assert [u.id for u in ledger.tier1.units()] == [u.id for u in Tier1.from_records(log.records()).units()]
    assert [u.id for u in ledger.tier1.units()] == ["u1", "u2"]


async def test_changes_tell_an_index_what_it_has_missed() -> None:
    log = new_log(SPACE)
    ledger = await Ledger.open(log)
    await ledger.append(S1, turns("hello there"))
    (first,) = await ledger.seal()
    await ledger.write(distilled(first, unit("u1")))
    seen = await ledger.changes(-1)
    assert ([u.id for u in seen.units], [p.id for p in seen.pages]) == (["u1"], [first])
    assert seen.head == log.head

    await ledger.append(S1, turns("good morning"))
    (second,) = await ledger.seal()
    await ledger.write(answered("a1", finding("f1")))
    await ledger.write(wrote_back("f1", "ADD", unit("u2", supersedes=["u1"])))
    missed = await ledger.changes(seen.head)
    assert [p.id for p in missed.pages] == [second]
    assert {u.id for u in missed.units} == {"u1", "u2"}
    nothing = await ledger.changes(missed.head)
    assert (nothing.units, nothing.pages) == ((), ())


def test_ids_are_the_same_for_the_same_thing_and_differ_between_spaces() -> None:
    spans = (span("p1", 3, 9),)
    one = summary_unit_id(SPACE, PageId("p1"), "Ann likes tea.", spans)
    assert one == summary_unit_id(SPACE, PageId("p1"), "Ann likes tea.", spans)
    others = {
        summary_unit_id(type(SPACE)("other"), PageId("p1"), "Ann likes tea.", spans),
        summary_unit_id(SPACE, PageId("p1"), "Ann likes tea.", (span("p1", 3, 10),)),
        summary_unit_id(SPACE, PageId("p1"), "Ann likes tea!", spans),
        finding_unit_id(SPACE, FindingId("f1")),
        finding_unit_id(type(SPACE)("other"), FindingId("f1")),
    }
    assert len(others | {one}) == 6
    assert finding_id(SPACE, AnswerId("a1"), "Ann likes tea.", spans) != finding_id(
        SPACE, AnswerId("a2"), "Ann likes tea.", spans
    )


def test_importing_the_ledger_does_not_import_pydantic() -> None:
    code = "import sys, tiermem.ledger; sys.exit('pydantic' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.anyio
async def test_changes_begin_with_the_very_next_record() -> None:
    ledger = await Ledger.open(new_log(SPACE))
    await ledger.append(SessionId("s1"), [Turn(speaker="Ann", text="one")])
    before = (await ledger.changes(-1)).head
    await ledger.append(SessionId("s2"), [Turn(speaker="Ann", text="two")])
    assert [page.session for page in (await ledger.changes(before)).filling] == ["s2"]
    head = (await ledger.changes(-1)).head
    await ledger.seal(SessionId("s1"))
    changed = await ledger.changes(head)
    assert ([page.session for page in changed.pages], changed.filling) == (["s1"], ())
