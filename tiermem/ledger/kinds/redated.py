"""Units in the words of rules, with the dates that later rules compute.

A unit keeps its id, and with it what was shared, merged, corrected, cited and judged. It goes with the unit
as it was before.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from pagestore import Record
from tiermem.ledger.folds import Folds
from tiermem.ledger.kind import Entry, Kind, Past, WhatGoes
from tiermem.model import SummaryUnit


@dataclass(frozen=True, slots=True, kw_only=True)
class RedatedUnits(Entry):
    """The next revision of units of one page, in which nothing but dates differs.

    A unit that has another revision by then stays as it is.
    """

    units: tuple[SummaryUnit, ...]


def _fold(entry: RedatedUnits, record: Record, folds: Folds) -> None:
    for unit in entry.units:
        known = folds.unit(unit.id)
        if known is not None and known.revision + 1 == unit.revision:
            folds.put_unit(unit, record.seq)


def _may_stay(entry: RedatedUnits, goes: WhatGoes, past: Past) -> RedatedUnits | None:
    units = tuple(_units_left(entry, goes, past))
    return replace(entry, units=units) if units else None


def _units_left(entry: RedatedUnits, goes: WhatGoes, past: Past) -> Iterator[SummaryUnit]:
    for unit in entry.units:
        stays = unit.id in past.kept
        left = goes.unit_left(unit, shown=unit.id in past.changed) if stays else None
        kept = past.keep_unit(unit, left, told_by=(unit.id,))
        if kept is not None:
            yield kept


KIND = Kind(name="redated", entry=RedatedUnits, fold=_fold, may_stay=_may_stay)
