"""Gives every turn of a file an id, so that reading the same file again stores nothing.

An id the file gives is kept. Where it gives none, the id is the turn's place: when it was said, a digest of
the speaker, and its number among the turns of that speaker at that time; without a time, its position in
the session. It contains nothing of the words, so it reveals nothing of them after they are erased. Where a
place is taken by other words (another file with the same session name, or the same one edited), the turn has
the next of its `alternatives`.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count

from pagestore import SessionId, Turn
from tiermem.dialogue.interface import DialogueSession

_DIGEST = re.compile(r":~[0-9a-f]{12}(?:-\d+)?\Z")
_PLACE = re.compile(
    r"@(?P<position>\d{1,9})(?: (?P<said>[0-9T:.+-]{1,40} [0-9a-f]{12}))?(?P<alternative>~\d+)?"
)
_PAYLOAD = "hook-"


def payload_id(said_at: datetime, number: int = 1) -> str:
    """The id of a prompt that the payload of a hook gave: its minute (UTC), and its number in this minute.

    It has nothing of the words. Raises `OverflowError` outside of the calendar.
    """
    minute = said_at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M")
    return f"{_PAYLOAD}{minute}/0" if number == 1 else f"{_PAYLOAD}{minute}-{number}/0"


def is_payload(turn: Turn) -> bool:
    """Whether the payload of a hook gave the turn, and no record of a transcript."""
    return (turn.turn_id or "").startswith(_PAYLOAD)


def chat_id(form: str, own_id: object, turns: Sequence[Turn]) -> str:
    """The id of a chat: its format and its own id, `telegram:9`.

    A chat without an id of its own is known by a digest of how it begins (`whatsapp:~9b74c9897bac`): the
    ids, times and speakers of its first turn and of the first one that no app wrote. Titles and names of
    files may change and count for nothing.
    """
    if isinstance(own_id, str | int) and own_id != "":
        return f"{form}:{own_id}"
    first = [*turns[:1], *(turn for turn in turns if turn.role != "system")][:2]
    parts = [part for turn in first for part in (turn.turn_id or "", _moment(turn), turn.speaker)]
    return f"{form}:~{_digest(parts)}"


def has_own_id(chat: str) -> bool:
    """Whether the id of a chat is that of its file, not a digest of how it begins."""
    return _DIGEST.search(chat) is None


def identify_turns(
    session: str, turns: Iterable[Turn], *, title: str | None = None, is_file_name: bool = False
) -> DialogueSession:
    """A session in which every turn has an id."""
    return DialogueSession(
        session=SessionId(session),
        title=title,
        is_file_name=is_file_name,
        turns=tuple(_with_places(turns)),
    )


def is_placed(turn: Turn) -> bool:
    """Whether the id of a turn is its place in a file."""
    found = _PLACE.fullmatch(turn.turn_id or "")
    return found is not None and found["alternative"] is None


def place_of(turn: Turn) -> tuple[str, int] | None:
    """The time and speaker of a turn of a file, "" without a time, and its position among these.

    `None` of a turn whose id is no place, nor an alternative to one.
    """
    found = _PLACE.fullmatch(turn.turn_id or "")
    return None if found is None else (found["said"] or "", int(found["position"]))


def speaker_in(turn_id: str | None) -> str:
    """The digest of the speaker in an id that is a time and a place in a file; "" in any other."""
    found = _PLACE.fullmatch(turn_id or "")
    return (found["said"] or "").rpartition(" ")[2] if found is not None else ""


def alternatives(turn: Turn) -> Iterator[Turn]:
    """A placed turn under every id it may be stored by, in order, without end."""
    if not is_placed(turn):
        raise ValueError(f"{turn.turn_id!r} is no place in a file")
    yield turn
    for number in count(2):
        yield replace(turn, turn_id=f"{turn.turn_id}~{number}")


def own_id(turn: Turn) -> str:
    """The id of a message whose id in the file is that of another message: with its time and speaker."""
    return " ".join(part for part in (turn.turn_id, _moment(turn), _digest([turn.speaker])) if part)


def _with_places(turns: Iterable[Turn]) -> Iterator[Turn]:
    """The turns, with their places as ids where they have none."""
    said: Counter[str] = Counter()
    for position, turn in enumerate(turns, start=1):
        if turn.turn_id is not None:
            yield turn
        elif turn.said_at is None:
            yield replace(turn, turn_id=f"@{position}")
        else:
            key = f"{_moment(turn)} {_digest([turn.speaker])}"
            said[key] += 1
            yield replace(turn, turn_id=f"@{said[key]} {key}")


def _moment(turn: Turn) -> str:
    return "" if turn.said_at is None else turn.said_at.isoformat()


def _digest(parts: Iterable[str]) -> str:
    return hashlib.sha256("\x1f".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:12]
