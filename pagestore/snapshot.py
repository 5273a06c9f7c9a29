"""What folding one part of a log adds, so that opening need not read the part.

A cache and nothing more: it may be missing or of another log, and is then made again from the lines.
It holds no words: numbers, hashes, session names.
"""

from __future__ import annotations

import struct
from base64 import b64decode, b64encode
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any

from pagestore.line import MALFORMED, Fields
from pagestore.state import OpenTurn, Run, State, Thread
from pagestore.values import PageId, PageInfo, SessionId, SetBack, TurnTimes

VERSION = 6
"""The version of what is cached; what has another version is not read, and is made again."""
_KEY = struct.Struct(">16sQ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """How much a state held at one moment."""

    head: int
    sessions: int
    pages: int
    keys: int
    records: int


def mark(state: State) -> Mark:
    """How much `state` holds now."""
    return Mark(
        head=state.head,
        sessions=len(state.sessions),
        pages=len(state.pages),
        keys=len(state.keys),
        records=len(state.records),
    )


def dump(state: State, since: Mark) -> Fields:
    """What the part that began at `since` added to `state`."""
    rows = range(since.records, len(state.records))
    return {
        "after": since.head,
        "head": state.head,
        "turns": state.turns,
        "erased": state.erased,
        "sessions": [_thread_row(one) for one in islice(state.sessions, since.sessions, None)],
        "pages": [
            [_page_row(page), state.turns_of[page.id]]
            for page in islice(state.pages.values(), since.pages, None)
        ],
        "keys": _text(b"".join(_KEY.pack(*pair) for pair in islice(state.keys.items(), since.keys, None))),
        "records": [[state.records.seq(row), state.records.kind(row)] for row in rows],
        "leaves": _text(state.tree.leaves(since.head + 1)),
        "blocks": _text(state.tree.blocks(since.head + 1)),
        "peaks": [_text(peak) for peak in state.tree.peaks()],
        "waiting": [
            [_thread_row(one), _waiting_rows(s.waiting)] for one, s in state.sessions.items() if s.waiting
        ],
        "erasing": [[seq, intent] for seq, intent in state.erasing.items()],
        "salt": state.salt.hex(),
        "newest": state.newest.isoformat() if state.newest is not None else None,
        "set_back": [[one.seq, one.was.isoformat(), one.now.isoformat()] for one in state.set_back],
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class _Snapshot:
    """A snapshot read completely, before anything of it is believed."""

    head: int
    turns: int
    erased: int
    sessions: list[Thread]
    pages: list[tuple[PageInfo, tuple[Run, ...]]]
    keys: list[tuple[bytes, int]]
    records: list[tuple[int, str]]
    leaves: bytes
    blocks: bytes
    peaks: list[bytes]
    waiting: list[tuple[Thread, list[OpenTurn]]]
    erasing: list[tuple[int, Fields]]
    salt: bytes
    newest: datetime | None
    set_back: list[SetBack]


def load(state: State, content: Fields) -> bool:
    """Add a part to `state` from its snapshot; `False` when it is not one of what follows there."""
    if content.get("after") != state.head:
        return False
    try:
        snapshot = _read(content)
    except MALFORMED:
        return False
    try:
        state.tree.extend(snapshot.leaves, snapshot.blocks, snapshot.peaks)
    except ValueError:
        return False
    _apply(state, snapshot)
    return True


def _read(content: dict[str, Any]) -> _Snapshot:
    return _Snapshot(
        head=content["head"],
        turns=content["turns"],
        erased=content["erased"],
        sessions=[_thread(row) for row in content["sessions"]],
        pages=[(_page(row), tuple((f, n) for f, n in turns)) for row, turns in content["pages"]],
        keys=list(_KEY.iter_unpack(b64decode(content["keys"], validate=True))),
        records=[(seq, kind) for seq, kind in content["records"]],
        leaves=b64decode(content["leaves"], validate=True),
        blocks=b64decode(content["blocks"], validate=True),
        peaks=[b64decode(peak, validate=True) for peak in content["peaks"]],
        waiting=[(_thread(row), list(_open_turns(rows))) for row, rows in content["waiting"]],
        erasing=[(seq, intent) for seq, intent in content["erasing"]],
        salt=bytes.fromhex(content["salt"]),
        newest=_moment(content["newest"]),
        set_back=[
            SetBack(seq=seq, was=datetime.fromisoformat(was), now=datetime.fromisoformat(now))
            for seq, was, now in content["set_back"]
        ],
    )


def _apply(state: State, snapshot: _Snapshot) -> None:
    for thread in snapshot.sessions:
        state.session(thread)
    for page, turns in snapshot.pages:
        state.add_page(page, turns)
    state.keys.update(snapshot.keys)
    for seq, kind in snapshot.records:
        state.records.add(seq, kind)
    state.set_waiting(snapshot.waiting)
    state.erasing = dict(snapshot.erasing)
    state.head, state.turns, state.erased = snapshot.head, snapshot.turns, snapshot.erased
    state.salt = snapshot.salt
    state.newest, state.set_back = snapshot.newest, snapshot.set_back


def _page_row(page: PageInfo) -> list[object]:
    sealed_at = page.sealed_at.isoformat()
    row: list[object] = [page.id, page.session, page.number, page.turns, page.tokens, sealed_at, page.seq]
    return row if page.agent is None else [*row, page.agent]


def _page(row: list[Any]) -> PageInfo:
    page_id, session, number, turns, tokens, sealed_at, seq, *agent = row
    return PageInfo(
        id=PageId(page_id),
        session=session,
        number=number,
        turns=turns,
        tokens=tokens,
        sealed_at=datetime.fromisoformat(sealed_at),
        seq=seq,
        agent=agent[0] if agent else None,
    )


def _thread_row(thread: Thread) -> object:
    """A session's name, with that of the agent where there is one."""
    session, agent = thread
    return session if agent is None else [session, agent]


def _thread(row: Any) -> Thread:
    if isinstance(row, str):
        return SessionId(row), None
    session, agent = row
    return SessionId(session), str(agent)


def _waiting_rows(turns: list[OpenTurn]) -> list[list[object]]:
    times = [(turn.times.recorded_at, turn.times.said_at) for turn in turns]
    return [
        [turn.seq, turn.tokens, _text(turn.digest), *(at and at.isoformat() for at in moments)]
        for turn, moments in zip(turns, times, strict=True)
    ]


def _open_turns(rows: list[list[Any]]) -> Iterator[OpenTurn]:
    for seq, tokens, digest, *moments in rows:
        recorded_at, said_at = map(_moment, moments)
        times = TurnTimes(seq=seq, recorded_at=recorded_at, said_at=said_at)
        yield OpenTurn(seq, tokens, b64decode(digest, validate=True), times)


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def _text(data: bytes) -> str:
    return b64encode(data).decode()
