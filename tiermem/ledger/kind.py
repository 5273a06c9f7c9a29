"""What a kind of record is: an entry, what it adds to Tier 1, and what of it may stay when words are erased.

Each kind is one file in `tiermem.ledger.kinds`, which ends with its `Kind`, and a line in that package.

The rule of erasing: what a step was shown is what its record rests on. A step was shown only what was before
it, so entries are gone through in the order of the log, and what went or changed earlier counts as erased for
the steps that were shown it later (`Past`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, Protocol, TypeVar

from pagestore import PageId, Record, SessionId, Span
from tiermem.ledger.folds import Folds
from tiermem.model import AnswerId, FindingId, SummaryUnit, UnitId


class LedgerEntry:
    """What one record of the ledger says. Strings in it are somebody's words, but for those that are `Named`.

    The first `Usage` in it, if any, is what was paid for it.
    """

    __slots__ = ()


class WhatGoes(Protocol):
    """Turns that are to be erased, as far as the rules of kinds ask about them."""

    @property
    def everything(self) -> bool:
        """Whether the whole space goes."""

    @property
    def sessions(self) -> Collection[SessionId]:
        """Sessions that go with what was asked of them."""

    @property
    def pages(self) -> Collection[PageId]:
        """The pages of the turns, under every id that they have or had."""

    def has_turns_left(self, chat: str, agent: str | None) -> bool:
        """Whether any turn of the agent stays in a chat that has a title."""

    def touches(self, span: Span) -> bool:
        """Whether any part of the span is in a turn that goes."""

    def repeated_in(self, texts: Iterable[str | None]) -> bool:
        """Whether any of some texts repeats the words."""

    def unit_left(self, unit: SummaryUnit, *, shown: bool) -> SummaryUnit | None:
        """The unit as it may stay: itself, with fewer spans, or not at all.

        `shown`: whether the step that worded it was shown the turns, or what goes with them.
        """

    def lost_on(self, page_id: PageId, texts: Sequence[str]) -> tuple[tuple[str, ...], int]:
        """The literals of a page, as it will be, that some texts do not keep; and how many it has."""


@dataclass(slots=True)
class Past:
    """What the records up to here come to, in the order of the log: a step was shown only what was before it.

    `changed` are units that go, or lose words or a revision, `erased` those that go, whose ids, made of their
    words, are named no more, and `kept` those of which some revision stays, the newest of them; `sceneless`
    lose their scene and paraphrase, `answers` are those that stay, and `findings_left` are their findings.
    """

    changed: set[UnitId | None] = field(default_factory=set)
    erased: set[UnitId] = field(default_factory=set)
    kept: dict[UnitId, SummaryUnit] = field(default_factory=dict)
    superseded: set[UnitId] = field(default_factory=set)
    sceneless: set[UnitId] = field(default_factory=set)
    answers: set[AnswerId] = field(default_factory=set)
    findings_left: set[FindingId] = field(default_factory=set)

    def note(self, unit: SummaryUnit, left: SummaryUnit | None) -> None:
        """Note what became of a unit."""
        if left is None or (left.text, left.spans) != (unit.text, unit.spans):
            self.changed.add(unit.id)
        if left is not None and (left.scene, left.paraphrase) != (unit.scene, unit.paraphrase):
            self.sceneless.add(unit.id)
        if left is not None:
            self.kept[unit.id] = left
            self.superseded.update(left.supersedes)
            self.erased.discard(unit.id)
        elif unit.id not in self.kept:  # else an earlier revision of it stays
            self.erased.add(unit.id)

    def keep_unit(
        self, unit: SummaryUnit, left: SummaryUnit | None, *, told_by: Iterable[UnitId] = ()
    ) -> SummaryUnit | None:
        """Note what is left of a unit, and return it: it names no unit that goes.

        Its scene goes with that of any unit that it is `told_by`.
        """
        if left is not None and not self.sceneless.isdisjoint(told_by):
            left = replace(left, scene=None, paraphrase=None)
        self.note(unit, left)
        return None if left is None else replace(left, supersedes=self.left_of(left.supersedes))

    def texts_on(self, page_id: PageId) -> list[str]:
        """The texts of the units that rest on a page, without those superseded or withdrawn."""
        left = (unit for unit in self.kept.values() if unit.id not in self.superseded)
        return [unit.text for unit in left if any(span.page_id == page_id for span in unit.spans)]

    def left_of(self, ids: Iterable[UnitId]) -> tuple[UnitId, ...]:
        """Those of some units that do not go."""
        return tuple(unit_id for unit_id in ids if unit_id not in self.erased)

    def units_left(
        self, units: Iterable[SummaryUnit], goes: WhatGoes, *, shown: bool
    ) -> tuple[SummaryUnit, ...]:
        """What is left of the units that one step made; noted."""
        left = [(unit, goes.unit_left(unit, shown=shown)) for unit in units]
        for unit, kept in left:
            self.note(unit, kept)
        return tuple(kept for _, kept in left if kept is not None)

    def reason_left(self, reason: str, goes: WhatGoes, of: Iterable[UnitId]) -> str:
        """Why something was done with units: nothing, where any of them changes or the words are repeated."""
        rests = goes.everything or not self.changed.isdisjoint(of)
        return "" if rests or goes.repeated_in([reason]) else reason


_E = TypeVar("_E", bound=LedgerEntry)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind(Generic[_E]):
    """All that the rest of the ledger, and erasing, ask of a kind of record.

    What every kind must define has no default, so a kind without it does not type-check.
    """

    name: str
    """What the log calls it."""
    entry: type[_E]
    fold: Callable[[_E, Record, Folds], None]
    """Adds to Tier 1 what the entry, of this record, says and no earlier one did."""
    may_stay: Callable[[_E, WhatGoes, Past], LedgerEntry | None]
    """What of the entry may stay: itself, what may be known of it, or nothing; and notes units in `Past`."""
    is_in_bundles: bool = False
    """Whether a bundle shows it: then all fields are written, for who checks bundles knows no defaults."""


def stays(entry: _E, goes: WhatGoes, past: Past) -> _E:
    """Of a kind that counts, and tells nothing in words."""
    return entry
