"""Units that hold again. The reason goes with any of them."""

from dataclasses import dataclass, replace

from pagestore import Record
from tiermem.ledger.folds import Folds
from tiermem.ledger.kind import Kind, LedgerEntry, Past, WhatGoes
from tiermem.model import UnitId


@dataclass(frozen=True, slots=True, kw_only=True)
class ReinstatedEntry(LedgerEntry):
    """Units that were retired and hold again, why ever; what they supersede no longer does."""

    unit_ids: tuple[UnitId, ...]
    reason: str


def _fold(entry: ReinstatedEntry, record: Record, folds: Folds) -> None:
    folds.reinstate_units(entry.unit_ids, record.seq)


def _may_stay(entry: ReinstatedEntry, goes: WhatGoes, past: Past) -> ReinstatedEntry | None:
    left = past.left_of(entry.unit_ids)
    past.superseded.difference_update(left)
    reason = past.reason_left(entry.reason, goes, entry.unit_ids)
    return replace(entry, unit_ids=left, reason=reason) if left else None


KIND = Kind(name="reinstated", entry=ReinstatedEntry, fold=_fold, may_stay=_may_stay)
