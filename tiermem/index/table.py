"""The index of a store in PostgreSQL: rows of numbers, in segments in the database of the store.

The tables are in the schema `tiermem_rows`, and say with each space what its rows were made with. Several
processes may write a space, one at a time, each in one transaction. Every process that searches a space reads
its rows into memory, and later those that are new.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from copy import copy
from functools import partial
from itertools import chain
from typing import Any, LiteralString, Self

from anyio import CancelScope, to_thread

from pagestore import History, SpaceId
from tiermem.embedding.interface import Embedder
from tiermem.errors import (
    IndexMismatch,
    IndexUnavailable,
    install_command,
)
from tiermem.index.absent import open_or_explain
from tiermem.index.encoding import key
from tiermem.index.folder import description
from tiermem.index.interface import Index, IndexRequest
from tiermem.index.ownership import translate_database_errors
from tiermem.index.row_index import SegmentIndex, segments_name
from tiermem.index.segments import SCHEMA, TABLES, SegmentStore
from tiermem.index.values import COLLECTIONS, Collection

try:
    from tiermem.storage.postgres.database import (
        Transaction,
        acquire_database,
        release_database,
    )
except ImportError as missing:
    raise IndexUnavailable(
        f"an index in PostgreSQL needs a package: {install_command('postgres')}"
    ) from missing

_FIND_TABLE: LiteralString = (
    "SELECT FROM pg_tables WHERE schemaname = 'tiermem_rows' AND tablename = 'segments'"
)
_FIND_OTHERS: LiteralString = (
    "SELECT made_with FROM tiermem_rows.spaces WHERE made_with <> %s ORDER BY made_with LIMIT 1"
)


class SegmentTable(SegmentStore):
    """The rows of several spaces in a database."""

    _prefix = "tiermem_rows."

    def __init__(self, url: str, embedder: Embedder, *, read_only: bool = False) -> None:
        made_with = json.dumps({**description(embedder), "rows": SCHEMA})
        super().__init__(embedder.dimensions, made_with, read_only=read_only)
        with translate_database_errors():
            self._database = acquire_database(url, self, read_only=read_only, create=True)
        self._transaction: Transaction | None = None

    def within(self, transaction: Transaction) -> SegmentTable:
        """The same as seen in a transaction, which neither commits nor ends with a write."""
        inside = copy(self)
        inside._transaction = transaction  # noqa: SLF001
        return inside

    def prepare(self, *, fresh: bool) -> None:
        """Make the tables where there are none, or again with `fresh`.

        Raises `IndexMismatch` where a space was made with something else, and `IndexUnavailable` where there
        is no index and none may be made.
        """
        with self._translate_errors():
            if not self.read_only and (fresh or not self.rows(_FIND_TABLE, ())):
                self._make_tables(fresh=fresh)
            if not self.rows(_FIND_TABLE, ()):
                raise IndexUnavailable(f"there is no index in {self._database.name} yet")
            for (made_with,) in self.rows(_FIND_OTHERS, [self._made_with]):
                raise self._mismatch(made_with)

    def _make_tables(self, *, fresh: bool) -> None:
        with self._database.writing("index") as transaction:
            if fresh:
                transaction.execute(("DROP SCHEMA IF EXISTS tiermem_rows CASCADE", ()))
            if not transaction.rows(_FIND_TABLE):  # another process may have made them since
                transaction.execute(
                    ("CREATE SCHEMA tiermem_rows", ()),
                    *((table.format(self._prefix, "bytea"), ()) for table in TABLES),
                    # Compressing a segment takes longer than all else that is done with it.
                    ("ALTER TABLE tiermem_rows.segments ALTER body SET STORAGE EXTERNAL", ()),
                )

    def begin(self, space: str) -> Transaction:
        """Begin a long transaction under the lock of a name; raises `IndexLocked` after 30 s."""
        with self._translate_errors():
            return self._database.begin(f"index {key(space)}", is_long=True)

    def values(self, space: SpaceId) -> Iterator[tuple[str, str, bytes]]:
        """Every value of the tables of a space, without segments."""
        return self._database.values("tiermem_rows", key(space), without=("segments",))

    def close(self) -> None:
        """Close the connections, unless others of this process use them; idempotent."""
        release_database(self._database, self)

    def rows(self, query: LiteralString, parameters: Sequence[object]) -> list[tuple[Any, ...]]:
        """See `SegmentStore.rows`."""
        return (self._transaction or self._database).rows(query, parameters)

    @contextmanager
    def _begin(self, space: SpaceId) -> Iterator[Transaction]:
        if self._transaction is not None:
            yield self._transaction
            return
        with self._database.writing(f"index {key(space)}") as transaction:
            yield transaction

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        try:
            with translate_database_errors():
                yield
        except ValueError as error:
            raise IndexMismatch(
                f"the index in {self._database.name} is damaged ({error}); `reindex` rebuilds it, without "
                "model calls"
            ) from error


class TableIndex(SegmentIndex):
    """The index of a store, in the database of a URL. Opening blocks until the server answers.

    What is put outside of `writing` is durable when the call returns. Searches of this object find what is
    put inside before the block ends, and what others put from the next `mark` of the space on. Raises
    `IndexUnavailable` where the server cannot be used, `IndexMismatch` where a space was made with another
    embedder or schema; with `fresh` everything is forgotten first.
    """

    def __init__(self, url: str, embedder: Embedder, *, read_only: bool = False, fresh: bool = False) -> None:
        self._table = SegmentTable(url, embedder, read_only=read_only)
        try:
            self._table.prepare(fresh=fresh)
        except BaseException:
            self._table.close()
            raise
        super().__init__(embedder, self._table)
        self._written: dict[SpaceId, set[Collection]] = {}
        """The spaces that are written here now, and the collections that were read in their transactions."""
        self._space: SpaceId | None = None
        self._read_inside: set[Collection] = set()
        """Inside `writing`: its space, and the collections of it that were read there."""

    @asynccontextmanager
    async def writing(self, space: SpaceId) -> AsyncIterator[Self]:
        """See `SupportsTransactions.writing`."""
        transaction = await self._call(self._begin, space)
        inside = copy(self)
        inside._space, inside._read_inside = space, self._written[space]  # noqa: SLF001
        inside._segments = self._table.within(transaction)  # noqa: SLF001
        try:
            yield inside
            await self._call(inside._commit, space, transaction)  # noqa: SLF001
        finally:
            with CancelScope(shield=True):
                await to_thread.run_sync(inside._end, space, transaction)  # noqa: SLF001

    def _begin(self, space: SpaceId) -> Transaction:
        self._check_writable()
        transaction = self._table.begin(space)
        with self._segments_lock:
            self._written[space] = set()
        return transaction

    def _commit(self, space: SpaceId, transaction: Transaction) -> None:
        with self._segments_lock, translate_database_errors():
            self._write(space)
            transaction.commit()
            del self._written[space]

    def _end(self, space: SpaceId, transaction: Transaction) -> None:
        """Take back what was not committed."""
        with self._segments_lock, self._lock:
            if self._written.get(space) is self._read_inside:
                del self._written[space]
                for collection in COLLECTIONS:
                    self._held.pop((collection, space), None)
        with translate_database_errors():
            transaction.close()

    def _is_known(self, collection: Collection, space: SpaceId) -> bool:
        """Inside `writing`, whether it was read there; else whether it ever was: `mark` reads what is new."""
        if self._space == space:
            return collection in self._read_inside
        return (collection, space) in self._held

    def _mark(self, space: SpaceId) -> History:
        with self._segments_lock:
            if space in self._written:
                return super()._mark(space)
            for collection in COLLECTIONS:
                self._read(self._table, collection, space)
            return self._held["turns", space].state.mark

    def _read(self, segments: SegmentStore, collection: Collection, space: SpaceId) -> None:
        super()._read(segments, collection, space)
        if self._space == space:
            self._read_inside.add(collection)

    async def _change(self, space: SpaceId, change: Callable[[SegmentIndex], None]) -> None:
        if self._space == space:
            await super()._change(space, change)
            return
        async with self.writing(space) as inside:
            await inside._change(space, change)  # noqa: SLF001

    def _write_all(self) -> None:
        """Write what was put of the space that is written here: outside of `writing` there is nothing."""
        if self._space is not None:
            self._write(self._space)

    def values(self, space: SpaceId) -> Iterator[tuple[str, str, bytes]]:
        """See `HasTables.values`; without segments, which hold numbers and the ids of units alone."""
        return chain.from_iterable(
            self._table.values(segments_name(collection, space)) for collection in COLLECTIONS
        )


async def open_in_database(url: str, request: IndexRequest, *, fresh: bool) -> Index:
    """The index in the database of a store; read-only, none where there is none that can be used."""
    opened = partial(TableIndex, url, request.embedder, read_only=request.read_only, fresh=fresh)
    return await open_or_explain(opened, request)
