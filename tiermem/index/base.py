"""What every index of rows does alike: embed what it is given, and make a search a filter and a question."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Collection as Collection_
from dataclasses import replace
from typing import TypeVar

from anyio import to_thread

from pagestore import SessionId, SpaceId
from tiermem.embedding.interface import Embedder, Lexicon
from tiermem.embedding.words import lexicon_of, pieces_of
from tiermem.errors import MemoryClosed
from tiermem.index.bm25 import query_stems
from tiermem.index.candidates import Candidates, gather_candidates, pack_without_vectors
from tiermem.index.features import Block, RowFeatures, turn_features, unit_features
from tiermem.index.newest import Newest
from tiermem.index.rows import RowFilter, RowQuery
from tiermem.index.values import ALL_TIME, About, Collection, Entry, Hit, Mode, Period, Timeframe
from tiermem.llm.meter import current
from tiermem.text.unicode import join_surrogates

T = TypeVar("T")

BATCH = 256
"""Entries embedded at a time."""

DEPTH = 50
"""Candidates taken from each ranking before fusing, or twice the limit where that is more."""


RECENT = 16
"""Questions without a meter whose vector is kept."""


class BaseIndex(ABC):
    """An `Index` of rows. Awaited methods may be called concurrently; what blocks is done in threads."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._questions: Newest[str] = Newest()
        self._closed = False

    @abstractmethod
    async def _put_batch(self, space: SpaceId, collection: Collection, entries: Sequence[Entry]) -> None:
        """Put different entries of one owner."""

    @abstractmethod
    def _find(
        self,
        space: SpaceId,
        collection: Collection,
        query: RowQuery,
        allowed: RowFilter,
        limit: int,
    ) -> tuple[Hit, ...]:
        """The best by words, by meaning, or fused by both; without a text by meaning alone."""

    @abstractmethod
    def _candidates(self, space: SpaceId, query: RowQuery, allowed: RowFilter, limit: int) -> Candidates: ...

    @abstractmethod
    def _select(self, space: SpaceId, ids: Sequence[str]) -> Block:
        """The rows of turns, without vectors."""

    @abstractmethod
    def _count(self, space: SpaceId, collection: Collection, allowed: RowFilter) -> int: ...

    @abstractmethod
    def _close(self) -> None: ...

    async def put(self, space: SpaceId, collection: Collection, entries: Sequence[Entry]) -> None:
        """Insert or replace by id; of entries with one id the last counts."""
        by_owner: dict[str, list[Entry]] = {}
        for entry in {entry.id: entry for entry in entries}.values():
            by_owner.setdefault(entry.owner, []).append(entry)
        # Each owner's alone: the last digits of a vector depend on what is embedded with it.
        for owned in by_owner.values():
            for start in range(0, len(owned), BATCH):
                await self._put_batch(space, collection, owned[start : start + BATCH])

    async def _features(self, collection: Collection, entries: Sequence[Entry]) -> list[RowFeatures]:
        if collection == "units":
            return [unit_features(entry) for entry in entries]
        cut = pieces_of(await self.lexicon())
        features: list[RowFeatures] = []
        for turn in entries:
            if turn.context is None:
                raise ValueError("a turn is put with its context")
            features.append(turn_features(turn.context.page, turn.context.line, owner=turn.owner, cut=cut))
        return features

    async def _embed(self, texts: Sequence[str]) -> Mapping[str, Sequence[float]]:
        """The vectors of different texts."""
        return dict(zip(texts, await self._embedder.embed(texts) if texts else [], strict=True))

    async def _embed_question(self, question: str) -> Sequence[float] | None:
        """The vector of a question that is looked up in several ways: embedded once for what a meter pays.

        Another meter pays for it again: else its tokens would show that somebody else asked the same. Without
        a meter nothing shows, and the newest ones are kept.
        """
        meter = current()
        if meter is not None:
            key = (id(self._questions), question)
            if key not in meter.vectors:
                (meter.vectors[key],) = await self._embedder.embed([question])
            return meter.vectors[key]
        vectors = self._questions.of([question])
        if not vectors:
            (vectors[question],) = await self._embedder.embed([question])
            self._questions.put(vectors, most=RECENT)
        return vectors[question]

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
        values: tuple[int, ...] = (),
        owners: Collection_[str] | None = None,
    ) -> tuple[Hit, ...]:
        """Best first; equal scores in an order that does not depend on when entries were put.

        `score` is the cosine in `dense` mode, BM25 in `words` mode, the fused rank score (0 to 1)
        in `hybrid`; `similarity` is the cosine of the entry's best piece in the modes with meaning.
        """
        query = join_surrogates(query).strip()
        if limit < 1 or not query or (mode == "words" and not query_stems(query)) or _is_empty(within):
            return ()
        vector = await self._embed_question(query) if mode != "words" else None
        allowed = replace(_row_filter(session, within, owners), inactive=inactive, values=values)
        asked = RowQuery(text="" if mode == "dense" else query, vector=vector)
        return await self._call(self._find, space, collection, asked, allowed, limit)

    async def turns(
        self,
        space: SpaceId,
        question: str,
        *,
        limit: int,
        session: SessionId | None = None,
        periods: Sequence[Period] = (),
        within: Timeframe | None = None,
        values: tuple[int, ...] = (),
        owners: Collection_[str] | None = None,
    ) -> Candidates:
        """See `Searches.turns`."""
        question = join_surrogates(question).strip()
        if limit < 1 or not question or _is_empty(within):
            return gather_candidates(pack_without_vectors([]), [], 0)
        vector = await self._embed_question(question)
        query = RowQuery(text=question, vector=vector, periods=tuple(periods))
        allowed = replace(_row_filter(session, within, owners), values=values)
        return await self._call(self._candidates, space, query, allowed, limit)

    async def rows(self, space: SpaceId, ids: Sequence[str]) -> Block:
        """See `Searches.rows`."""
        return await self._call(self._select, space, ids)

    async def lexicon(self) -> Lexicon:
        """The embedder's words, or stems."""
        return await lexicon_of(self._embedder)

    async def count(
        self,
        space: SpaceId,
        collection: Collection,
        *,
        session: SessionId | None = None,
        owners: Collection_[str] | None = None,
    ) -> int:
        """How many entries of a space are stored, inactive ones included."""
        allowed = RowFilter(session=session, owners=owners, inactive=True)
        return await self._call(self._count, space, collection, allowed)

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
        always = Timeframe(periods=(ALL_TIME,), about=about)
        there, dated = [
            await self._call(self._count, space, collection, _row_filter(session, within, owners))
            for within in (None, always)
        ]
        return there - dated

    async def close(self) -> None:
        """Make everything durable and close what is open. Repeating it does nothing."""
        if not self._closed:
            self._closed = True
            await to_thread.run_sync(self._close)

    async def _call(self, function: Callable[..., T], *args: object) -> T:
        if self._closed:
            raise MemoryClosed("this index was closed")
        return await to_thread.run_sync(function, *args)


def _row_filter(
    session: SessionId | None, within: Timeframe | None, owners: Collection_[str] | None
) -> RowFilter:
    said, events = None, None
    if within is not None and within.about == "said":
        said = within.periods
    elif within is not None:
        events = within.periods
    return RowFilter(session=session, owners=owners, said=said, events=events)


def _is_empty(within: Timeframe | None) -> bool:
    """Whether nothing can lie in it."""
    return within is not None and not within.periods
