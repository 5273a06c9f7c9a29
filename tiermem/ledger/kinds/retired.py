"""Units that no longer hold. The reason goes with any of them."""

from dataclasses import dataclass, replace

from pagestore import Record
from tiermem.ledger.folds import Folds
from tiermem.ledger.kind import Kind, LedgerEntry, Past, WhatGoes
from tiermem.model import UnitId


@dataclass(frozen=True, slots=True, kw_only=True)
class RetiredEntry(LedgerEntry):
    """Units that no longer hold, say because their words were erased; what they superseded returns."""

    unit_ids: tuple[UnitId, ...]
    reason: str


def _fold(entry: RetiredEntry, record: Record, folds: Folds) -> None:
    folds.retire_units(entry.unit_ids, entry.reason, record.seq)


def _may_stay(entry: RetiredEntry, goes: WhatGoes, past: Past) -> RetiredEntry | None:
    left = past.left_of(entry.unit_ids)
    past.superseded.update(left)
    reason = past.reason_left(entry.reason, goes, entry.unit_ids)
    return replace(entry, unit_ids=left, reason=reason) if left else None


KIND = Kind(name="retired", entry=RetiredEntry, fold=_fold, may_stay=_may_stay)
