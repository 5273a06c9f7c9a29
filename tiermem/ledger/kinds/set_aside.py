"""A page that a step goes on without. Its reason holds what an error said of the page, and goes with it."""

from dataclasses import dataclass

from pagestore import PageId, Record
from tiermem.ledger.folds import Folds
from tiermem.ledger.kind import Kind, LedgerEntry, Past, WhatGoes
from tiermem.model import Named


@dataclass(frozen=True, slots=True, kw_only=True)
class SetAside(LedgerEntry):
    """A step raised something unexpected on a page, and goes on without it; the newest of a step counts.

    `reason` tells error, place and message; `None` when the page went through after all, or is to be tried
    again. `step` is `distil`, `index` or `ask`.
    """

    page_id: PageId
    step: Named
    reason: str | None

    def __str__(self) -> str:
        return f"page {self.page_id} is set aside ({self.step}): {self.reason}; `flush` tries it again"


def _fold(entry: SetAside, record: Record, folds: Folds) -> None:
    folds.put_aside(entry.page_id, entry.step, entry.reason)


def _may_stay(entry: SetAside, goes: WhatGoes, past: Past) -> SetAside | None:
    goes_too = goes.everything or entry.page_id in goes.pages or goes.repeated_in([entry.reason])
    return None if goes_too else entry


KIND = Kind(name="set-aside", entry=SetAside, fold=_fold, may_stay=_may_stay)
