"""Gives every turn of a file an id, so that reading the same file again stores nothing.

An id the file gives is kept. Where it gives none, the id is the position in the session and a digest
of the turn: a file that has grown brings only its new turns, and another file with the same session
name collides with nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import replace

from pagestore import SessionId, Turn
from tiermem.dialogue.interface import DialogueSession


def identified(session: str, turns: Iterable[Turn]) -> DialogueSession:
    """A session in which every turn has an id."""
    return DialogueSession(
        session=SessionId(session),
        turns=tuple(
            turn if turn.turn_id is not None else replace(turn, turn_id=f"{position}-{_digest(turn)}")
            for position, turn in enumerate(turns, start=1)
        ),
    )


def _digest(turn: Turn) -> str:
    moment = turn.said_at.isoformat() if turn.said_at is not None else ""
    told = "\x1f".join((turn.speaker, moment, turn.text))
    return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:12]
