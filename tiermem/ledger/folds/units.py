"""Units: their newest revisions, and which of them hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from pagestore import PageId, SessionId, Span
from tiermem.model import SummaryUnit, TakenBack, UnitId


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedInto:
    """The units that were merged into one, each of which states all that it does, and why."""

    of: tuple[UnitId, ...]
    reason: str


class UnitsFold:
    """Every unit in the order of creation.

    A unit is active unless it was retired or a unit that is not retired supersedes it. Retiring the
    newer unit therefore brings the older one back. A whole turn, which was recorded to be taken back, is not
    active either while there are units of parts of it: they rest on the same words.
    """

    def __init__(self) -> None:
        super().__init__()
        self._units: dict[UnitId, SummaryUnit] = {}
        self._by_page: dict[PageId, dict[UnitId, None]] = {}
        self._superseded_by: dict[UnitId, dict[UnitId, None]] = {}
        self._retired: dict[UnitId, str] = {}
        self._corrected_by: dict[UnitId, dict[UnitId, None]] = {}
        self._merged: dict[UnitId, MergedInto] = {}
        self._changed: dict[UnitId, int] = {}
        self._whole_turns: set[UnitId] = set()

    def unit(self, unit_id: UnitId) -> SummaryUnit | None:
        """A unit by id, active or not, in its newest revision."""
        return self._units.get(unit_id)

    def is_active(self, unit_id: UnitId) -> bool:
        """Whether default recall may show this unit."""
        if unit_id not in self._units or unit_id in self._retired or self.is_in_parts(unit_id):
            return False
        return all(newer in self._retired for newer in self._superseded_by.get(unit_id, ()))

    def is_in_parts(self, unit_id: UnitId) -> bool:
        """Whether it is a whole turn, and other units rest on parts of it."""
        if unit_id not in self._whole_turns:
            return False
        (words,) = self._units[unit_id].spans
        others = (self._units[one].spans for one in self._by_page[words.page_id] if one != unit_id)
        return any(all(map(words.contains, spans)) for spans in others)

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
        return (unit_id, *self.merged_units(unit_id), *older)

    def merged_units(self, unit_id: UnitId) -> tuple[UnitId, ...]:
        """The units merged into this one, and those merged into them."""
        found: dict[UnitId, None] = {}
        waiting = [unit_id]
        while waiting:
            known = self._merged.get(waiting.pop())
            new = [one for one in (known.of if known is not None else ()) if one not in found]
            found |= dict.fromkeys(new)
            waiting += new
        return tuple(found)

    def standing_behind(self, unit_id: UnitId) -> tuple[SummaryUnit, ...]:
        """The units merged into this one that would hold without it."""
        stood_for = self.merged_units(unit_id)
        by_these = {unit_id, *stood_for}
        return tuple(
            self._units[one]
            for one in stood_for
            if one in self._units
            and one not in self._retired
            and by_these.issuperset(self.superseded_by(one))
        )

    def merged_into(self, unit_id: UnitId) -> tuple[UnitId, str] | None:
        """The unit, not retired, that this one was merged into, and why; `None` without."""
        for newer in self.superseded_by(unit_id):
            known = self._merged.get(newer)
            if known is not None and unit_id in known.of:
                return newer, known.reason
        return None

    def were_parted(self, one: UnitId, other: UnitId) -> bool:
        """Whether a unit that both were merged into was retired, which takes them apart."""
        both = {one, other}
        merged = [unit_id for unit_id in tuple(self._merged) if unit_id in self._retired]
        return any(both.issubset(self.merged_units(retired)) for retired in merged)

    def taken_back(self, page_id: PageId) -> tuple[TakenBack, ...]:
        """The words of a page that a unit which was withdrawn or corrected rests on, and no active one.

        A part of longer words that were taken back for the same reason is left out.
        """
        if not (self._retired or self._corrected_by):
            return ()
        units = self.units_of_page(page_id, inactive=True)
        kept = [span for unit in units if self.is_active(unit.id) for span in unit.spans]
        found = [
            TakenBack(span=left, reason=reason, unit_id=unit.id)
            for unit in units
            if (reason := self._taken_back_because(unit.id)) is not None
            for span in unit.spans
            if span.page_id == page_id
            for left in _uncovered_spans(span, kept)
        ]
        return tuple(one for one in found if not any(_is_part_of(one, other) for other in found))

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
        return tuple(self._units[unit_id] for unit_id in newer_than(self._changed, seq))

    def put_unit(self, unit: SummaryUnit, seq: int) -> None:
        """Take in a unit that record `seq` brings, in place of its revision of before."""
        known = self._units.get(unit.id)
        if known is not None:
            self._unlink(known, seq)
        self._units[unit.id] = unit
        for span in unit.spans:
            self._by_page.setdefault(span.page_id, {})[unit.id] = None
        for older in unit.supersedes:
            self._superseded_by.setdefault(older, {})[unit.id] = None
            self._touch(older, seq)
        if self._whole_turns:
            on_pages = [one for span in unit.spans for one in self._by_page[span.page_id]]
            for whole in self._whole_turns.intersection(on_pages):
                self._touch(whole, seq)
        self._touch(unit.id, seq)

    def put_whole_turn(self, unit: SummaryUnit, seq: int) -> None:
        """Take in a unit of all words of a turn, which record `seq` brings so that it can be taken back."""
        self._whole_turns.add(unit.id)
        self.put_unit(unit, seq)

    def merge_units(self, unit: SummaryUnit, merged: MergedInto, seq: int) -> None:
        """Add a unit that others are merged into, from record `seq` on; a known one is ignored."""
        if unit.id not in self._units:
            self._merged[unit.id] = merged
            self.put_unit(unit, seq)

    def correct_units(self, older: Iterable[UnitId], newer: UnitId) -> None:
        """Some units are corrected by a newer one."""
        for unit_id in older:
            self._corrected_by.setdefault(unit_id, {})[newer] = None

    def retire_units(self, unit_ids: Sequence[UnitId], reason: str, seq: int) -> None:
        """Units hold no longer, from record `seq` on."""
        for unit_id in unit_ids:
            if unit_id not in self._retired:
                self._retired[unit_id] = reason
                self._touch_with_older(unit_id, seq)

    def reinstate_units(self, unit_ids: Sequence[UnitId], seq: int) -> None:
        """Units that were retired hold again, from record `seq` on."""
        for unit_id in unit_ids:
            if self._retired.pop(unit_id, None) is not None:
                self._touch_with_older(unit_id, seq)

    def _unlink(self, unit: SummaryUnit, seq: int) -> None:
        for page_id in {span.page_id for span in unit.spans}:
            self._by_page[page_id].pop(unit.id, None)
        for older in unit.supersedes:
            self._superseded_by[older].pop(unit.id, None)
            self._touch(older, seq)

    def _touch_with_older(self, unit_id: UnitId, seq: int) -> None:
        unit = self._units.get(unit_id)
        for changed in (unit_id, *(unit.supersedes if unit is not None else ())):
            self._touch(changed, seq)

    def _touch(self, unit_id: UnitId, seq: int) -> None:
        """Note the newest record that changed a unit; the mapping stays in order of change."""
        if unit_id in self._units:
            self._changed.pop(unit_id, None)
            self._changed[unit_id] = seq


def newer_than(changes: dict[UnitId, int], seq: int) -> tuple[UnitId, ...]:
    """The units that a record after `seq` changed, oldest first; `changes` is in the order of records."""
    return tuple(takewhile(lambda unit_id: changes[unit_id] > seq, reversed(changes)))[::-1]


def _is_part_of(one: TakenBack, other: TakenBack) -> bool:
    """Whether words are some of other words that were taken back for the same reason."""
    return other.span.contains(one.span) and one.span != other.span and one.reason == other.reason


def _uncovered_spans(span: Span, others: Iterable[Span]) -> Iterator[Span]:
    """What is left of a span without the characters that any of the others covers."""
    at = span.start
    for other in sorted(others, key=lambda other: other.start):
        if other.page_id == span.page_id and other.start < span.end and at < other.end:
            if at < other.start:
                yield replace(span, start=at, end=other.start)
            at = other.end
    if at < span.end:
        yield replace(span, start=at)
