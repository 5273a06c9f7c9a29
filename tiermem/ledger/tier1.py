"""Tier 1 as the net state of the log: a fold that takes each record once and in constant time.

Nothing is ever replayed as an operation. Folding a record whose work is already done changes
nothing (the first record about a page, an answer or a finding counts), so a step that a crash made
run twice leaves the same state as a step that ran once.
"""

from __future__ import annotations

from collections.abc import Iterable

from pagestore import Record
from tiermem.ledger.entries import decode
from tiermem.ledger.folds import Folds
from tiermem.ledger.kind import LedgerEntry
from tiermem.ledger.kinds import kind_of
from tiermem.ledger.kinds.set_aside import SetAside
from tiermem.model import SummaryUnit
from tiermem.salience import Signals, tier_of


class Tier1(Folds):
    """Units, pages, answers, findings and decisions as of record `head`."""

    def __init__(self) -> None:
        super().__init__()
        self.head = -1

    @classmethod
    def from_records(cls, records: Iterable[Record]) -> Tier1:
        """The fold of a log, or of any prefix of one."""
        tier1 = cls()
        for record in records:
            tier1.fold(record, decode(record))
        return tier1

    def fold(self, record: Record, entry: LedgerEntry | None) -> None:
        """Take the next record in; `entry` is what it holds, `None` when its kind is unknown."""
        if entry is not None:
            kind_of(entry).fold(entry, record, self)
        self.head = record.seq

    def signals(self, unit: SummaryUnit, roles: Iterable[str | None] = ()) -> Signals:
        """What is known of a unit besides what it says; `roles` are those of the turns it rests on.

        A unit that was withdrawn weighs nothing. What it weighed is there again when it is reinstated.
        """
        withdrawn = self.retired_because(unit.id) is not None
        return Signals(
            importance=self.importance(unit),
            uses=self.uses(unit.id),
            last_used=self.last_used(unit.id),
            weight=0.0 if withdrawn else self.weight(unit.id),
            said_at=unit.said_at,
            tier=tier_of(roles),
        )

    @property
    def pages_set_aside(self) -> tuple[SetAside, ...]:
        """What is set aside now, oldest first: which page, at which step, and why."""
        return tuple(
            SetAside(page_id=page_id, step=step, reason=reason)
            for (page_id, step), reason in self._aside.items()
        )
