"""Turns that are to go. The reason stays, without words that are repeated from them."""

from dataclasses import dataclass, replace

from pagestore import PageId, Record, SessionId
from tiermem.ledger.folds import Folds
from tiermem.ledger.kind import Kind, LedgerEntry, Past, WhatGoes


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnAt:
    """A turn by the id of its page (`o1:` while that is open) and its record number."""

    page_id: PageId
    seq: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasing(LedgerEntry):
    """These turns, and all that rests on them, are to go. Written before the first of it does.

    `whole_sessions` go with what was asked of them, `whole_space` with everything.
    """

    turns: tuple[TurnAt, ...]
    reason: str
    whole_sessions: tuple[SessionId, ...] = ()
    whole_space: bool = False


def _fold(entry: Erasing, record: Record, folds: Folds) -> None:
    folds.announce_erasing(record.seq)


def _may_stay(entry: Erasing, goes: WhatGoes, past: Past) -> Erasing:
    """Words that are repeated go from the reason all the same."""
    return replace(entry, reason="") if goes.repeated_in([entry.reason]) else entry


KIND = Kind(name="erasing", entry=Erasing, fold=_fold, may_stay=_may_stay)
