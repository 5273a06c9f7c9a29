"""Segments: rows of several spaces in two tables, of a SQLite file or of a PostgreSQL database.

A segment is a run of rows of one space, as bytes with a checksum. Rows keep their numbers when segments are
joined or rewritten. A write and the mark of its space are one transaction: a mark never claims more than the
tables hold, and a write that fails changes nothing.

Several processes may use the tables, and one at a time writes a space; a `SpaceState` shows what changed.
"""

from __future__ import annotations

import os
import struct
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from typing import Any, LiteralString, Protocol

import numpy as np

from pagestore import History, SpaceId
from tiermem.errors import IndexMismatch, IndexUnavailable
from tiermem.index.encoding import key
from tiermem.index.features import ITEM_TYPES, ITEMS, ROW, Array, Block, join_blocks

SCHEMA = 5
"""The version of rows and segments; tables of another one ask to be rebuilt."""

JOINED = 8
"""Segments of about one size that are joined."""

SIZES = (64, 512, 4096)
"""Rows from which on a segment is of the next size. Those of the last size stay as they are."""

LARGEST = 8192
"""Most rows of a segment."""

LOOKED_AT = "an index that was opened read-only is left as it is"

_HEAD = struct.Struct("<4sIHHQ8I")
"""Signature, checksum of what follows it, schema, dimensions, first number, rows, and items of each kind."""
_SIGNATURE = b"TMsg"
_CHECKED_FROM = 8

TABLES: tuple[LiteralString, ...] = (
    "CREATE TABLE {0}spaces (space TEXT PRIMARY KEY, made_with TEXT NOT NULL, rows BIGINT NOT NULL,"
    " changed {1} NOT NULL, seq BIGINT NOT NULL, digest TEXT NOT NULL)",
    "CREATE TABLE {0}segments (space TEXT NOT NULL, start BIGINT NOT NULL, rows BIGINT NOT NULL,"
    " body {1} NOT NULL, PRIMARY KEY (space, start))",
)
"""The tables, with the prefix of their names and the type of bytes."""
_STATE: LiteralString = "SELECT made_with, rows, changed, seq, digest FROM {0}spaces WHERE space = %s"
_LOAD: LiteralString = (  # one statement, which sees the tables at one moment
    "SELECT made_with, s.rows, changed, seq, digest, start, g.rows, body FROM {0}spaces AS s"
    " LEFT JOIN {0}segments AS g ON g.space = s.space"
    " AND start + g.rows > CASE WHEN changed = %s THEN %s ELSE 0 END"
    " WHERE s.space = %s ORDER BY start"
)
_SET_STATE: LiteralString = (
    "INSERT INTO {0}spaces (space, made_with, rows, changed, seq, digest)"
    " VALUES (%s, %s, %s, %s, %s, %s) ON CONFLICT (space) DO UPDATE SET made_with = excluded.made_with,"
    " rows = excluded.rows, changed = excluded.changed, seq = excluded.seq, digest = excluded.digest"
)
_LIST: LiteralString = "SELECT start, rows FROM {0}segments WHERE space = %s ORDER BY start"
_READ: LiteralString = (
    "SELECT start, rows, body FROM {0}segments WHERE space = %s AND start >= %s AND start < %s ORDER BY start"
)
_PUT: LiteralString = (
    "INSERT INTO {0}segments (space, start, rows, body) VALUES (%s, %s, %s, %s)"
    " ON CONFLICT (space, start) DO UPDATE SET rows = excluded.rows, body = excluded.body"
)
_DELETE_FROM: LiteralString = "DELETE FROM {0}segments WHERE space = %s AND start >= %s"
_DELETE_SPACE: LiteralString = "DELETE FROM {0}spaces WHERE space = %s"


@dataclass(frozen=True, slots=True, kw_only=True)
class SpaceState:
    """What is stored of a space: so many rows, up to which record of the log.

    `changed` is another one after each write that changed rows which were there.
    """

    rows: int = 0
    mark: History = History()  # noqa: RUF009  # frozen
    changed: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedRows:
    """The rows of a space from number `start` on, `None` for none, and the state of the space."""

    state: SpaceState
    start: int
    block: Block | None


def encode_segment(block: Block, start: int) -> bytes:
    """The bytes of a segment whose first row has this number."""
    counts = (len(getattr(block, names[0])) for names in ITEMS.values())
    arrays = (block.rows, *(getattr(block, name) for name in ITEM_TYPES))
    body = b"".join(np.ascontiguousarray(one).tobytes() for one in arrays)
    head = _HEAD.pack(_SIGNATURE, 0, SCHEMA, block.vectors.shape[1], start, len(block.rows), *counts)
    checksum = zlib.crc32(body, zlib.crc32(head[_CHECKED_FROM:]))
    return head[:4] + checksum.to_bytes(4, "little") + head[_CHECKED_FROM:] + body


def decode_segment(body: object, start: int, dimensions: int) -> Block:
    """The rows of a segment; raises `ValueError` where the bytes are not what was written there."""
    if not isinstance(body, bytes) or len(body) < _HEAD.size:
        raise ValueError("a segment is cut short")
    signature, checksum, schema, width, first, rows, *counts = _HEAD.unpack_from(body)
    if signature != _SIGNATURE or checksum != zlib.crc32(memoryview(body)[_CHECKED_FROM:]):
        raise ValueError("a segment has a wrong checksum")
    if (schema, width, first) != (SCHEMA, dimensions, start):
        raise ValueError(f"a segment at {start} begins at {first}, has schema {schema}, {width} dimensions")
    lengths = {name: count for names, count in zip(ITEMS.values(), counts, strict=True) for name in names}
    at = _HEAD.size

    def take(kind: str | np.dtype[np.void], length: int) -> Array:
        nonlocal at
        taken = np.frombuffer(body, kind, length, at)
        at += taken.nbytes
        return taken

    items = {"rows": take(ROW, rows)}
    for name, kind in ITEM_TYPES.items():
        items[name] = take(kind, lengths[name] * (width if name == "vectors" else 1))
    items["vectors"] = items["vectors"].reshape(-1, width)
    return Block(**items)


class Statements(Protocol):
    """A transaction on the tables. Parameters of statements are written `%s`."""

    def rows(self, query: LiteralString, parameters: Sequence[object]) -> list[tuple[Any, ...]]:
        """Execute a query; returns its rows."""
        ...

    def execute(self, *statements: tuple[LiteralString, Sequence[object]]) -> None:
        """Execute statements."""
        ...


class SegmentStore(ABC):
    """The rows of several spaces. Safe to use from several threads.

    Raises `IndexFull` where there is no room, `IndexMismatch` where the tables are damaged, of another schema
    or made with something else, `IndexUnavailable` where they cannot be used. With `read_only` nothing is
    written or made. `made_with` is written down with each space, and one that was made with something else
    is refused.
    """

    _prefix: LiteralString = ""
    """What precedes the names of the tables."""

    def __init__(self, dimensions: int, made_with: str = "", *, read_only: bool = False) -> None:
        self._dimensions, self._made_with, self.read_only = dimensions, made_with, read_only

    @abstractmethod
    def close(self) -> None:
        """Close the connections; idempotent."""

    @abstractmethod
    def rows(self, query: LiteralString, parameters: Sequence[object]) -> list[tuple[Any, ...]]:
        """The rows of a query, of what is committed."""

    @abstractmethod
    def _begin(self, space: SpaceId) -> AbstractContextManager[Statements]:
        """A transaction that alone writes the space: committed at the end, undone after an error."""

    @abstractmethod
    def _translate_errors(self) -> AbstractContextManager[None]:
        """Raise our errors in place of those of the engine, and `ValueError` as damage."""

    def state(self, space: SpaceId) -> SpaceState:
        """What is stored of a space now, also by other processes."""
        with self._translate_errors():
            return self._read_state(self.rows(_STATE.format(self._prefix), [key(space)]))

    def load(self, space: SpaceId, since: SpaceState | None = None) -> LoadedRows:
        """All rows of a space, or those that are new `since` if no others changed."""
        known = since or SpaceState()
        with self._translate_errors():
            query = _LOAD.format(self._prefix)
            found = self.rows(query, [known.changed, known.rows, key(space)])
            state = self._read_state(found)
            start = known.rows if known.changed == state.changed else 0
            if start == state.rows:
                return LoadedRows(state=state, start=start, block=None)
            segments = [(int(first), int(rows), body) for *_, first, rows, body in found if body is not None]
            if not segments or segments[0][0] > start:
                raise ValueError(f"segments of rows {start} to {state.rows} are missing")
            block = self._join_bodies(segments)
            before = start - segments[0][0]
            if len(block.rows) - before != state.rows - start:
                raise ValueError(f"segments of rows {start} to {state.rows} are missing")
        if before:
            block = block.select(np.arange(before, len(block.rows)))
        return LoadedRows(state=state, start=start, block=block)

    def append(self, space: SpaceId, block: Block | None, *, mark: History | None = None) -> SpaceState:
        """Add rows after the last one, and set the mark of the space; returns what is stored then."""
        with self._writing(space) as (transaction, state):
            count = 0 if block is None else len(block.rows)
            for first in range(0, count, LARGEST):
                if block is not None:
                    some = block.select(np.arange(first, min(count, first + LARGEST)))
                    self._write_segment(transaction, space, state.rows + first, some)
            if count:
                self._join_segments(transaction, space)
            after = replace(state, rows=state.rows + count, mark=mark or state.mark)
            return self._set_state(transaction, space, after)

    def empty(self, space: SpaceId, numbers: Iterable[int]) -> SpaceState:
        """Remove what rows hold; returns what is stored then. No row of the tables holds a byte of it."""
        with self._writing(space) as (transaction, state):
            ordered = np.unique(list(numbers))
            for start, rows in self._list(transaction, space):
                places = ordered[(ordered >= start) & (ordered < start + rows)] - start
                if len(places):
                    block = self._read(transaction, space, start, start + rows).without(places)
                    self._write_segment(transaction, space, start, block)
            return self._set_state(transaction, space, replace(state, changed=os.urandom(8)))

    def drop(self, space: SpaceId) -> None:
        """Remove everything of a space, its mark too."""
        self._check_writable()
        with self._translate_errors(), self._begin(space) as transaction:
            transaction.execute(
                (_DELETE_FROM.format(self._prefix), [key(space), 0]),
                (_DELETE_SPACE.format(self._prefix), [key(space)]),
            )

    def _check_writable(self) -> None:
        if self.read_only:
            raise IndexUnavailable(LOOKED_AT)

    @contextmanager
    def _writing(self, space: SpaceId) -> Iterator[tuple[Statements, SpaceState]]:
        """A transaction that writes a space, and what is stored of it before."""
        self._check_writable()
        with self._translate_errors(), self._begin(space) as transaction:
            found = transaction.rows(_STATE.format(self._prefix), [key(space)])
            yield transaction, self._read_state(found)

    def _set_state(self, transaction: Statements, space: SpaceId, state: SpaceState) -> SpaceState:
        # A space that was dropped and made again has changed.
        state = replace(state, changed=state.changed or os.urandom(8))
        row = (state.rows, state.changed, state.mark.seq, state.mark.digest)
        transaction.execute((_SET_STATE.format(self._prefix), [key(space), self._made_with, *row]))
        return state

    def _read_state(self, found: Sequence[tuple[Any, ...]]) -> SpaceState:
        if not found:
            return SpaceState()
        made_with, rows, changed, seq, digest = found[0][:5]
        if made_with != self._made_with:
            raise self._mismatch(made_with)
        mark = History(seq=int(seq), digest=str(digest))
        return SpaceState(rows=int(rows), mark=mark, changed=changed)

    def _mismatch(self, made_with: str) -> IndexMismatch:
        return IndexMismatch(
            f"the index was built with {made_with}, not {self._made_with}; `reindex` rebuilds it from pages "
            "and ledger, without model calls"
        )

    def _join_segments(self, transaction: Statements, space: SpaceId) -> None:
        """Join the newest segments where they are many of one size, or enough for the next one."""
        segments = self._list(transaction, space)
        for size, smaller in reversed(list(zip(SIZES, (0, *SIZES), strict=False))):
            first = len(segments)
            while first and segments[first - 1][1] < size:
                first -= 1
            counts = [rows for _, rows in segments[first:]]
            many = sum(rows >= smaller for rows in counts) >= JOINED
            if len(counts) > 1 and (many or sum(counts) >= size):
                start = segments[first][0]
                block = self._read(transaction, space, start, start + sum(counts))
                transaction.execute((_DELETE_FROM.format(self._prefix), [key(space), start]))
                self._write_segment(transaction, space, start, block)
                return

    def _list(self, transaction: Statements, space: SpaceId) -> list[tuple[int, int]]:
        """The first number of each segment, and how many rows it has, in order."""
        found = transaction.rows(_LIST.format(self._prefix), [key(space)])
        return [(int(start), int(rows)) for start, rows in found]

    def _read(self, transaction: Statements, space: SpaceId, start: int, end: int) -> Block:
        """The rows of the segments that begin in a range, which follow each other."""
        return self._join_bodies(transaction.rows(_READ.format(self._prefix), [key(space), start, end]))

    def _write_segment(self, transaction: Statements, space: SpaceId, start: int, block: Block) -> None:
        """Put a segment in its place."""
        values = [key(space), start, len(block.rows), encode_segment(block, start)]
        transaction.execute((_PUT.format(self._prefix), values))

    def _join_bodies(self, segments: Sequence[tuple[int, int, object]]) -> Block:
        """The rows of segments that follow each other, each with its start and the number of its rows."""
        blocks: list[Block] = []
        at = segments[0][0]
        for start, rows, body in segments:
            blocks.append(decode_segment(body, at, self._dimensions))
            at += len(blocks[-1].rows)
            if start + rows != at:
                raise ValueError(f"a segment at {start} does not follow the one before it")
        return join_blocks(blocks)
