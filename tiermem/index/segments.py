"""Segments: rows of several spaces in one SQLite file.

A segment is a run of rows of one space, as bytes with a checksum. Rows keep their numbers when segments are
joined or rewritten. A write and the mark of its space are one transaction: a mark never claims more than the
file holds, and a write that fails changes nothing. What is emptied is overwritten in the file.

Several processes may use the file, each writing spaces of its own; a `SpaceState` shows what changed. There
is a rollback journal and no memory map, so that a full disk is an error and not a signal.
"""

from __future__ import annotations

import os
import sqlite3
import struct
import zlib
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import RLock

import numpy as np

from pagestore import History, SpaceId
from pagestore.files import create_file
from tiermem.errors import IndexFull, IndexMismatch, IndexUnavailable, MemoryClosed
from tiermem.index.encoding import key
from tiermem.index.features import ITEM_TYPES, ITEMS, ROW, Array, Block, join_blocks
from tiermem.index.folder import damage_error
from tiermem.index.ownership import usable

SCHEMA = 3
"""The version of rows and segments; a file of another one asks to be rebuilt."""

JOINED = 8
"""Segments of about one size that are joined."""

SIZES = (64, 512, 4096)
"""Rows from which on a segment is of the next size. Those of the last size stay as they are."""

LARGEST = 8192
"""Most rows of a segment."""

LOOKED_AT = "an index that was opened read-only is left as it is"

WAIT = 10.0
"""Seconds to wait for another process that is writing."""

_HEAD = struct.Struct("<4sIHHQ7I")
"""Signature, checksum of what follows it, schema, dimensions, first number, rows, and items of each kind."""
_SIGNATURE = b"TMsg"
_CHECKED_FROM = 8
# Without a code the value of a column has a wrong type.
_DAMAGED = (0, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR)

_SETTINGS = """
    PRAGMA journal_mode = TRUNCATE;
    PRAGMA synchronous = FULL;
    PRAGMA secure_delete = ON;
    PRAGMA mmap_size = 0;
    PRAGMA temp_store = MEMORY;
"""
_TABLES = (
    "CREATE TABLE spaces (number INTEGER PRIMARY KEY, name TEXT UNIQUE NOT NULL, "
    "rows INTEGER NOT NULL DEFAULT 0, written BLOB, changed BLOB, seq INTEGER, digest TEXT)",
    "CREATE TABLE segments (space INTEGER NOT NULL, start INTEGER NOT NULL, rows INTEGER NOT NULL, "
    "body BLOB NOT NULL, PRIMARY KEY (space, start))",
    f"PRAGMA user_version = {SCHEMA}",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SpaceState:
    """What is stored of a space: so many rows, up to which record of the log.

    `written` is another one after each write, `changed` after each write that changed rows which were there.
    """

    rows: int = 0
    mark: History = History()  # noqa: RUF009  # frozen
    written: bytes = b""
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


class SegmentFile:
    """The rows of several spaces in a file. Safe to use from several threads.

    Raises `IndexFull` where there is no room, `IndexMismatch` where the file is damaged or of another schema,
    `IndexUnavailable` where it cannot be used. With `read_only` nothing is written or made.
    """

    def __init__(self, file: Path, dimensions: int, *, read_only: bool = False) -> None:
        self._file, self._dimensions, self.read_only = file, dimensions, read_only
        self._lock = RLock()
        self._states: dict[SpaceId, SpaceState] = {}
        self._version: int | None = None
        with self._translate_errors():
            self._connection: sqlite3.Connection | None = self._connect()
        try:
            with self._translate_errors():
                self._prepare(self._connection)
                self._inode = self._file.stat().st_ino
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the file; idempotent."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def state(self, space: SpaceId) -> SpaceState:
        """What is stored of a space now, also by other processes."""
        with self._transaction("BEGIN") as connection:
            return self._state(connection, space)

    def load(self, space: SpaceId, since: SpaceState | None = None) -> LoadedRows:
        """All rows of a space, or those that are new `since` if no others changed."""
        with self._transaction("BEGIN") as connection:
            state = self._state(connection, space)
            start = since.rows if since is not None and since.changed == state.changed else 0
            if start == state.rows:
                return LoadedRows(state=state, start=start, block=None)
            segments = _list_segments(connection, space, start)
            if not segments or segments[0].start > start or segments[-1].end != state.rows:
                raise ValueError(f"segments of rows {start} to {state.rows} are missing")
            block = self._read(connection, segments)
        known = start - segments[0].start
        if known:
            block = block.select(np.arange(known, len(block.rows)))
        return LoadedRows(state=state, start=start, block=block)

    def append(self, space: SpaceId, block: Block | None, *, mark: History | None = None) -> int:
        """Add rows after the last one, and set the mark of the space; the number of the first row."""
        with self._writing(space, mark) as (connection, number):
            start = self._state(connection, space).rows
            count = 0 if block is None else len(block.rows)
            for first in range(0, count, LARGEST):
                if block is not None:
                    some = block.select(np.arange(first, min(count, first + LARGEST)))
                    _insert(connection, number, start + first, some)
            connection.execute("UPDATE spaces SET rows = ? WHERE number = ?", (start + count, number))
            self._join_segments(connection, space, number)
        return start

    def empty(self, space: SpaceId, numbers: Iterable[int], *, mark: History | None = None) -> None:
        """Remove what rows hold, so that no byte of it is left in the file."""
        with self._writing(space, mark) as (connection, number):
            ordered = sorted(set(numbers))
            for segment, taken in _locate(_list_segments(connection, space), ordered):
                places = [one - segment.start for one in ordered[taken]]
                block = self._read(connection, [segment]).without(places)
                _insert(connection, number, segment.start, block)
            _set_changed(connection, number)

    def drop(self, space: SpaceId) -> None:
        """Remove everything of a space, its mark too."""
        with self._writing(space, None) as (connection, number):
            connection.execute("DELETE FROM segments WHERE space = ?", (number,))
            connection.execute("DELETE FROM spaces WHERE number = ?", (number,))

    def _join_segments(self, connection: sqlite3.Connection, space: SpaceId, number: int) -> None:
        """Join the newest segments where they are many of one size, or enough for the next one."""
        segments = _list_segments(connection, space)
        for size, smaller in reversed(list(zip(SIZES, (0, *SIZES), strict=False))):
            first = len(segments)
            while first and segments[first - 1].rows < size:
                first -= 1
            small = segments[first:]
            many = sum(one.rows >= smaller for one in small) >= JOINED
            if len(small) > 1 and (many or sum(one.rows for one in small) >= size):
                block = self._read(connection, small)
                values = (number, small[0].start)
                connection.execute("DELETE FROM segments WHERE space = ? AND start >= ?", values)
                _insert(connection, number, small[0].start, block)
                return

    def _read(self, connection: sqlite3.Connection, segments: Sequence[_Segment]) -> Block:
        """The rows of segments that follow each other."""
        blocks: list[Block] = []
        start = segments[0].start
        for one in segments:
            query = "SELECT body FROM segments WHERE rowid = ?"
            (body,) = connection.execute(query, (one.rowid,)).fetchone()
            blocks.append(decode_segment(body, start, self._dimensions))
            start += len(blocks[-1].rows)
            if one.end != start:
                raise ValueError(f"a segment at {one.start} does not follow the one before it")
        return join_blocks(blocks)

    def _state(self, connection: sqlite3.Connection, space: SpaceId) -> SpaceState:
        (version,) = connection.execute("PRAGMA data_version").fetchone()
        if version != self._version:
            self._states.clear()
            self._version = version
        if space not in self._states:
            self._states[space] = _read_state(connection, space)
        return self._states[space]

    @contextmanager
    def _writing(self, space: SpaceId, mark: History | None) -> Iterator[tuple[sqlite3.Connection, int]]:
        """A transaction with the number of the space, whose mark and state it changes."""
        if self.read_only:
            raise IndexUnavailable(LOOKED_AT)
        with self._transaction("BEGIN IMMEDIATE") as connection:
            try:
                # A space that was dropped and made again has changed.
                values = (key(space), os.urandom(8))
                connection.execute("INSERT OR IGNORE INTO spaces (name, changed) VALUES (?, ?)", values)
                query = "SELECT number FROM spaces WHERE name = ?"
                number = int(connection.execute(query, (key(space),)).fetchone()[0])
                yield connection, number
                written = (os.urandom(8), number)
                connection.execute("UPDATE spaces SET written = ? WHERE number = ?", written)
                if mark is not None:
                    marked = (mark.seq, mark.digest, number)
                    connection.execute("UPDATE spaces SET seq = ?, digest = ? WHERE number = ?", marked)
                connection.execute("COMMIT")
            finally:
                self._states.pop(space, None)

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[sqlite3.Connection]:
        """What is not committed when this ends is taken back."""
        with self._lock, self._translate_errors():
            connection = self._connection
            if connection is None:
                raise MemoryClosed("this index was closed")
            self._check_same_file()
            connection.execute(begin)
            try:
                yield connection
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

    def _check_same_file(self) -> None:
        try:
            is_same = self._file.stat().st_ino == self._inode
        except OSError:
            is_same = False
        if not is_same:
            raise IndexUnavailable(
                f"the index at {str(self._file.parent)!r} was made again by another process: open it again"
            )

    def _connect(self) -> sqlite3.Connection:
        if not self.read_only:
            with usable(self._file), suppress(FileExistsError):
                create_file(self._file).close()
        where = f"{self._file.resolve().as_uri()}?mode={'ro' if self.read_only else 'rw'}"
        return sqlite3.connect(where, uri=True, timeout=WAIT, isolation_level=None, check_same_thread=False)

    def _prepare(self, connection: sqlite3.Connection) -> None:
        """Make the tables of a new file, and check the schema of another one."""
        connection.executescript(_SETTINGS)
        connection.execute("BEGIN" if self.read_only else "BEGIN IMMEDIATE")
        is_new = not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        for statement in _TABLES if is_new and not self.read_only else ():
            connection.execute(statement)
        (schema,) = connection.execute("PRAGMA user_version").fetchone()
        connection.execute("COMMIT")
        if is_new and self.read_only:
            raise IndexUnavailable(f"there is nothing in the index at {str(self._file)!r} yet")
        if schema != SCHEMA:
            raise IndexMismatch(
                f"the index at {str(self._file)!r} has schema {schema}, and this version of TierMem uses "
                f"{SCHEMA}; `reindex` rebuilds it from pages and ledger, without model calls"
            )

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            kind = getattr(error, "sqlite_errorcode", 0) & 0xFF
            if kind == sqlite3.SQLITE_FULL:
                raise IndexFull(
                    f"the disk of the index at {str(self._file)!r} is full: what is new is not put into it "
                    "until there is room; what is stored is searched by its words"
                ) from error
            if kind in _DAMAGED:
                raise damage_error(self._file, str(error)) from error
            raise IndexUnavailable(f"the index at {str(self._file)!r} failed: {error}") from error
        except ValueError as error:
            raise damage_error(self._file, str(error)) from error


@dataclass(frozen=True, slots=True)
class _Segment:
    rowid: int
    start: int
    rows: int

    @property
    def end(self) -> int:
        return self.start + self.rows


def _list_segments(connection: sqlite3.Connection, space: SpaceId, start: int = 0) -> list[_Segment]:
    """The segments that hold the rows of a space from a number on."""
    found = connection.execute(
        "SELECT rowid, start, rows FROM segments "
        "WHERE space = (SELECT number FROM spaces WHERE name = ?) AND start + rows > ? ORDER BY start",
        (key(space), start),
    )
    return [_Segment(*row) for row in found]


def _locate(segments: Iterable[_Segment], numbers: Sequence[int]) -> Iterator[tuple[_Segment, slice]]:
    """The segments that hold some of these numbers, in rising order, and which of them each holds."""
    for one in segments:
        held = slice(bisect_left(numbers, one.start), bisect_left(numbers, one.end))
        if held.start < held.stop:
            yield one, held


def _insert(connection: sqlite3.Connection, number: int, start: int, block: Block) -> None:
    """Put a segment in its place."""
    values = (number, start, len(block.rows), encode_segment(block, start))
    connection.execute("INSERT OR REPLACE INTO segments VALUES (?, ?, ?, ?)", values)


def _set_changed(connection: sqlite3.Connection, number: int) -> None:
    connection.execute("UPDATE spaces SET changed = ? WHERE number = ?", (os.urandom(8), number))


def _read_state(connection: sqlite3.Connection, space: SpaceId) -> SpaceState:
    found = connection.execute(
        "SELECT seq, digest, written, changed, rows FROM spaces WHERE name = ?", (key(space),)
    ).fetchone()
    if found is None:
        return SpaceState()
    seq, digest, written, changed, rows = found
    mark = History() if seq is None else History(seq=int(seq), digest=str(digest))
    return SpaceState(rows=int(rows), mark=mark, written=written or b"", changed=changed or b"")
