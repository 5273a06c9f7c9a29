"""An index in this process alone: nothing is written anywhere, and closing it forgets everything."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Literal

from pagestore import History
from tiermem.embedding.interface import Embedder
from tiermem.index.absent import AbsentIndex
from tiermem.index.arrays import ArraysIndex, Table, by_space
from tiermem.index.engine import Point
from tiermem.index.interface import Collection, Index, IndexRequest


class MemoryIndex(ArraysIndex):
    """An index of this process. Opening takes no time; there is nothing to read."""

    exclusive: Literal[True] = True

    def __init__(self, embedder: Embedder) -> None:
        super().__init__(embedder)
        self._marks: dict[str, History] = {}

    def _upsert(self, collection: Collection, points: Sequence[Point]) -> None:
        with self._lock:
            for space, entries in by_space(points).items():
                self._make_table(collection, space).put(entries)

    def _delete(self, collection: Collection, space: str, point_ids: Sequence[str]) -> None:
        with self._table(collection, space) as table:
            table.remove(point_ids)

    def _clear(self, collection: Collection, space: str) -> None:
        with self._lock:
            self._tables.pop((collection, space), None)

    @contextmanager
    def _table(self, collection: Collection, space: str) -> Iterator[Table]:
        with self._lock:
            yield self._make_table(collection, space)

    def _make_table(self, collection: Collection, space: str) -> Table:
        place = (collection, space)
        if place not in self._tables:
            self._tables[place] = Table(collection, self._embedder.dimensions)
        return self._tables[place]

    def _mark(self, space: str) -> History:
        with self._lock:
            return self._marks.get(space, History())

    def _set_mark(self, space: str, mark: History) -> None:
        with self._lock:
            self._marks[space] = mark

    def _forget_mark(self, space: str) -> None:
        with self._lock:
            self._marks.pop(space, None)

    def _shut(self) -> None:
        with self._lock:
            self._tables.clear()
            self._marks.clear()


async def open_in_process(request: IndexRequest) -> Index:
    """`memory`: built again from pages and ledger at each opening; none for a memory that makes nothing."""
    if request.read_only:
        return AbsentIndex("a memory opened read-only makes no index of its own")
    index = MemoryIndex(request.embedder)
    request.closing.push_async_callback(index.close)
    return index
