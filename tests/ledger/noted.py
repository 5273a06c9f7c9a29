"""A kind of record that somebody adds: all of it is in this file, and `KINDS` gets one line."""

from __future__ import annotations

from dataclasses import dataclass

from pagestore import PageId, Record
from tiermem.ledger.folds import Folds
from tiermem.ledger.kind import Kind, LedgerEntry, Past, WhatGoes
from tiermem.model import Named


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted(LedgerEntry):
    """What somebody noted about a page, on which a step then waits."""

    page_id: PageId
    text: str
    made_by: Named = "pen"


def _fold(entry: Noted, record: Record, folds: Folds) -> None:
    folds.put_aside(entry.page_id, "noted", entry.text)


def _may_stay(entry: Noted, goes: WhatGoes, past: Past) -> Noted | None:
    return None if entry.page_id in goes.pages or goes.repeated_in([entry.text]) else entry


KIND = Kind(
    name="noted",
    entry=Noted,
    fold=_fold,
    may_stay=_may_stay,
)
