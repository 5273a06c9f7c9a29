"""The embedded index: one SQLite file, searched in the memory of this process.

    index/
      LOCK            shared by the processes that have the index open for writing
      index.json      schema, embedder and form
      entries.sqlite  entries and marks of all spaces
      entries.sqlite-journal  empty but while something is written

What is put is found at once and written together with the next mark, in one transaction: a mark never
claims more than the file holds. Transactions are short, so that several processes write, each its own
spaces, and others read. A space is read when it is first searched, and again where another process wrote
it since.

Two locks, the engine's taken before the tables': one is for who uses the connection, also while it waits for
the disk, the other for who uses what was read. While this process writes, no other can: then what it read
is all there is, and searching waits for no disk.

A rollback journal and no write-ahead log: readers need no file of their own, so that a read-only disk
will do, nothing of the size of a log lies beside a small index, and what was removed is in one file alone.
The file is never mapped: a full disk is an error and not a signal.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import RLock
from typing import Any, Literal
from uuid import UUID

from pagestore import History, SpaceId
from pagestore.files import create_file
from tiermem.embedding.interface import Embedder
from tiermem.errors import IndexFull, IndexUnavailable, MemoryClosed, SummaryIndexError
from tiermem.index import encoding
from tiermem.index.arrays import TERM_BYTES, ArraysIndex, PackedPoint, Table, by_space
from tiermem.index.engine import TERMS, VECTORS, Point
from tiermem.index.folder import (
    FILE,
    JOURNAL,
    agree,
    damage_error,
    description,
    forget_everything,
    is_index,
    restrict_access,
)
from tiermem.index.interface import Collection
from tiermem.index.ownership import Ownership, owned, usable

FORM = "sqlite"

PAGE = 1024
"""Bytes of a page of the file. A turn takes some six thousand, and half a page beyond."""

UNWRITTEN = 1_000
"""Entries put or removed after which they are written without a mark."""

WAIT = 10.0
"""Seconds to wait for another process that is writing."""

_FIELDS = ("meaning", "exchange", "words", "around")

_SETTINGS = f"""
    PRAGMA page_size = {PAGE};
    PRAGMA journal_mode = TRUNCATE;
    PRAGMA synchronous = FULL;
    PRAGMA secure_delete = ON;
    PRAGMA mmap_size = 0;
    PRAGMA temp_store = MEMORY;
"""
_TABLES = (
    "CREATE TABLE IF NOT EXISTS spaces "
    "(number INTEGER PRIMARY KEY, name TEXT UNIQUE NOT NULL, written BLOB, seq INTEGER, digest TEXT)",
    "CREATE TABLE IF NOT EXISTS entries "
    "(collection TEXT NOT NULL, point BLOB NOT NULL, space INTEGER NOT NULL, payload TEXT NOT NULL, "
    f"{', '.join(f'{name} BLOB' for name in _FIELDS)}, PRIMARY KEY (collection, point))",
    "CREATE INDEX IF NOT EXISTS by_space ON entries (space, collection)",
)


class SqliteIndex(ArraysIndex):
    """An index in one file of a directory; several processes may have it open, each for spaces of its own.

    Raises `IndexFull` where there is no room, `IndexLocked` when another process owns the directory,
    `IndexMismatch` when it was built with another embedder, schema or form or is damaged. With `fresh=True`
    what is there is deleted first. With `read_only=True` nothing is written, locked or made, and what
    another process writes meanwhile is found.
    """

    exclusive: Literal[True] = True

    def __init__(
        self, path: str | Path, embedder: Embedder, *, fresh: bool = False, read_only: bool = False
    ) -> None:
        super().__init__(embedder)
        self._path = Path(path)
        self._read_only = read_only
        self._read_at: dict[str, bytes | None] = {}
        self._shown: dict[str, History] = {}
        self._engine = RLock()
        self._alone = False
        """Whether this process writes: what was read is all there is until it has written."""
        self._version: int | None = None
        """Of the file as it was last looked at; writing of this process does not change it."""
        self._unwritten: dict[tuple[Collection, str, str], PackedPoint | None] = {}
        self._connection: sqlite3.Connection | None = None
        self._ownership: Ownership | None = None if read_only else owned(self._path, shared=True)
        try:
            with usable(self._path):
                if fresh:
                    self._forget_everything()
                self._agree()
                self._connection = self._connect()
                self._inode = (self._path / FILE).stat().st_ino
                if not read_only:
                    restrict_access(self._path)
        except BaseException:
            self.let_go()
            raise

    def _forget_everything(self) -> None:
        if self._ownership is None:
            raise IndexUnavailable(_LOOKED_AT)
        self._ownership.alone()
        forget_everything(self._path)
        self._ownership.share()

    def _agree(self) -> None:
        mine = description(self._embedder, form=FORM)
        if self._read_only and not is_index(self._path):
            raise IndexUnavailable(f"there is no index at {str(self._path)!r} yet")
        agree(self._path, mine)

    def _connect(self) -> sqlite3.Connection:
        file = self._path / FILE
        if any((self._path / name).is_symlink() for name in (FILE, JOURNAL)):
            raise damage_error(self._path, f"{FILE}: it lies elsewhere, and a link is not followed")
        if self._read_only and not file.exists():
            raise IndexUnavailable(f"there is no index at {str(self._path)!r} yet")
        if not file.exists():
            with suppress(FileExistsError):  # another process made it a moment ago
                create_file(file).close()
        where = f"{file.resolve().as_uri()}?mode={'ro' if self._read_only else 'rw'}"
        with self._translate_errors():
            connection = sqlite3.connect(
                where, uri=True, timeout=WAIT, isolation_level=None, check_same_thread=False
            )
            try:
                connection.executescript(_SETTINGS)
                self._lay_out(connection)
            except BaseException:
                connection.close()
                raise
        return connection

    def _lay_out(self, connection: sqlite3.Connection) -> None:
        """Make the tables of a new file."""
        if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            return
        if self._read_only:
            raise IndexUnavailable(f"there is nothing in the index at {str(self._path)!r} yet")
        connection.execute("BEGIN IMMEDIATE")
        for statement in _TABLES:
            connection.execute(statement)
        connection.execute("COMMIT")

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        """The engine's errors become ours."""
        try:
            yield
        except sqlite3.Error as error:
            kind = getattr(error, "sqlite_errorcode", 0) & 0xFF
            if kind == sqlite3.SQLITE_FULL:
                raise IndexFull(
                    f"the disk of the index at {str(self._path)!r} is full: what is new is not put into it "
                    "until there is room; what is stored is searched by its words"
                ) from error
            if kind in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR):
                raise damage_error(self._path, f"{FILE}: {error}") from error
            raise IndexUnavailable(f"the index at {str(self._path)!r} failed: {error}") from error
        except (ValueError, KeyError) as error:
            raise damage_error(self._path, f"{FILE}: {error}") from error

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """The connection, for one caller at a time."""
        with self._engine:
            if self._connection is None:
                raise MemoryClosed("this index was closed")
            try:
                same = (self._path / FILE).stat().st_ino == self._inode
            except OSError:
                same = False
            if not same:
                raise IndexUnavailable(
                    f"the index at {str(self._path)!r} was made again by another process: open it again"
                )
            with self._translate_errors():
                yield self._connection

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """All of it or nothing; durable when this ends."""
        if self._read_only:
            raise IndexUnavailable(_LOOKED_AT)
        with self._reading("BEGIN IMMEDIATE") as connection:
            self._alone = True
            try:
                yield connection
                connection.execute("COMMIT")
            finally:
                self._alone = False

    def _upsert(self, collection: Collection, points: Sequence[Point]) -> None:
        with self._lock:
            for space, entries in by_space(points).items():
                table = self._tables.get((collection, space))
                if table is not None:
                    table.put(entries)
                self._later({(collection, space, entry.id): entry for entry in entries})
        self._sync_in_time()

    def _delete(self, collection: Collection, space: str, point_ids: Sequence[str]) -> None:
        with self._lock:
            table = self._tables.get((collection, space))
            if table is not None:
                table.remove(point_ids)
            self._later(dict.fromkeys((collection, space, point_id) for point_id in point_ids))
        self._sync_in_time()

    def _later(self, changes: dict[tuple[Collection, str, str], PackedPoint | None]) -> None:
        if self._read_only:
            raise IndexUnavailable(_LOOKED_AT)
        self._unwritten |= changes

    def _sync_in_time(self) -> None:
        """Write what was put where that is much."""
        if len(self._unwritten) >= UNWRITTEN:
            self._sync()

    def _sync(self) -> None:
        with self._engine:
            if self._unwritten:
                with self._writing():
                    """What was put is all there is to write."""

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """Write what was put until now and what the caller adds; what is put meanwhile is left for later."""
        with self._transaction() as connection:
            with self._lock:
                changes = dict(self._unwritten)
            self._write(connection, changes)
            yield connection
        with self._lock:
            left = self._unwritten.items()
            self._unwritten = {one: entry for one, entry in left if changes.get(one, self) is not entry}

    def _write(
        self,
        connection: sqlite3.Connection,
        changes: Mapping[tuple[Collection, str, str], PackedPoint | None],
    ) -> None:
        numbers = {space: self._number(connection, space) for _, space, _ in changes}
        connection.executemany(
            "DELETE FROM entries WHERE collection = ? AND point = ?",
            ((collection, UUID(point_id).bytes) for collection, _, point_id in changes),
        )
        connection.executemany(
            "INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                (collection, UUID(entry.id).bytes, numbers[space], *_columns(entry))
                for (collection, space, _), entry in changes.items()
                if entry is not None
            ),
        )
        for space in numbers:
            self._touch(connection, space)

    def _number(self, connection: sqlite3.Connection, space: str) -> int:
        """The number of a space, made where it has none."""
        connection.execute("INSERT OR IGNORE INTO spaces (name) VALUES (?)", (space,))
        found = connection.execute("SELECT number FROM spaces WHERE name = ?", (space,)).fetchone()
        return int(found[0])

    def _touch(self, connection: sqlite3.Connection, space: str) -> None:
        """Say that a space was written; what was read of it is still all there is."""
        written = os.urandom(8)
        connection.execute("UPDATE spaces SET written = ? WHERE name = ?", (written, space))
        with self._lock:
            self._read_at[space] = written

    def _look_again(self, connection: sqlite3.Connection) -> None:
        """Forget what was read of spaces that another process wrote since."""
        (version,) = connection.execute("PRAGMA data_version").fetchone()
        if version == self._version:
            return
        there = dict(connection.execute("SELECT name, written FROM spaces"))
        with self._lock:
            self._version = version
            for collection, space in tuple(self._tables):
                if self._read_at.get(space) != there.get(space):
                    del self._tables[collection, space]
            self._read_at = there

    def _clear(self, collection: Collection, space: str) -> None:
        with self._engine:
            with self._transaction() as connection:
                number = self._number(connection, space)
                connection.execute(
                    "DELETE FROM entries WHERE space = ? AND collection = ?", (number, collection)
                )
                self._touch(connection, space)
                connection.execute(
                    "DELETE FROM spaces WHERE number = ? AND seq IS NULL "
                    "AND NOT EXISTS (SELECT 1 FROM entries WHERE space = spaces.number)",
                    (number,),
                )
            with self._lock:
                self._tables.pop((collection, space), None)
                others = {key: one for key, one in self._unwritten.items() if key[:2] != (collection, space)}
                self._unwritten = others

    @contextmanager
    def _table(self, collection: Collection, space: str) -> Iterator[Table]:
        while True:
            self._read_again(collection, space)
            with self._lock:
                table = self._tables.get((collection, space))
                if table is not None:
                    yield table
                    return

    def _read_again(self, collection: Collection, space: str) -> None:
        """Read what another process wrote since, and what was never read; nothing while this one writes."""
        with self._lock:
            if self._alone and (collection, space) in self._tables:
                return
        with self._reading() as connection:
            if (collection, space) not in self._tables:
                self._load(connection, collection, space)

    @contextmanager
    def _reading(self, begin: str = "BEGIN") -> Iterator[sqlite3.Connection]:
        """The file as it is now, with nothing left of what was read before another process wrote it.

        What is written and not committed when this ends is taken back.
        """
        with self._open() as connection:
            connection.execute(begin)
            try:
                self._look_again(connection)
                yield connection
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

    def _load(self, connection: sqlite3.Connection, collection: Collection, space: str) -> None:
        table = Table(collection, self._embedder.dimensions)
        found = connection.execute("SELECT number FROM spaces WHERE name = ?", (space,)).fetchone()
        if found:
            table.put(list(self._rows(connection, found[0], space, collection)))
        with self._lock:
            mine = {key[2]: entry for key, entry in self._unwritten.items() if key[:2] == (collection, space)}
            table.remove(mine)
            table.put([entry for entry in mine.values() if entry is not None])
            self._tables[collection, space] = table

    def _rows(
        self, connection: sqlite3.Connection, number: int, space: str, collection: Collection
    ) -> Iterator[PackedPoint]:
        vectors, terms = VECTORS[collection], TERMS[collection]
        sizes = dict.fromkeys(vectors, 4 * self._embedder.dimensions) | dict.fromkeys(terms, TERM_BYTES)
        rows = connection.execute(
            f"SELECT point, payload, {', '.join((*vectors, *terms))} FROM entries "  # noqa: S608  # constants
            "WHERE space = ? AND collection = ? ORDER BY rowid",
            (number, collection),
        )
        for point, payload, *fields in rows:
            blobs = dict(zip((*vectors, *terms), fields, strict=True))
            if any(len(blobs[name] or b"") % size for name, size in sizes.items()):
                raise ValueError("numbers of an entry are cut short")
            yield PackedPoint(
                id=str(UUID(bytes=point)),
                payload={**json.loads(payload), "space": space},
                vectors={name: blobs[name] for name in vectors if blobs[name]},
                terms={name: blobs[name] for name in terms if blobs[name]},
            )

    def show(self, space: SpaceId, mark: History | None) -> None:
        """See `Shows.show`."""
        if mark is None:
            self._shown.pop(space, None)
        else:
            self._shown[space] = mark

    async def mark(self, space: SpaceId) -> History:
        """The log that what is found reflects, durable or not; `History()` when nothing is."""
        shown = self._shown.get(space)
        return shown if shown is not None and not self._closed else await super().mark(space)

    def _mark(self, space: str) -> History:
        with self._reading() as connection:
            found = connection.execute(
                "SELECT seq, digest FROM spaces WHERE name = ? AND seq IS NOT NULL", (encoding.key(space),)
            ).fetchone()
            return History(seq=int(found[0]), digest=str(found[1])) if found else History()

    def _set_mark(self, space: str, mark: History) -> None:
        if mark == History():
            self._shown.pop(space, None)
        self._record(space, mark)

    def _forget_mark(self, space: str) -> None:
        self._shown.pop(space, None)
        self._record(space, None)

    def _record(self, space: str, mark: History | None) -> None:
        """The mark together with all that was put before it."""
        name = encoding.key(space)
        with self._writing() as connection:
            self._number(connection, name)
            values = (None, None) if mark is None else (mark.seq, mark.digest)
            connection.execute("UPDATE spaces SET seq = ?, digest = ? WHERE name = ?", (*values, name))

    def _compact(self) -> None:
        """Write the file again, so that it holds nothing that was removed; raises `SummaryIndexError`."""
        with self._engine:
            self._sync()
            with self._open() as connection:
                connection.execute("VACUUM")
        super()._compact()

    def _shut(self) -> None:
        with self._engine:
            try:
                if self._connection is not None:
                    # What cannot be written now is put again from the log: the mark does not claim it.
                    with suppress(SummaryIndexError):
                        self._sync()
            finally:
                self.let_go()

    def let_go(self) -> None:
        """Close the file and the directory as they are; repeating it does nothing."""
        with self._engine:
            with self._lock:
                for kept in (self._tables, self._unwritten, self._shown):
                    kept.clear()
            if self._connection is not None:
                self._connection.close()
                self._connection = None
        if self._ownership is not None:
            self._ownership.release()


_LOOKED_AT = "an index that was opened read-only is left as it is"


def _columns(entry: PackedPoint) -> tuple[Any, ...]:
    """What is written of an entry apart from its place; the space is in another column, as a number."""
    payload = {name: value for name, value in entry.payload.items() if name != "space"}
    fields = {**entry.vectors, **entry.terms}
    text = json.dumps(payload, separators=(",", ":"))
    return (text, *(fields.get(name) or None for name in _FIELDS))
