"""Finds for turns of files the ids they are stored by, or will be."""

from __future__ import annotations

from collections.abc import Sequence

from pagestore import SessionId, Turn
from tiermem.dialogue import alternatives, is_placed
from tiermem.ledger import Ledger


async def placed(ledger: Ledger, session: SessionId, turns: Sequence[Turn]) -> tuple[Turn, ...]:
    """The turns, those with a place for an id under the first of their ids that other words have not.

    A place whose turn was erased stays empty, whatever the file says there now.
    """
    found = list(turns)
    ids = {number: alternatives(turn) for number, turn in enumerate(turns) if is_placed(turn)}
    of_words = True
    while ids:
        tried = {number: next(others) for number, others in ids.items()}
        taken = await ledger.taken(session, tuple(tried.values()))
        for (number, turn), how in zip(tried.items(), taken, strict=True):
            if how in ("same", "erased") or (how == "free" and not of_words):
                found[number] = turn
                del ids[number]
        of_words = False
    return tuple(found)
