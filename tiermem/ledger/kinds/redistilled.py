"""What another look at a distilled page added."""

from dataclasses import dataclass, replace

from pagestore import PageId, Record
from tiermem.ledger.folds import Folds
from tiermem.ledger.kind import Kind, LedgerEntry, Past, WhatGoes
from tiermem.ledger.kinds.distilled import rejected_left
from tiermem.model import Named, Rejected, SummaryUnit, Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Redistilled(LedgerEntry):
    """What another look at a distilled page added, with what it had lost (`hints`). It takes nothing away.

    `omissions` are the literals that the page's units do not keep even now.
    """

    page_id: PageId
    units: tuple[SummaryUnit, ...]
    rejected: tuple[Rejected, ...]
    hints: tuple[str, ...]
    omissions: tuple[str, ...]
    literals: int
    made_by: Named
    prompts: tuple[Named, ...]
    usage: Usage
    worded: int = 0


def _fold(entry: Redistilled, record: Record, folds: Folds) -> None:
    folds.pay(record.at, entry.usage)
    known = folds.pages.get(entry.page_id)
    if known is None:
        return
    new = [unit for unit in entry.units if folds.unit(unit.id) is None]
    for unit in new:
        folds.put_unit(unit, record.seq)
    page = replace(
        known,
        units=known.units + len(new),
        rejected=known.rejected + len(entry.rejected),
        omissions=entry.omissions,
        literals=entry.literals,
        redistilled=known.redistilled + 1,
        worded=known.worded + entry.worded,
    )
    folds.put_page(page, record.at)


def _may_stay(entry: Redistilled, goes: WhatGoes, past: Past) -> Redistilled:
    """The units that may stay; of a page with erased turns, losses are counted again and no hint is kept."""
    shown = entry.page_id in goes.pages
    units = past.units_left(entry.units, goes, shown=shown)
    if not shown:
        return replace(entry, units=units, rejected=rejected_left(entry.rejected, goes))
    omissions, literals = goes.lost_on(entry.page_id, past.texts_on(entry.page_id))
    return replace(entry, units=units, rejected=(), hints=(), omissions=omissions, literals=literals)


KIND = Kind(name="redistilled", entry=Redistilled, fold=_fold, may_stay=_may_stay)
