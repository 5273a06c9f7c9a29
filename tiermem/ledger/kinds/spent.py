"""What was paid for work that left no other entry, or whose entry was erased."""

from dataclasses import dataclass

from pagestore import Record
from tiermem.ledger.folds import Folds
from tiermem.ledger.kind import Kind, LedgerEntry, stays
from tiermem.model import Named, Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent(LedgerEntry):
    """What was paid for work that left no other entry: it failed, or it only looked."""

    step: Named
    usage: Usage


def _fold(entry: Spent, record: Record, folds: Folds) -> None:
    folds.pay(record.at, entry.usage)


KIND = Kind(name="spent", entry=Spent, fold=_fold, may_stay=stays)
