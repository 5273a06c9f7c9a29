"""Units of agents that everybody may see, or no longer. The reason goes with any of them."""

from dataclasses import dataclass, replace

from pagestore import Record
from tiermem.ledger.folds import Folds
from tiermem.ledger.kind import Kind, LedgerEntry, Past, WhatGoes
from tiermem.model import UnitId


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared(LedgerEntry):
    """From here on everybody may see these units, as they read; not so, with `not given`."""

    unit_ids: tuple[UnitId, ...]
    reason: str
    given: bool = True


def _fold(entry: Shared, record: Record, folds: Folds) -> None:
    if entry.given:
        folds.share_units(entry.unit_ids, entry.reason, record.seq)
    else:
        folds.unshare_units(entry.unit_ids, record.seq)


def _may_stay(entry: Shared, goes: WhatGoes, past: Past) -> Shared | None:
    left = past.left_of(entry.unit_ids)
    reason = past.reason_left(entry.reason, goes, entry.unit_ids)
    return replace(entry, unit_ids=left, reason=reason) if left else None


KIND = Kind(name="shared", entry=Shared, fold=_fold, may_stay=_may_stay)
