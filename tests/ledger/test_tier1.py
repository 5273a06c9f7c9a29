"""Tier 1 is the net state of the log: what the fold promises, for any log."""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pagestore import PageId, Record, SessionId
from tests.ledger.building import (
    MOMENT,
    PAGES,
    UNITS,
    answered,
    distilled,
    entries,
    finding,
    redistilled,
    span,
    state,
    unit,
    wrote_back,
)
from tiermem.ledger import (
    BoundedEntry,
    ErasedEntry,
    Erasing,
    LedgerEntry,
    Redistilled,
    RetiredEntry,
    SetAside,
    Spent,
    Tier1,
)
from tiermem.ledger.entries import decode, encode
from tiermem.ledger.kinds import kind_of
from tiermem.model import FindingId, UnitId, Usage

logs = st.lists(entries, max_size=12)


def records(log: Sequence[LedgerEntry]) -> list[Record]:
    """As a log on disk would hand them out: through JSON, numbers with gaps where turns are."""
    return [
        Record(
            seq=3 * number,
            kind=kind_of(entry).name,
            at=MOMENT + timedelta(minutes=number),
            body=json.loads(json.dumps(encode(entry))),
        )
        for number, entry in enumerate(log)
    ]


def folded(*log: LedgerEntry) -> Tier1:
    return Tier1.from_records(records(log))


@given(entry=entries)
def test_an_entry_reads_back_as_it_was_written(entry: LedgerEntry) -> None:
    (record,) = records([entry])
    assert decode(record) == entry


def test_lone_surrogates_survive_in_an_entry() -> None:
    odd = answered("a1", finding("f1", claim="a \ud800 b"))
    assert decode(records([odd])[0]) == odd


@settings(max_examples=60)
@given(log=logs)
def test_folding_record_by_record_equals_folding_the_log(log: list[LedgerEntry]) -> None:
    tier1 = Tier1()
    for record, entry in zip(records(log), log, strict=True):
        tier1.fold(record, entry)
    assert state(tier1) == state(folded(*log))


def test_a_second_look_adds_units_replaces_what_is_lost_and_is_paid_for() -> None:
    tier1 = folded(
        distilled("p1", unit("u1"), omissions=["number: 3", "name: Ann"]),
        redistilled("p1", unit("u1", text="Other."), unit("u2"), omissions=["name: Ann"]),
    )
    assert [one.id for one in tier1.units()] == ["u1", "u2"]
    assert tier1.units()[0].text == unit("u1").text
    page = tier1.pages[PageId("p1")]
    assert (page.units, page.omissions, page.literals, page.redistilled) == (2, ("name: Ann",), 4, 1)
    assert [loss.lost for loss in tier1.losses] == [2, 1]
    assert tier1.spent_on(MOMENT.date()).calls == 2
    assert folded(redistilled("p1", unit("u2"))).units() == ()


@pytest.mark.parametrize("zone", [UTC, timezone(timedelta(hours=14)), timezone(timedelta(hours=-12))])
def test_what_was_paid_belongs_to_a_day_of_utc(zone: timezone, another_day_here: None) -> None:
    (record,) = records([Spent(step="distil", usage=Usage(calls=1))])
    tier1 = Tier1.from_records([replace(record, at=record.at.astimezone(zone))])
    days = [MOMENT.date() + timedelta(days=days) for days in (-1, 0, 1)]
    assert [tier1.spent_on(day).calls for day in days] == [0, 1, 0]


@settings(max_examples=60)
@given(log=logs, repeats=st.lists(st.integers(0, 11), max_size=6))
def test_a_step_done_again_changes_nothing(log: list[LedgerEntry], repeats: list[int]) -> None:
    # A second look at a page is asked for, not done again by itself: two of them are two. Of what is set
    # aside, and of limits, the newest counts.
    steps = [log[i] for i in repeats if i < len(log)]
    newest_counts = Redistilled | SetAside | BoundedEntry
    again = [step for step in steps if not isinstance(step, newest_counts)]
    assert state(folded(*log, *again)) == state(folded(*log))


@settings(max_examples=60)
@given(log=logs)
def test_a_unit_is_active_unless_retired_or_superseded_by_one_that_is_not(log: list[LedgerEntry]) -> None:
    tier1 = folded(*log)
    retired = {u for entry in log if isinstance(entry, RetiredEntry) for u in entry.unit_ids}
    present = [found for u in UNITS if (found := tier1.unit(UnitId(u))) is not None]
    for one in present:
        newer = [other for other in present if one.id in other.supersedes and other.id not in retired]
        assert tier1.is_active(one.id) == (one.id not in retired and not newer)


@settings(max_examples=60)
@given(log=logs, looks=st.lists(st.booleans(), min_size=12, max_size=12))
def test_taking_in_what_changed_since_a_mark_keeps_a_copy_equal(
    log: list[LedgerEntry], looks: list[bool]
) -> None:
    tier1, copy, mark = Tier1(), {}, -1
    for record, entry, look in zip(records(log), log, looks, strict=False):
        tier1.fold(record, entry)
        if look:
            copy.update({u.id: (u, tier1.is_active(u.id)) for u in tier1.changed_since(mark)})
            mark = tier1.head
    copy.update({u.id: (u, tier1.is_active(u.id)) for u in tier1.changed_since(mark)})
    truth = {UnitId(u): (tier1.unit(UnitId(u)), tier1.is_active(UnitId(u))) for u in UNITS}
    assert copy == {u: found for u, found in truth.items() if found[0] is not None}


@settings(max_examples=60)
@given(log=logs)
def test_units_are_found_by_every_page_they_rest_on_and_by_no_other(log: list[LedgerEntry]) -> None:
    tier1 = folded(*log)
    for page in PAGES:
        expected = {u.id for u in tier1.units() if any(s.page_id == page for s in u.spans)}
        assert {u.id for u in tier1.units_of_page(PageId(page))} == expected


def test_a_superseded_unit_returns_when_what_superseded_it_is_retired() -> None:
    log: list[LedgerEntry] = [
        distilled("p1", unit("u1", text="Ann lives in Oslo.")),
        answered("a1", finding("f1")),
        wrote_back("f1", "ADD", unit("u2", text="Ann lives in Rome.", supersedes=["u1"])),
    ]
    moved = folded(*log)
    assert [u.id for u in moved.units()] == ["u2"]
    assert moved.superseded_by(UnitId("u1")) == ("u2",)
    assert moved.unit(UnitId("u1")) is not None

    erased = folded(*log, RetiredEntry(unit_ids=(UnitId("u2"),), reason="its words were erased"))
    assert [u.id for u in erased.units()] == ["u1"]
    assert {u.id for u in erased.changed_since(6)} == {"u1", "u2"}
    assert erased.changed_since(9) == (), "what the record of the mark itself changed is known"


def test_an_update_keeps_the_unit_in_its_place_with_a_new_revision() -> None:
    tier1 = folded(
        distilled("p1", unit("u1"), unit("u2")),
        wrote_back("f1", "UPDATE", unit("u1", text="Ann likes green tea.", spans=[span("p2")], revision=2)),
    )
    assert [(u.id, u.text, u.revision) for u in tier1.units()] == [
        ("u1", "Ann likes green tea.", 2),
        ("u2", "Ann likes tea.", 1),
    ]
    assert [u.id for u in tier1.units_of_page(PageId("p1"))] == ["u2"]
    assert [u.id for u in tier1.units_of_page(PageId("p2"))] == ["u1"]


def test_a_finding_is_pending_until_it_is_decided_also_when_the_decision_is_to_skip() -> None:
    asked = answered("a1", finding("f1"), finding("f2"))
    assert list(folded(asked).pending) == ["f1", "f2"]
    decided = folded(asked, wrote_back("f1", "SKIP"))
    assert list(decided.pending) == ["f2"]
    assert decided.decisions[FindingId("f1")].op == "SKIP"


def test_the_first_decision_on_a_finding_counts() -> None:
    tier1 = folded(
        answered("a1", finding("f1")), wrote_back("f1", "SKIP"), wrote_back("f1", "ADD", unit("u1"))
    )
    assert tier1.units() == ()


def test_units_of_one_session_are_asked_for_by_session() -> None:
    tier1 = folded(distilled("p1", unit("u1", session="s1"), unit("u2", session="s2")))
    assert [u.id for u in tier1.units(SessionId("s2"))] == ["u2"]


def test_what_a_page_lost_is_kept_beside_it() -> None:
    tier1 = folded(distilled("p1", unit("u1"), omissions=["number: 40"]))
    page = tier1.pages[PageId("p1")]
    assert (page.units, page.rejected, page.omissions) == (1, 1, ("number: 40",))
    assert tier1.is_distilled(PageId("p1"))
    assert not tier1.is_distilled(PageId("p2"))


def test_what_is_recorded_twice_counts_once() -> None:
    first, again = distilled("p1", unit("u1"), omissions=["number: 3"]), distilled("p1", unit("u2"))
    tier1 = folded(first, again, answered("a1", finding("f1")), answered("a1", finding("f2")))
    assert [one.id for one in tier1.units()] == ["u1"]
    assert (tier1.pages[PageId("p1")].omissions, len(tier1.losses)) == (("number: 3",), 1)
    assert list(tier1.pending) == ["f1"]
    # Each try at distilling was paid; the answer was given once.
    assert tier1.spent_on(MOMENT.date()).calls == first.usage.calls + again.usage.calls + 2


def test_a_finding_that_is_decided_waits_no_more_whenever_its_answer_is_recorded() -> None:
    assert not folded(wrote_back("f1", "SKIP"), answered("a1", finding("f1"))).pending


def test_calls_of_unknown_price_leave_what_is_known_of_the_day() -> None:
    known, unknown = Usage(calls=1, cost=0.5), Usage(calls=1)
    tier1 = folded(Spent(step="ask", usage=known), Spent(step="ask", usage=unknown))
    assert tier1.spent_on(MOMENT.date()).cost == 0.5


def test_an_erasing_that_is_done_waits_no_more() -> None:
    intent = Erasing(turns=(), reason="asked to")
    done = ErasedEntry(intent=0, turns=0, units=0, findings=0, answers=())
    assert list(folded(intent).erasing) == [0]
    assert not folded(intent, done).erasing
