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
from collections.abc import Collection as Collection_
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from threading import RLock
from typing import Literal, TypeVar

import numpy as np
from anyio import to_thread

from pagestore import History, SessionId, SpaceId
from tiermem.embedding.interface import Embedder, Lexicon
from tiermem.embedding.words import lexicon_of, pieces_of
from tiermem.errors import IndexUnavailable, MemoryClosed, SummaryIndexError
from tiermem.index.bm25 import query_stems
from tiermem.index.candidates import Candidates, gather_candidates, pack_without_vectors
from tiermem.index.features import Block, RowFeatures, pack, turn_features, unit_features
from tiermem.index.fusion import fuse_meaning_and_words, rank_hits
from tiermem.index.question_vectors import QuestionVectors
from tiermem.index.rows import RowFilter, RowQuery, Rows
from tiermem.index.segments import LOOKED_AT, SegmentStore, SpaceState
from tiermem.index.values import ALL_TIME, About, Collection, Entry, Hit, Mode, Period, Timeframe
from tiermem.text.unicode import join_surrogates

T = TypeVar("T")

COLLECTIONS: tuple[Collection, ...] = ("units", "turns")
"""The mark of a space is that of its turns, which are written last and dropped first."""

BATCH = 256
"""Entries embedded at a time."""

DEPTH = 50
"""Candidates taken from each ranking before fusing, or twice the limit where that is more."""

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


class SegmentIndex:
    """An index of one store. Awaited methods may be called concurrently."""

    exclusive: Literal[True] = True
    links_turns: Literal[True] = True

    def __init__(self, embedder: Embedder, segments: SegmentStore | None) -> None:
        """Without segments nothing is written, and closing the index forgets everything."""
        self._embedder, self._segments = embedder, segments
        self._questions = QuestionVectors(embedder)
        self._held: dict[tuple[Collection, SpaceId], _SpaceRows] = {}
        self._marks: dict[SpaceId, History] = {}
        self._segments_lock, self._lock = RLock(), RLock()
        self._is_writing = False
        self._closed = False

    async def put(self, space: SpaceId, collection: Collection, entries: Sequence[Entry]) -> None:
        """Insert or replace by id; of entries with one id the last counts."""
        latest = {entry.id: entry for entry in entries}
        by_owner: dict[str, list[Entry]] = {}
        for entry in latest.values():
            by_owner.setdefault(entry.owner, []).append(entry)
        # Each owner's alone: the last digits of a vector depend on what is embedded with it.
        for theirs in by_owner.values():
            for start in range(0, len(theirs), BATCH):
                await self._put_batch(space, collection, theirs[start : start + BATCH])

    async def _put_batch(self, space: SpaceId, collection: Collection, entries: Sequence[Entry]) -> None:
        block, ids = await self._block(collection, entries), [entry.id for entry in entries]
        await self._change(space, lambda index: index._append(space, collection, ids, block))  # noqa: SLF001

    async def _change(self, space: SpaceId, change: Callable[[SegmentIndex], None]) -> None:
        """Change the index, which is this one."""
        await self._call(change, self)

    async def _block(self, collection: Collection, entries: Sequence[Entry]) -> Block:
        if collection == "units":
            features = [unit_features(entry) for entry in entries]
        else:
            features = await self._turn_features(entries)
        texts = list(dict.fromkeys(text for one in features for text in one.texts))
        vectors = await self._embedder.embed(texts) if texts else []
        return pack(features, dict(zip(texts, vectors, strict=True)), self._embedder.dimensions)

    async def _turn_features(self, turns: Iterable[Entry]) -> list[RowFeatures]:
        cut = pieces_of(await self.lexicon())
        features: list[RowFeatures] = []
        for turn in turns:
            if turn.context is None:
                raise ValueError("a turn is put with its context")
            features.append(turn_features(turn.context.page, turn.context.line, owner=turn.owner, cut=cut))
        return features

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

    async def search(
        self,
        space: SpaceId,
        collection: Collection,
        query: str,
        *,
        limit: int,
        mode: Mode = "hybrid",
        session: SessionId | None = None,
        inactive: bool = False,
        within: Timeframe | None = None,
        owners: Collection_[str] | None = None,
    ) -> tuple[Hit, ...]:
        """Best first; turns with equal scores in the order they were said, units in one of their words.

        `score` is the cosine in `dense` mode, BM25 in `words` mode, the fused rank score (0 to 1)
        in `hybrid`; `similarity` is the cosine of the entry's best piece in the modes with meaning.
        """
        query = join_surrogates(query).strip()
        stems = query_stems(query) if mode != "dense" else []
        if limit < 1 or not query or (mode == "words" and not stems) or _is_empty(within):
            return ()
        vector = await self._questions.embed(query) if mode != "words" else None
        allowed = _row_filter(session, inactive=inactive, within=within, owners=owners)
        find = partial(self._find, stems=stems, vector=vector, allowed=allowed, limit=limit)
        return await self._call(find, space, collection)

    def _find(
        self,
        space: SpaceId,
        collection: Collection,
        *,
        stems: Sequence[str],
        vector: Sequence[float] | None,
        allowed: RowFilter,
        limit: int,
    ) -> tuple[Hit, ...]:
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

    async def turns(
        self,
        space: SpaceId,
        question: str,
        *,
        limit: int,
        session: SessionId | None = None,
        periods: Sequence[Period] = (),
        within: Timeframe | None = None,
        owners: Collection_[str] | None = None,
    ) -> Candidates:
        """See `Searches.turns`."""
        question = join_surrogates(question).strip()
        if limit < 1 or not question or _is_empty(within):
            return gather_candidates(pack_without_vectors([]), [], 0)
        vector = await self._questions.embed(question)
        query = RowQuery(text=question, vector=vector, periods=tuple(periods))
        return await self._call(
            self._candidates, space, query, _row_filter(session, within=within, owners=owners), limit
        )

    def _candidates(self, space: SpaceId, query: RowQuery, allowed: RowFilter, limit: int) -> Candidates:
        with self._using("turns", space) as held:
            return held.rows.candidates(query, allowed, limit=limit)

    async def rows(self, space: SpaceId, ids: Sequence[str]) -> Block:
        """See `Searches.rows`."""
        return await self._call(self._select, space, ids)

    def _select(self, space: SpaceId, ids: Sequence[str]) -> Block:
        with self._using("turns", space) as held:
            numbers = [held.ids[id_] for id_ in ids if id_ in held.ids]
            return held.rows.select(np.array(numbers, np.int64), with_vectors=False)

    async def lexicon(self) -> Lexicon:
        """The embedder's words, or stems."""
        return await lexicon_of(self._embedder)

    async def count(
        self, space: SpaceId, collection: Collection, *, owners: Collection_[str] | None = None
    ) -> int:
        """How many entries of a space are stored, inactive ones included."""
        return await self._call(self._count, space, collection, RowFilter(owners=owners, inactive=True))

    def _count(self, space: SpaceId, collection: Collection, *allowed: RowFilter) -> int:
        with self._using(collection, space) as held:
            first, *others = map(held.rows.count, allowed)
            return first - sum(others)

    async def undated(
        self,
        space: SpaceId,
        collection: Collection,
        *,
        about: About = "said",
        session: SessionId | None = None,
        owners: Collection_[str] | None = None,
    ) -> int:
        """How many active entries have no such time."""
        whenever = Timeframe(periods=(ALL_TIME,), about=about)
        filters = [_row_filter(session, within=within, owners=owners) for within in (None, whenever)]
        return await self._call(self._count, space, collection, *filters)

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

    async def close(self) -> None:
        """Make everything durable and close the segments. Repeating it does nothing."""
        if not self._closed:
            self._closed = True
            await to_thread.run_sync(self._close)

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

    async def _call(self, function: Callable[..., T], *args: object) -> T:
        if self._closed:
            raise MemoryClosed("this index was closed")
        return await to_thread.run_sync(function, *args)

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


def _row_filter(
    session: SessionId | None,
    *,
    inactive: bool = False,
    within: Timeframe | None = None,
    owners: Collection_[str] | None = None,
) -> RowFilter:
    said, events = None, None
    if within is not None and within.about == "said":
        said = within.periods
    elif within is not None:
        events = within.periods
    return RowFilter(session=session, owners=owners, said=said, events=events, inactive=inactive)


def _is_empty(within: Timeframe | None) -> bool:
    """Whether nothing can lie in it."""
    return within is not None and not within.periods
