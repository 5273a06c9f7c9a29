"""Finds the turn of a hook's payload for the record of a transcript, and the other way round.

A prompt that a transcript lacked was stored from the payload of a hook. When the transcript brings it later,
the record is that turn: the same words of the person, typed within two minutes of it. Each turn is that of
one record, the nearest in time. Of an erased turn no words are left; a record of its size, within the same
two minutes, is held to be it and stays away.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import TypeVar

from pagestore import SessionId, Turn
from tiermem.dialogue import is_payload, payload_id
from tiermem.ledger import Ledger
from tiermem.writing.stored_turns import Size, find_size, read_stored

_MINUTES = 2
"""How far the times of a payload and of its record are apart at most: hooks run when a prompt is typed."""
_REPEATED = timedelta(seconds=2)
"""How far payloads of one prompt are apart at most, where the hook is installed twice."""
_TYPED = ("prompt", "queued_prompt", "command")
"""Kinds of what a person types, at which hooks of prompts run. A kind in metadata may be any JSON."""

_T = TypeVar("_T", bound=Turn)


async def match_payloads(
    ledger: Ledger, session: SessionId, turns: Sequence[_T], agent: str | None
) -> tuple[_T, ...]:
    """Return turns, those that a session has from a payload, or as a record, under the id they have there.

    A payload that the session has not gets an id that is free. Turns without a time with a zone, and records
    whose own ids are stored, come back as they are.
    """
    typed = {n: turn for n, turn in enumerate(turns) if _is_typed(turn)}
    how = await ledger.taken_ids(session, [replace(turn, agent=agent) for turn in typed.values()])
    ours = {
        n: turn
        for (n, turn), found in zip(typed.items(), how, strict=True)
        if found == "free" or is_payload(turn)
    }
    ids = await _stored_ids(ledger, session, (turn.said_at for turn in ours.values()), agent)
    if not ids and not any(map(is_payload, ours.values())):
        return tuple(turns)
    stored = await read_stored(ledger, session, (agent,))
    found = _same_prompts(ours, [one.turn for one in stored if one.turn is not None])
    sizes = frozenset(one.size for one in stored if one.turn is None)
    claimed = {*found.values()}
    for n, turn in ours.items():
        if n not in found and (
            named := _erased_id(turn, ids, sizes, claimed) or _free_id(turn, ids, claimed)
        ):
            found[n] = named
            claimed.add(named)
    return tuple(replace(turn, turn_id=found.get(n, turn.turn_id)) for n, turn in enumerate(turns))


def _is_typed(turn: Turn) -> bool:
    known = turn.metadata
    return known.get("author") == "person" and known.get("kind") in _TYPED and _has_time(turn)


def _has_time(turn: Turn) -> bool:
    return turn.said_at is not None and turn.said_at.utcoffset() is not None


def _distance(turn: Turn, other: Turn) -> timedelta:
    """How much later a turn was said than another; both have a time with a zone."""
    if turn.said_at is None or other.said_at is None:
        raise ValueError("a turn without a time")
    return turn.said_at - other.said_at


async def _stored_ids(
    ledger: Ledger, session: SessionId, times: Iterable[datetime | None], agent: str | None
) -> dict[str, bool]:
    """The ids of payloads that a session has around some times, and whether they were erased."""
    minutes = {one for said_at in times for one in _minutes_around(said_at)}
    found: dict[str, bool] = {}
    for number in count(1):
        ids = [payload_id(minute, number) for minute in minutes]
        probes = [Turn(speaker="", text="", turn_id=one, agent=agent) for one in ids]
        taken = dict(zip(ids, await ledger.taken_ids(session, probes), strict=True))
        found |= {one: how == "erased" for one, how in taken.items() if how != "free"}
        minutes = {minute for minute in minutes if taken[payload_id(minute, number)] != "free"}
        if not minutes:
            break
    return found


def _minutes_around(said_at: datetime | None) -> Sequence[datetime]:
    """A moment in each minute in which a payload may be of a record that was written then."""
    if said_at is None:
        return ()
    try:
        minute = said_at.astimezone(UTC).replace(second=0, microsecond=0)
        return [minute + timedelta(minutes=minutes) for minutes in range(-_MINUTES, _MINUTES + 1)]
    except OverflowError:
        return ()  # at an end of the calendar


def _same_prompts(turns: Mapping[int, Turn], stored: Iterable[Turn]) -> dict[int, str]:
    """For turns the ids of stored ones that are the same prompt, one to one, the nearest in time first."""
    by_words: dict[str, list[Turn]] = {}
    for turn in filter(_is_typed, stored):
        by_words.setdefault(_single_blanks(turn), []).append(turn)
    pairs = sorted(
        (abs(_distance(turn, other)), n, other.turn_id)
        for n, turn in turns.items()
        for other in by_words.get(_single_blanks(turn), ())
        if other.turn_id is not None and _is_near(turn, other)
    )
    found: dict[int, str] = {}
    claimed: set[str] = set()
    for _, n, named in pairs:
        if n not in found and named not in claimed:
            found[n] = named
            claimed.add(named)
    return found


def _is_near(turn: Turn, stored: Turn) -> bool:
    """Whether one is the payload of the other; two records are two prompts."""
    if not is_payload(turn) and not is_payload(stored):
        return False
    most = _REPEATED if is_payload(turn) and is_payload(stored) else timedelta(minutes=_MINUTES)
    return abs(_distance(turn, stored)) <= most


def _single_blanks(turn: Turn) -> str:
    return " ".join(turn.text.split())


def _erased_id(turn: Turn, ids: Mapping[str, bool], sizes: frozenset[Size], claimed: set[str]) -> str | None:
    """The id of an erased payload that a turn is held to be: near in time, and of the size of an erased turn.

    Another time may take less room on a page: one at a whole second is written without its fraction.
    """
    if turn.said_at is None:
        return None
    moments = (turn.said_at.replace(microsecond=0), turn.said_at.replace(microsecond=1))
    if not any(find_size(replace(turn, said_at=moment), sizes) for moment in moments):
        return None
    near = [turn.said_at] if is_payload(turn) else _minutes_around(turn.said_at)
    named = (payload_id(minute, number) for minute in near for number in range(1, len(ids) + 1))
    return next((one for one in named if ids.get(one) and one not in claimed), None)


def _free_id(turn: Turn, ids: Mapping[str, bool], claimed: set[str]) -> str | None:
    """An id for a payload that is stored nowhere; `None` for a record, which has its own."""
    if turn.said_at is None or not is_payload(turn):
        return None
    named = (payload_id(turn.said_at, number) for number in count(1))
    return next(one for one in named if one not in ids and one not in claimed)
