"""Gives every turn of a file an id, so that reading the same file again stores nothing.

An id the file gives is kept. Where it gives none, the id is the turn's place: its position in the session,
and when it was said where the file tells. It holds nothing of the words, so it tells nothing of them once
they are erased. Where a place is taken by other words (another file with the same session name, or the
same one edited), the turn goes by the next of its `alternatives`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import count

from pagestore import SessionId, Turn
from tiermem.dialogue.interface import DialogueSession, ImportedTurn

_PLACE = re.compile(r"@(?P<position>\d{1,9})(?: (?P<moment>[0-9T:.+-]{1,40}))?")


def chat_id(form: str, own_id: object, turns: Sequence[Turn]) -> str:
    """The id of a chat: its format and its own id, `telegram:9`.

    A chat without an id of its own is known by a digest of how it begins: the ids, times and speakers of its
    first turn and of the first one that no app wrote. Titles and names of files may change and count for
    nothing.
    """
    if isinstance(own_id, str | int) and own_id != "":
        return f"{form}:{own_id}"
    first = [*turns[:1], *(turn for turn in turns if turn.role != "system")][:2]
    parts = [part for turn in first for part in (turn.turn_id or "", _moment(turn), turn.speaker)]
    return f"{form}:{_digest(parts)}"


def identify_turns(session: str, turns: Iterable[Turn], *, title: str | None = None) -> DialogueSession:
    """A session in which every turn has an id."""
    named = [
        turn if turn.turn_id is not None else replace(turn, turn_id=_place(position, turn))
        for position, turn in enumerate(turns, start=1)
    ]
    return DialogueSession(
        session=SessionId(session),
        title=title,
        turns=tuple(turn.plain() if isinstance(turn, ImportedTurn) else turn for turn in named),
        earlier={
            turn.turn_id or "": turn.earlier
            for turn in named
            if isinstance(turn, ImportedTurn) and turn.earlier
        },
    )


def is_placed(turn: Turn) -> bool:
    """Whether the id of a turn is its place in a file."""
    return turn.turn_id is not None and _PLACE.fullmatch(turn.turn_id) is not None


def alternatives(turn: Turn) -> Iterator[Turn]:
    """A placed turn under every id it may be stored by, in order.

    First comes the id that a turn at its place had when ids were made of words; the others never end.
    """
    found = _PLACE.fullmatch(turn.turn_id or "")
    if found is None:
        raise ValueError(f"{turn.turn_id!r} is no place in a file")
    digest = _digest((turn.speaker, found["moment"] or "", turn.text))
    yield replace(turn, turn_id=f"{found['position']}-{digest}")
    yield turn
    for number in count(2):
        yield replace(turn, turn_id=f"{turn.turn_id}~{number}")


def own_id(turn: Turn) -> str:
    """The id of a message whose id in the file is that of another message: with its time and speaker."""
    return " ".join(part for part in (turn.turn_id, _moment(turn), _digest([turn.speaker])) if part)


def _place(position: int, turn: Turn) -> str:
    return f"@{position}" if turn.said_at is None else f"@{position} {turn.said_at.isoformat()}"


def _moment(turn: Turn) -> str:
    return "" if turn.said_at is None else turn.said_at.isoformat()


def _digest(parts: Iterable[str]) -> str:
    return hashlib.sha256("\x1f".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:12]
