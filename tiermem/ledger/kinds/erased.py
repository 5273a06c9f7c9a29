"""An erasing that is done."""

from dataclasses import dataclass

from pagestore import Record
from tiermem.ledger.folds import Folds
from tiermem.ledger.kind import Kind, LedgerEntry, stays
from tiermem.model import AnswerId


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasedEntry(LedgerEntry):
    """The erasing that record `intent` announced is done, in the index as well.

    It counts; of answers alone it keeps the ids, which tell nothing, so that an audit can say what happened.
    """

    intent: int
    turns: int
    units: int
    findings: int
    answers: tuple[AnswerId, ...]


def _fold(entry: ErasedEntry, record: Record, folds: Folds) -> None:
    folds.finish_erasing(entry.intent, entry.answers)


KIND = Kind(name="erased", entry=ErasedEntry, fold=_fold, may_stay=stays)
