"""Units that state the same, merged into one.

The record goes when any of them goes or changes: those that are left then hold by themselves again.
"""

from dataclasses import dataclass, replace

from pagestore import Record
from tiermem.ledger.folds import Folds, MergedInto
from tiermem.ledger.kind import Kind, LedgerEntry, Past, WhatGoes
from tiermem.model import Named, SummaryUnit, UnitId


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidatedEntry(LedgerEntry):
    """A unit in place of some that state the same: in the words of one, with the spans of all.

    It supersedes them, and all that they supersede; retiring it brings them back. `reason` is made by code.
    """

    unit: SummaryUnit
    merged: tuple[UnitId, ...]
    reason: Named


def _fold(entry: ConsolidatedEntry, record: Record, folds: Folds) -> None:
    folds.merge_units(entry.unit, MergedInto(of=entry.merged, reason=entry.reason), record.seq)


def _may_stay(entry: ConsolidatedEntry, goes: WhatGoes, past: Past) -> ConsolidatedEntry | None:
    left = None if not past.changed.isdisjoint(entry.merged) else goes.unit_left(entry.unit, shown=False)
    if left is not None and left.spans != entry.unit.spans:
        left = None
    kept = past.keep_unit(entry.unit, left, told_by=entry.merged)
    return None if kept is None else replace(entry, unit=kept)


KIND = Kind(name="consolidated", entry=ConsolidatedEntry, fold=_fold, may_stay=_may_stay)
