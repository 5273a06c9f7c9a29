"""A unit that somebody stated word for word.

It rests on its own turn alone, and a correction stays when what it corrects goes.
"""

from dataclasses import dataclass, replace

from pagestore import Record
from tiermem.ledger.folds import Folds
from tiermem.ledger.kind import Kind, LedgerEntry, Past, WhatGoes
from tiermem.model import SummaryUnit, UnitId


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedEntry(LedgerEntry):
    """A unit that somebody stated word for word, in a turn of its own, and the units that it corrects.

    Of what is corrected the words are no evidence any more; of what is superseded by newer words they are.
    """

    unit: SummaryUnit
    corrects: tuple[UnitId, ...] = ()


def _fold(entry: StatedEntry, record: Record, folds: Folds) -> None:
    if folds.unit(entry.unit.id) is None:
        folds.correct_units(entry.corrects, entry.unit.id)
        (folds.put_whole_turn if entry.unit.is_extract else folds.put_unit)(entry.unit, record.seq)


def _may_stay(entry: StatedEntry, goes: WhatGoes, past: Past) -> StatedEntry | None:
    kept = past.keep_unit(entry.unit, goes.unit_left(entry.unit, shown=False))
    return None if kept is None else replace(entry, unit=kept, corrects=past.left_of(entry.corrects))


KIND = Kind(name="stated", entry=StatedEntry, fold=_fold, may_stay=_may_stay)
