"""What became of one sealed page.

Its units and rejected claims rest on every page that was read with it.
"""

from dataclasses import dataclass, replace

from pagestore import PageId, Record
from tiermem.ledger.folds import Folds, PageSummary
from tiermem.ledger.kind import Kind, LedgerEntry, Past, WhatGoes
from tiermem.model import Named, Rejected, SummaryUnit, Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class DistilledEntry(LedgerEntry):
    """What became of one sealed page: units that link to it, claims that do not, literals no unit kept.

    `literals` is how many there were to keep. `worded` is how many claims could not be confirmed: of these
    the words are units, and the wording is not kept. Of pages that were read in one call, the first has what
    was rejected, how many were worded, and the usage. `beside` are the other pages of that call. `open_id` is
    the id that the page had while it was being filled, under which its turns may have been cited.
    """

    page_id: PageId
    units: tuple[SummaryUnit, ...]
    rejected: tuple[Rejected, ...]
    omissions: tuple[str, ...]
    made_by: Named
    prompts: tuple[Named, ...]
    usage: Usage
    literals: int
    worded: int = 0
    beside: tuple[PageId, ...]
    open_id: PageId


def _fold(entry: DistilledEntry, record: Record, folds: Folds) -> None:
    folds.pay(record.at, entry.usage)
    if folds.is_distilled(entry.page_id):
        return
    folds.put_aside(entry.page_id, "distil", None)
    page = PageSummary(
        page_id=entry.page_id,
        units=len(entry.units),
        rejected=len(entry.rejected),
        omissions=entry.omissions,
        seq=record.seq,
        literals=entry.literals,
        worded=entry.worded,
    )
    folds.put_page(page, record.at)
    folds.put_open_id(entry.page_id, entry.open_id)
    for unit in entry.units:
        if folds.unit(unit.id) is None:
            folds.put_unit(unit, record.seq)


def _may_stay(entry: DistilledEntry, goes: WhatGoes, past: Past) -> DistilledEntry:
    shown = any(page_id in goes.pages for page_id in (entry.page_id, *entry.beside))
    units = past.units_left(entry.units, goes, shown=shown)
    rejected = () if shown else rejected_left(entry.rejected, goes)
    left = replace(entry, units=units, rejected=rejected)
    if entry.page_id not in goes.pages:
        return left
    omissions, literals = goes.lost_on(entry.page_id, [unit.text for unit in units])
    return replace(left, omissions=omissions, literals=literals)


def rejected_left(rejected: tuple[Rejected, ...], goes: WhatGoes) -> tuple[Rejected, ...]:
    """The rejected claims that do not repeat the words."""
    return tuple(r for r in rejected if not goes.repeated_in((r.claim, *r.quotes, r.reason)))


KIND = Kind(name="distilled", entry=DistilledEntry, fold=_fold, may_stay=_may_stay)
