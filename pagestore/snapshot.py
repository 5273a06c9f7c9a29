"""The `.idx` file of a sealed segment: what folding that segment adds, so that opening need not read it.

A cache and nothing more: it may be missing, stale or damaged, and is then made again from the segment.
It holds no words: numbers, places, hashes, session names.
"""

from __future__ import annotations

import json
import struct
import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any

from pagestore.line import MALFORMED, Fields, Place, canonical
from pagestore.state import OpenTurn, State
from pagestore.values import PageId, PageInfo, SessionId, SetBack, TurnTimes

_VERSION = 3
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


def dump(state: State, since: Mark, size: int) -> bytes:
    """What the segment of `size` bytes that began at `since` added to `state`."""
    rows = range(since.records, len(state.records))
    places = [state.records.place(row) for row in rows]
    content = {
        "v": _VERSION,
        "bytes": size,
        "after": since.head,
        "head": state.head,
        "turns": state.turns,
        "erased": state.erased,
        "sessions": list(islice(state.sessions, since.sessions, None)),
        "pages": [_page_row(page) for page in islice(state.pages.values(), since.pages, None)],
        "keys": _text(b"".join(_KEY.pack(*pair) for pair in islice(state.keys.items(), since.keys, None))),
        "records": [
            [state.records.seq(row), place.segment, place.offset, place.length, state.records.kind(row)]
            for row, place in zip(rows, places, strict=True)
        ],
        "leaves": _text(state.tree.leaves(since.records)),
        "waiting": [[name, _waiting_rows(s.waiting)] for name, s in state.sessions.items() if s.waiting],
        "erasing": [[seq, intent] for seq, intent in state.erasing.items()],
        "salt": [state.salt.hex(), state.unsalted],
        "newest": state.newest.isoformat() if state.newest is not None else None,
        "set_back": [[one.seq, one.was.isoformat(), one.now.isoformat()] for one in state.set_back],
    }
    data = canonical(content)
    return b"%s\n%08x\n" % (data, zlib.crc32(data))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Snapshot:
    """A snapshot read completely, before anything of it is believed."""

    head: int
    turns: int
    erased: int
    sessions: list[SessionId]
    pages: list[PageInfo]
    keys: list[tuple[bytes, int]]
    records: list[tuple[int, Place, str]]
    leaves: list[bytes]
    waiting: list[tuple[SessionId, list[OpenTurn]]]
    erasing: list[tuple[int, Fields]]
    salt: tuple[bytes, int]
    newest: datetime | None
    set_back: list[SetBack]


def load(state: State, data: bytes, size: int) -> bool:
    """Add a segment of `size` bytes to `state` from its snapshot; `False` when it is not to be trusted."""
    content = _checked(data)
    if content is None or (content.get("v"), content.get("bytes")) != (_VERSION, size):
        return False
    if content.get("after") != state.head:
        return False
    try:
        snapshot = _read(content)
    except MALFORMED:
        return False
    _apply(state, snapshot)
    return True


def _checked(data: bytes) -> dict[str, Any] | None:
    body, checksum = data[:-10], data[-10:]
    if checksum != b"\n%08x\n" % zlib.crc32(body):
        return None
    try:
        content = json.loads(body)
    except ValueError:
        return None
    return content if isinstance(content, dict) else None


def _read(content: dict[str, Any]) -> _Snapshot:
    leaves = b64decode(content["leaves"], validate=True)
    return _Snapshot(
        head=content["head"],
        turns=content["turns"],
        erased=content["erased"],
        sessions=content["sessions"],
        pages=[_page(row) for row in content["pages"]],
        keys=list(_KEY.iter_unpack(b64decode(content["keys"], validate=True))),
        records=[
            (seq, Place(segment, offset, length), kind)
            for seq, segment, offset, length, kind in content["records"]
        ],
        leaves=[leaves[at : at + 32] for at in range(0, len(leaves), 32)],
        waiting=[(session, list(_open_turns(rows))) for session, rows in content["waiting"]],
        erasing=[(seq, intent) for seq, intent in content["erasing"]],
        salt=(bytes.fromhex(content["salt"][0]), int(content["salt"][1])),
        newest=_moment(content["newest"]),
        set_back=[
            SetBack(seq=seq, was=datetime.fromisoformat(was), now=datetime.fromisoformat(now))
            for seq, was, now in content["set_back"]
        ],
    )


def _apply(state: State, snapshot: _Snapshot) -> None:
    for name in snapshot.sessions:
        state.session(name)
    for page in snapshot.pages:
        state.add_page(page)
    state.keys.update(snapshot.keys)
    for row in snapshot.records:
        state.records.add(*row)
    for leaf in snapshot.leaves:
        state.tree.add(leaf)
    for session in state.sessions.values():
        session.waiting = []
    state.filling.clear()
    for name, turns in snapshot.waiting:
        state.session(name).waiting = turns
        state.note_filling(name)
    state.erasing = dict(snapshot.erasing)
    state.head, state.turns, state.erased = snapshot.head, snapshot.turns, snapshot.erased
    state.salt, state.unsalted = snapshot.salt
    state.newest, state.set_back = snapshot.newest, snapshot.set_back
    state.newest_digest = b""


def _page_row(page: PageInfo) -> list[object]:
    sealed_at = page.sealed_at.isoformat()
    return [page.id, page.session, page.number, page.turns, page.tokens, sealed_at, page.seq]


def _page(row: list[Any]) -> PageInfo:
    page_id, session, number, turns, tokens, sealed_at, seq = row
    return PageInfo(
        id=PageId(page_id),
        session=session,
        number=number,
        turns=turns,
        tokens=tokens,
        sealed_at=datetime.fromisoformat(sealed_at),
        seq=seq,
    )


def _waiting_rows(turns: list[OpenTurn]) -> list[list[object]]:
    return [
        [t.seq, t.place.segment, t.place.offset, t.place.length, t.tokens, _text(t.digest), *_times_row(t)]
        for t in turns
    ]


def _times_row(turn: OpenTurn) -> list[str | None]:
    moments = (turn.times.recorded_at, turn.times.said_at)
    return [moment.isoformat() if moment is not None else None for moment in moments]


def _open_turns(rows: list[list[Any]]) -> Iterator[OpenTurn]:
    for seq, segment, offset, length, tokens, digest, *moments in rows:
        recorded_at, said_at = map(_moment, moments)
        times = TurnTimes(seq=seq, recorded_at=recorded_at, said_at=said_at)
        place = Place(segment, offset, length)
        yield OpenTurn(seq, place, tokens, b64decode(digest, validate=True), times)


def _moment(told: str | None) -> datetime | None:
    return None if told is None else datetime.fromisoformat(told)


def _text(data: bytes) -> str:
    return b64encode(data).decode()
