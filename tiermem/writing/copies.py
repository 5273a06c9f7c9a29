"""Finds what a session of a coding agent has from another one: a fork repeats the turns before it.

A fork writes the records of the session it came from again, under the same ids (Claude Code) or with new
times (Codex). At least three turns in a row must be equal: one equal text is no copy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from pagestore import SessionId, Turn
from tiermem.dialogue import FORKS_KEEP_IDS, DialogueSession, is_payload
from tiermem.ledger import Ledger
from tiermem.writing.payloads import match_payloads
from tiermem.writing.stored_turns import read_stored

_FEWEST = 3
"""Equal turns in a row at least."""

_TurnKey = tuple[str, object, object]


async def drop_copied_turns(ledger: Ledger, session: DialogueSession, agent: str | None) -> DialogueSession:
    """Return the session without the turns that it has from another stored one.

    A session whose first turn is stored as its own is no copy. Compared are the session that its metadata
    names as its parent and, of formats whose forks keep the ids of records, sessions that have the id of its
    first turn, also if that was erased.
    """
    turns = [replace(turn, agent=agent) for turn in session.turns]
    if len(turns) < _FEWEST or await _is_stored(ledger, session.session, turns[0]):
        return session
    parent = turns[0].metadata.get("parent_session")
    form = session.session.partition(":")[0]
    for name in await ledger.sessions():
        if name == session.session or not name.startswith(f"{form}:"):
            continue
        if form in FORKS_KEEP_IDS and await _has_first(ledger, name, turns, agent):
            copied = await _find_same_ids(ledger, name, await match_payloads(ledger, name, turns, agent))
        elif name == parent:
            copied = await _count_same_start(ledger, name, turns, agent)
        else:
            continue
        if copied:
            kept = tuple(turn for n, turn in enumerate(session.turns) if n not in copied)
            return replace(session, turns=kept)
    return session


async def _has_first(ledger: Ledger, session: SessionId, turns: Sequence[Turn], agent: str | None) -> bool:
    (first,) = await match_payloads(ledger, session, turns[:1], agent)
    return await _is_stored(ledger, session, first)


async def _is_stored(ledger: Ledger, session: SessionId, turn: Turn) -> bool:
    (how,) = await ledger.taken_ids(session, (turn,))
    return how != "free"


async def _find_same_ids(ledger: Ledger, session: SessionId, turns: Sequence[Turn]) -> frozenset[int]:
    """The places of turns whose ids the session has; none where no three in a row are among them."""
    known = [how != "free" for how in await ledger.taken_ids(session, turns)]
    longest = max((sum(1 for _ in run) for is_known, run in groupby(known) if is_known), default=0)
    return frozenset(n for n, one in enumerate(known) if one and longest >= _FEWEST)


async def _count_same_start(
    ledger: Ledger, session: SessionId, turns: Sequence[Turn], agent: str | None
) -> frozenset[int]:
    """The places of turns with which both sessions begin; none where these are fewer than three."""
    stored = [one.turn for one in await read_stored(ledger, session, (agent,))]
    records = [turn for turn in stored if turn is None or not is_payload(turn)]
    payloads = [_turn_key(turn) for turn in stored if turn is not None and is_payload(turn)]
    count = places = 0
    for turn in turns:
        record = records[places] if places < len(records) else None
        if record is not None and _turn_key(turn) == _turn_key(record):
            places += 1
        elif _turn_key(turn) in payloads:  # which were stored when the record was missing: in any place
            payloads.remove(_turn_key(turn))
        else:
            break
        count += 1
    return frozenset(range(count if count >= _FEWEST else 0))


def _turn_key(turn: Turn) -> _TurnKey:
    """What a copy keeps of a turn; a sub-agent is given prompts of the person as those of its parent."""
    return turn.text, turn.metadata.get("kind"), turn.metadata.get("call_id")
