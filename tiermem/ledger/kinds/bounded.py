"""How many units an index is to hold. It is on record, so that readers know which of them it holds."""

from dataclasses import dataclass

from pagestore import Record
from tiermem.ledger.folds import Folds
from tiermem.ledger.kind import Kind, LedgerEntry, stays


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundedEntry(LedgerEntry):
    """From here on an index holds no more than `hot_units` units; the newest of these records counts."""

    hot_units: int


def _fold(entry: BoundedEntry, record: Record, folds: Folds) -> None:
    folds.limit_hot_units(entry.hot_units, record.seq)


KIND = Kind(name="bounded", entry=BoundedEntry, fold=_fold, may_stay=stays)
"""It holds no words, and stays when all are erased."""
