"""Segments in one SQLite file.

What is emptied is overwritten in the file. There is a rollback journal and no memory map, so that a full disk
is an error and not a signal.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import RLock
from typing import Any, LiteralString, Self

from pagestore import SpaceId
from pagestore.files import create_file
from tiermem.errors import IndexFull, IndexMismatch, IndexUnavailable, MemoryClosed
from tiermem.index.folder import damage_error
from tiermem.index.ownership import usable
from tiermem.index.segments import SCHEMA, TABLES, SegmentStore

WAIT = 10.0
"""Seconds to wait for another process that is writing."""

# Without a code the value of a column has a wrong type.
_DAMAGED = (0, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR)

_SETTINGS = """
    PRAGMA journal_mode = TRUNCATE;
    PRAGMA synchronous = FULL;
    PRAGMA secure_delete = ON;
    PRAGMA mmap_size = 0;
    PRAGMA temp_store = MEMORY;
"""


class SegmentFile(SegmentStore):
    """The rows of several spaces in a file."""

    def __init__(self, file: Path, dimensions: int, *, read_only: bool = False) -> None:
        super().__init__(dimensions, read_only=read_only)
        self._file = file
        self._lock = RLock()
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

    def rows(self, query: LiteralString, parameters: Sequence[object]) -> list[tuple[Any, ...]]:
        """See `SegmentStore.rows`."""
        with self._lock:
            return self._require_open().execute(query.replace("%s", "?"), parameters).fetchall()

    def execute(self, *statements: tuple[LiteralString, Sequence[object]]) -> None:
        """See `Statements.execute`."""
        for query, parameters in statements:
            self.rows(query, parameters)

    @contextmanager
    def _begin(self, space: SpaceId) -> Iterator[Self]:
        with self._lock:
            connection = self._require_open()
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield self
                connection.execute("COMMIT")
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

    def _require_open(self) -> sqlite3.Connection:
        if self._connection is None:
            raise MemoryClosed("this index was closed")
        try:
            is_same = self._file.stat().st_ino == self._inode
        except OSError:
            is_same = False
        if not is_same:
            raise IndexUnavailable(
                f"the index at {str(self._file.parent)!r} was made again by another process: open it again"
            )
        return self._connection

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
        if is_new and not self.read_only:
            for table in TABLES:
                connection.execute(table.format("", "BLOB"))
            connection.execute(f"PRAGMA user_version = {SCHEMA}")
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
