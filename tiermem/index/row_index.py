"""An index of rows of numbers, searched in the memory of this process, and kept in segments or nowhere.

What is put is found at once and written together with the next mark: a mark never claims more than the
segments hold. A space is read when it is first searched, and what another process wrote of it since is read
then.

Two locks, that of the segments taken before that of the rows: one is for who reads or writes segments, also
while it waits for the disk, the other for who uses what was read. While this process writes no other can:
then what was read is all there is, and searching waits for no disk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from threading import RLock
from typing import Literal

import numpy as np

from pagestore import History, SpaceId
from tiermem.collector import pause_collector
from tiermem.embedding.interface import Embedder
from tiermem.errors import IndexUnavailable, SummaryIndexError
from tiermem.index.base import DEPTH, BaseIndex
from tiermem.index.bm25 import query_stems
from tiermem.index.candidates import Candidates
from tiermem.index.features import Block, pack
from tiermem.index.fusion import fuse_meaning_and_words, rank_hits
from tiermem.index.rows import RowFilter, RowQuery, Rows
from tiermem.index.segments import LOOKED_AT, SegmentStore, SpaceState
from tiermem.index.values import COLLECTIONS, Collection, Entry, Hit

UNWRITTEN = 1_000
"""Rows of a space after which they are written without a mark."""


@dataclass(slots=True)
class _SpaceRows:
    """The rows of one space as they are searched, what segments hold of them, and what has to be emptied."""

    rows: Rows
    ids: dict[str, int] = field(default_factory=dict)
    state: SpaceState = SpaceState()  # noqa: RUF009  # frozen
    emptied: list[int] = field(default_factory=list)

    @property
    def is_written(self) -> bool:
        """Whether segments hold all of it."""
        return self.state.rows == len(self.rows) and not self.emptied

    def append(self, block: Block) -> None:
        """Add rows after the last one."""
        start = len(self.rows)
        self.rows.append(block)
        self.ids |= self.rows.ids(start)


class SegmentIndex(BaseIndex):
    """An index of one store, read from segments; the mark of a space is that of its turns, written last."""

    exclusive: Literal[True] = True
    links_turns: Literal[True] = True

    def __init__(self, embedder: Embedder, segments: SegmentStore | None) -> None:
        """Without segments nothing is written, and closing the index forgets everything."""
        super().__init__(embedder)
        self._segments = segments
        self._held: dict[tuple[Collection, SpaceId], _SpaceRows] = {}
        self._marks: dict[SpaceId, History] = {}
        self._segments_lock, self._lock = RLock(), RLock()
        self._is_writing = False

    async def _put_batch(self, space: SpaceId, collection: Collection, entries: Sequence[Entry]) -> None:
        features = await self._features(collection, entries)
        vectors = await self._embed(list(dict.fromkeys(text for one in features for text in one.texts)))
        block, ids = pack(features, vectors, self._embedder.dimensions), [entry.id for entry in entries]
        await self._change(space, lambda index: index._append(space, collection, ids, block))  # noqa: SLF001

    async def _change(self, space: SpaceId, change: Callable[[SegmentIndex], None]) -> None:
        """Change the index, which is this one."""
        await self._call(change, self)

    def _append(self, space: SpaceId, collection: Collection, ids: Sequence[str], block: Block) -> None:
        self._check_writable()
        with self._using(collection, space) as held:
            self._empty(held, ids)
            held.append(block)
            is_much = len(held.rows) - held.state.rows >= UNWRITTEN
        if is_much:
            self._write(space)

    def _empty(self, held: _SpaceRows, ids: Iterable[str]) -> None:
        numbers = [held.ids.pop(id_) for id_ in ids if id_ in held.ids]
        held.rows.empty(numbers)
        if self._segments is not None:
            held.emptied += numbers

    async def remove(self, space: SpaceId, collection: Collection, ids: Sequence[str]) -> None:
        """Forget ids; unknown ids are ignored."""
        if ids:
            await self._change(space, lambda index: index._remove(space, collection, ids))  # noqa: SLF001

    def _remove(self, space: SpaceId, collection: Collection, ids: Sequence[str]) -> None:
        self._check_writable()
        with self._using(collection, space) as held:
            self._empty(held, ids)

    def _find(
        self,
        space: SpaceId,
        collection: Collection,
        query: RowQuery,
        allowed: RowFilter,
        limit: int,
    ) -> tuple[Hit, ...]:
        stems, vector = query_stems(query.text), query.vector
        with self._using(collection, space) as held:
            rows, depth = held.rows, limit if vector is None or not stems else max(DEPTH, 2 * limit)
            near = [] if vector is None else rows.rank_by_meaning(vector, allowed, depth)
            words = rows.rank_by_words(stems, allowed, depth) if stems else []
            meaning, by_words = [[(rows.key(at), score) for at, score in one] for one in (near, words)]
            if vector is None:
                return tuple(Hit(id=id_, score=score) for (_, id_), score in rank_hits(by_words)[:limit])
            order = (fuse_meaning_and_words(meaning, by_words) if stems else rank_hits(meaning))[:limit]
            cosines = rows.similarities(vector, [held.ids[id_] for (_, id_), _ in order])
        found = zip(order, cosines, strict=True)
        return tuple(Hit(id=id_, score=score, similarity=cosine) for ((_, id_), score), cosine in found)

    def _candidates(self, space: SpaceId, query: RowQuery, allowed: RowFilter, limit: int) -> Candidates:
        with self._using("turns", space) as held:
            return held.rows.candidates(query, allowed, limit=limit)

    def _select(self, space: SpaceId, ids: Sequence[str]) -> Block:
        with self._using("turns", space) as held:
            numbers = [held.ids[id_] for id_ in ids if id_ in held.ids]
            return held.rows.select(np.array(numbers, np.int64)).without_vectors()

    def _count(self, space: SpaceId, collection: Collection, allowed: RowFilter) -> int:
        with self._using(collection, space) as held:
            return held.rows.count(allowed)

    async def mark(self, space: SpaceId) -> History:
        """The log that what is stored reflects; `History()` when nothing is."""
        return await self._call(self._mark, space)

    def _mark(self, space: SpaceId) -> History:
        if self._segments is None:
            return self._marks.get(space, History())
        with self._segments_lock:
            return self._segments.state(segments_name("turns", space)).mark

    async def set_mark(self, space: SpaceId, mark: History) -> None:
        """Say what the index reflects of the space, and make that and what was put before durable."""
        await self._change(space, lambda index: index._write(space, mark))  # noqa: SLF001

    async def drop(self, space: SpaceId) -> None:
        """Forget everything of a space, its mark too."""
        await self._change(space, lambda index: index._drop(space))  # noqa: SLF001

    def _drop(self, space: SpaceId) -> None:
        self._check_writable()
        with self._segments_lock:
            if self._segments is not None:
                for collection in reversed(COLLECTIONS):
                    self._segments.drop(segments_name(collection, space))
            with self._lock:
                self._marks.pop(space, None)
                for collection in COLLECTIONS:
                    self._held[collection, space] = self._new(collection)

    async def flush(self) -> None:
        """Make everything put so far durable."""
        await self._call(self._write_all)

    def _close(self) -> None:
        try:
            # What cannot be written now is put again from the log: the mark does not claim it.
            with suppress(SummaryIndexError):
                self._write_all()
        finally:
            self.let_go()

    def let_go(self) -> None:
        """Close the segments as they are; repeating it does nothing."""
        with self._segments_lock, self._lock:
            self._closed = True
            self._held.clear()
            self._marks.clear()
            if self._segments is not None:
                self._segments.close()

    def _check_writable(self) -> None:
        if self._segments is not None and self._segments.read_only:
            raise IndexUnavailable(LOOKED_AT)

    @contextmanager
    def _using(self, collection: Collection, space: SpaceId) -> Iterator[_SpaceRows]:
        """The rows of a space as they are now; they are not changed meanwhile."""
        if self._segments is not None and not self._is_known(collection, space):
            with self._segments_lock:
                if not self._is_known(collection, space):
                    self._read(self._segments, collection, space)
        with self._lock:
            if (collection, space) not in self._held:
                self._held[collection, space] = self._new(collection)
            yield self._held[collection, space]

    def _is_known(self, collection: Collection, space: SpaceId) -> bool:
        """Whether the rows that are held are all there are, as no other process can write the space now."""
        with self._lock:
            held = self._held.get((collection, space))
            return held is not None and (self._is_writing or not held.is_written)

    def _new(self, collection: Collection) -> _SpaceRows:
        return _SpaceRows(Rows(self._embedder.dimensions, kind=collection))

    def _read(self, segments: SegmentStore, collection: Collection, space: SpaceId) -> None:
        """Read what another process wrote since, or all of what was never read."""
        held = self._held.get((collection, space))
        loaded = segments.load(segments_name(collection, space), None if held is None else held.state)
        with self._lock:
            if held is None or (loaded.start == 0 and loaded.state.changed != held.state.changed):
                held = self._new(collection)
            if loaded.block is not None:
                with pause_collector():
                    held.append(loaded.block)
            held.state = loaded.state
            self._held[collection, space] = held

    def _write(self, space: SpaceId, mark: History | None = None) -> None:
        """Write all that was put of a space until now, with its mark last."""
        if mark is not None:
            self._check_writable()
        if self._segments is None:
            if mark is not None:
                self._marks[space] = mark
            return
        with self._segments_lock:
            self._is_writing = True
            try:
                for collection in COLLECTIONS:
                    self._write_rows(
                        self._segments, collection, space, mark if collection == COLLECTIONS[-1] else None
                    )
            finally:
                self._is_writing = False

    def _write_all(self) -> None:
        for space in {space: None for _, space in tuple(self._held)}:
            self._write(space)

    def _write_rows(
        self, segments: SegmentStore, collection: Collection, space: SpaceId, mark: History | None
    ) -> None:
        """Empty rows in segments, then add those that they lack: what a crash loses is put again."""
        name, held = segments_name(collection, space), self._held.get((collection, space))
        if held is None:
            if mark is not None:
                segments.append(name, None, mark=mark)
            return
        with self._lock:
            state, count, gone = held.state, len(held.rows), len(held.emptied)
            block = held.rows.select(np.arange(state.rows, count)) if state.rows < count else None
            emptied = [number for number in held.emptied if number < state.rows]
        if emptied:
            state = segments.empty(name, emptied)
        if block is not None or mark is not None:
            after = segments.append(name, block, mark=mark)
            state = state if block is None else after
        with self._lock:
            held.emptied, held.state = held.emptied[gone:], state


class RowIndex(SegmentIndex):
    """The index of a process, or of a file: it finds what is put before it is durable."""

    def __init__(
        self,
        embedder: Embedder,
        segments: SegmentStore | None = None,
        *,
        release: Callable[[], None] = lambda: None,
    ) -> None:
        """`release` is called when the index was closed."""
        super().__init__(embedder, segments)
        self._release = release
        self._shown: dict[SpaceId, History] = {}

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

    async def set_mark(self, space: SpaceId, mark: History) -> None:
        """Say what the index reflects of the space, and make it durable with all that was put before."""
        if mark == History():
            self._shown.pop(space, None)
        await super().set_mark(space, mark)

    def _drop(self, space: SpaceId) -> None:
        super()._drop(space)
        self._shown.pop(space, None)

    async def compact(self) -> None:
        """Leave nothing in any file that was removed: what is emptied there is overwritten."""
        await self._call(self._write_all)

    def let_go(self) -> None:
        """Close the file and the directory as they are; repeating it does nothing."""
        super().let_go()
        self._shown.clear()
        self._release()


def segments_name(collection: Collection, space: SpaceId) -> SpaceId:
    """The name of the rows of a space in segments."""
    return SpaceId(f"{collection} {space}")
