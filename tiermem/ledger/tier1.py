"""Tier 1 as the net state of the log: a fold that takes each record once and in constant time.

Nothing is ever replayed as an operation. Folding a record whose work is already done changes
nothing (the first record about a page, an answer or a finding counts), so a step that a crash made
run twice leaves the same state as a step that ran once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from types import MappingProxyType

from pagestore import PageId, Record, SessionId, Span
from tiermem.ledger.entries import (
    Answered,
    Distilled,
    Entry,
    Erased,
    Erasing,
    Redistilled,
    Reinstated,
    Retired,
    SetAside,
    Spent,
    Stated,
    WroteBack,
    decode,
)
from tiermem.llm.meter import plus
from tiermem.model import (
    Action,
    AnswerId,
    Finding,
    FindingId,
    SummaryUnit,
    TakenBack,
    UnitId,
    Usage,
    WriteBack,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerInfo:
    """What Tier 1 keeps of an answer: enough to list it, to count it and to find its record."""

    id: AnswerId
    question: str
    at: datetime
    route: Action
    abstained: bool
    read_tokens: int
    raw_tokens: int
    seq: int
    summary_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PageSummary:
    """What Tier 1 keeps of a distilled page: how much linked, how much did not, and what was lost.

    `worded` claims left their words and not their wording. What was rejected and worded of pages that were
    read in one call stands with the first. `seq` is the record of its first distilling; later ones count
    in `redistilled`.
    """

    page_id: PageId
    units: int
    rejected: int
    omissions: tuple[str, ...]
    seq: int
    literals: int | None = None
    redistilled: int = 0
    worded: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """What one distilling of a page lost of its literals, and when."""

    at: datetime
    page_id: PageId
    literals: int | None
    lost: int


class Tier1:
    """Units, pending findings and decisions as they stand after record `head`.

    A unit is active unless it was retired or a unit that is not retired supersedes it. Retiring the
    newer unit therefore brings the older one back.
    """

    def __init__(self) -> None:
        self.head = -1
        self._units: dict[UnitId, SummaryUnit] = {}
        self._by_page: dict[PageId, dict[UnitId, None]] = {}
        self._superseded_by: dict[UnitId, dict[UnitId, None]] = {}
        self._retired: dict[UnitId, str] = {}
        self._corrected_by: dict[UnitId, dict[UnitId, None]] = {}
        self._changed: dict[UnitId, int] = {}
        self._pages: dict[PageId, PageSummary] = {}
        self._pending: dict[FindingId, Finding] = {}
        self._decisions: dict[FindingId, WriteBack] = {}
        self._answers: dict[AnswerId, AnswerInfo] = {}
        self._losses: list[Loss] = []
        self._spent: dict[date, Usage] = {}
        self._erasing: dict[int, Erasing] = {}
        self._erased_answers: set[AnswerId] = set()
        self._aside: dict[tuple[PageId, str], SetAside] = {}

    @classmethod
    def of(cls, records: Iterable[Record]) -> Tier1:
        """The fold of a log, or of any prefix of one."""
        tier1 = cls()
        for record in records:
            tier1.fold(record, decode(record))
        return tier1

    def fold(self, record: Record, entry: Entry | None) -> None:
        """Take the next record in; `entry` is what it holds, `None` when its kind is unknown."""
        if isinstance(entry, Distilled | Redistilled | WroteBack | Spent):
            self._pay(record.at, entry.usage)
        match entry:
            case Distilled():
                self._fold_distilled(entry, record)
            case Redistilled():
                self._fold_redistilled(entry, record)
            case Answered():
                self._fold_answered(entry, record)
            case WroteBack():
                self._fold_write_back(entry, record.seq)
            case Retired() | Reinstated():
                self._fold_retired(entry, record.seq)
            case Stated():
                self._fold_stated(entry, record.seq)
            case Erasing() | Erased():
                self._fold_erasing(entry, record.seq)
            case SetAside():
                self._fold_set_aside(entry)
        self.head = record.seq

    def unit(self, unit_id: UnitId) -> SummaryUnit | None:
        """A unit by id, active or not, in its newest revision."""
        return self._units.get(unit_id)

    def is_active(self, unit_id: UnitId) -> bool:
        """Whether default recall may show this unit."""
        if unit_id not in self._units or unit_id in self._retired:
            return False
        return all(newer in self._retired for newer in self._superseded_by.get(unit_id, ()))

    def retired_because(self, unit_id: UnitId) -> str | None:
        """Why a unit was retired; `None` when it was not."""
        return self._retired.get(unit_id)

    def superseded_by(self, unit_id: UnitId) -> tuple[UnitId, ...]:
        """The units, not retired, that contradict this one with newer evidence."""
        return tuple(u for u in self._superseded_by.get(unit_id, ()) if u not in self._retired)

    def corrected_by(self, unit_id: UnitId) -> SummaryUnit | None:
        """The newest unit, not retired, that was stated in correction of this one."""
        left = [unit for unit in self._corrected_by.get(unit_id, ()) if unit not in self._retired]
        return self._units.get(left[-1]) if left else None

    def corrected_with(self, unit_id: UnitId) -> tuple[UnitId, ...]:
        """The unit, and those that it was stated in correction of."""
        older = (old for old, newer in self._corrected_by.items() if unit_id in newer)
        return (unit_id, *older)

    def taken_back(self, page_id: PageId) -> tuple[TakenBack, ...]:
        """The words of a page that a unit which was withdrawn or corrected rests on, and no active one."""
        if not (self._retired or self._corrected_by):
            return ()
        units = self.units_of_page(page_id, inactive=True)
        kept = [span for unit in units if self.is_active(unit.id) for span in unit.spans]
        return tuple(
            TakenBack(span=left, reason=reason, unit_id=unit.id)
            for unit in units
            if (reason := self._taken_back_because(unit.id)) is not None
            for span in unit.spans
            if span.page_id == page_id
            for left in _beside(span, kept)
        )

    def _taken_back_because(self, unit_id: UnitId) -> str | None:
        if unit_id in self._retired:
            return self._retired[unit_id]
        newer = self.corrected_by(unit_id)
        return None if newer is None else f"corrected to {newer.text!r}"

    def units(self, session: SessionId | None = None) -> tuple[SummaryUnit, ...]:
        """Active units, in order of creation."""
        return tuple(
            unit
            for unit in self._units.values()
            if session in (None, unit.session) and self.is_active(unit.id)
        )

    def all_units(self) -> tuple[SummaryUnit, ...]:
        """Every unit, active or not, in order of creation."""
        return tuple(self._units.values())

    def units_of_page(self, page_id: PageId, *, inactive: bool = False) -> tuple[SummaryUnit, ...]:
        """Units with a span on this page: the active ones, with `inactive` all."""
        on_page = self._by_page.get(page_id, ())
        return tuple(self._units[unit_id] for unit_id in on_page if inactive or self.is_active(unit_id))

    def changed_since(self, seq: int) -> tuple[SummaryUnit, ...]:
        """Every unit, active or not, whose words or activity changed after record `seq`, oldest first."""
        changed: list[SummaryUnit] = []
        for unit_id in reversed(self._changed):
            if self._changed[unit_id] <= seq:
                break
            changed.append(self._units[unit_id])
        return tuple(reversed(changed))

    def is_distilled(self, page_id: PageId) -> bool:
        """Whether the log holds what became of this page."""
        return page_id in self._pages

    @property
    def pages(self) -> Mapping[PageId, PageSummary]:
        """Every distilled page, in the order they were distilled."""
        return MappingProxyType(self._pages)

    @property
    def pending(self) -> Mapping[FindingId, Finding]:
        """Findings nobody has decided on yet, oldest first."""
        return MappingProxyType(self._pending)

    @property
    def decisions(self) -> Mapping[FindingId, WriteBack]:
        """What became of every decided finding, SKIP included."""
        return MappingProxyType(self._decisions)

    @property
    def answers(self) -> Mapping[AnswerId, AnswerInfo]:
        """Every answer given, oldest first."""
        return MappingProxyType(self._answers)

    @property
    def erasing(self) -> Mapping[int, Erasing]:
        """Erasures that were announced and are not done, by the record that announced them."""
        return MappingProxyType(self._erasing)

    def was_erased(self, answer_id: AnswerId) -> bool:
        """Whether an answer of this id was given, and erased."""
        return answer_id in self._erased_answers

    @property
    def aside(self) -> tuple[SetAside, ...]:
        """What is set aside now, oldest first: which page, at which step, and why."""
        return tuple(self._aside.values())

    def aside_at(self, step: str) -> Mapping[PageId, str]:
        """The pages that a step goes on without, and why."""
        return {page: one.reason or "" for (page, at), one in self._aside.items() if at == step}

    @property
    def losses(self) -> tuple[Loss, ...]:
        """What every distilling lost, oldest first."""
        return tuple(self._losses)

    def spent_on(self, day: date) -> Usage:
        """What was paid on a day (of UTC); calls of unknown price count with no cost."""
        return self._spent.get(day, Usage())

    def _pay(self, at: datetime, usage: Usage) -> None:
        day = at.astimezone(UTC).date()
        known = replace(usage, cost=usage.cost or 0.0)
        self._spent[day] = plus(self._spent.get(day, Usage()), known)

    def _fold_distilled(self, entry: Distilled, record: Record) -> None:
        seq = record.seq
        if entry.page_id in self._pages:
            return
        self._lose(record, entry.page_id, entry.literals, entry.omissions)
        self._aside.pop((entry.page_id, "distil"), None)
        self._pages[entry.page_id] = PageSummary(
            page_id=entry.page_id,
            units=len(entry.units),
            rejected=len(entry.rejected),
            omissions=entry.omissions,
            seq=seq,
            literals=entry.literals,
            worded=entry.worded,
        )
        for unit in entry.units:
            if unit.id not in self._units:
                self._put(unit, seq)

    def _fold_redistilled(self, entry: Redistilled, record: Record) -> None:
        known = self._pages.get(entry.page_id)
        if known is None:
            return
        self._lose(record, entry.page_id, entry.literals, entry.omissions)
        new = [unit for unit in entry.units if unit.id not in self._units]
        for unit in new:
            self._put(unit, record.seq)
        self._pages[entry.page_id] = replace(
            known,
            units=known.units + len(new),
            rejected=known.rejected + len(entry.rejected),
            omissions=entry.omissions,
            literals=entry.literals,
            redistilled=known.redistilled + 1,
            worded=known.worded + entry.worded,
        )

    def _lose(
        self, record: Record, page_id: PageId, literals: int | None, omissions: tuple[str, ...]
    ) -> None:
        self._losses.append(Loss(at=record.at, page_id=page_id, literals=literals, lost=len(omissions)))

    def _fold_answered(self, entry: Answered, record: Record) -> None:
        answer = entry.answer
        if answer.id in self._answers:
            return
        self._pay(record.at, answer.usage)
        self._answers[answer.id] = AnswerInfo(
            id=answer.id,
            question=answer.trace.question,
            at=record.at,
            route=answer.route,
            abstained=answer.abstained,
            read_tokens=answer.trace.read_tokens,
            raw_tokens=answer.trace.raw_tokens,
            seq=record.seq,
            summary_tokens=answer.trace.summary_tokens,
        )
        for finding in entry.findings:
            if finding.id not in self._decisions:
                self._pending.setdefault(finding.id, finding)

    def _fold_write_back(self, entry: WroteBack, seq: int) -> None:
        decision, unit = entry.write_back, entry.unit
        if decision.finding_id in self._decisions:
            return
        self._decisions[decision.finding_id] = decision
        self._pending.pop(decision.finding_id, None)
        if unit is not None:
            self._put(unit, seq)

    def _fold_erasing(self, entry: Erasing | Erased, seq: int) -> None:
        if isinstance(entry, Erasing):
            self._erasing[seq] = entry
        else:
            self._erasing.pop(entry.intent, None)
            self._erased_answers.update(entry.answers)

    def _fold_retired(self, entry: Retired | Reinstated, seq: int) -> None:
        retires = isinstance(entry, Retired)
        for unit_id in entry.unit_ids:
            if retires == (unit_id in self._retired):
                continue
            if retires:
                self._retired[unit_id] = entry.reason
            else:
                del self._retired[unit_id]
            unit = self._units.get(unit_id)
            for changed in (unit_id, *(unit.supersedes if unit is not None else ())):
                self._touch(changed, seq)

    def _fold_stated(self, entry: Stated, seq: int) -> None:
        if entry.unit.id in self._units:
            return
        for older in entry.corrects:
            self._corrected_by.setdefault(older, {})[entry.unit.id] = None
        self._put(entry.unit, seq)

    def _fold_set_aside(self, entry: SetAside) -> None:
        self._aside.pop((entry.page_id, entry.step), None)
        if entry.reason is not None:
            self._aside[entry.page_id, entry.step] = entry

    def _put(self, unit: SummaryUnit, seq: int) -> None:
        known = self._units.get(unit.id)
        if known is not None:
            self._unlink(known, seq)
        self._units[unit.id] = unit
        for span in unit.spans:
            self._by_page.setdefault(span.page_id, {})[unit.id] = None
        for older in unit.supersedes:
            self._superseded_by.setdefault(older, {})[unit.id] = None
            self._touch(older, seq)
        self._touch(unit.id, seq)

    def _unlink(self, unit: SummaryUnit, seq: int) -> None:
        for page_id in {span.page_id for span in unit.spans}:
            self._by_page[page_id].pop(unit.id, None)
        for older in unit.supersedes:
            self._superseded_by[older].pop(unit.id, None)
            self._touch(older, seq)

    def _touch(self, unit_id: UnitId, seq: int) -> None:
        """Note the newest record that changed a unit; the mapping stays in order of change."""
        if unit_id in self._units:
            self._changed.pop(unit_id, None)
            self._changed[unit_id] = seq


def _beside(span: Span, others: Iterable[Span]) -> Iterator[Span]:
    """What is left of a span without the characters that any of the others covers."""
    at = span.start
    for other in sorted(others, key=lambda other: other.start):
        if other.page_id == span.page_id and other.start < span.end and at < other.end:
            if at < other.start:
                yield replace(span, start=at, end=other.start)
            at = other.end
    if at < span.end:
        yield replace(span, start=at)
