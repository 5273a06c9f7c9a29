"""What every vector engine does alike: encode entries, search by meaning and words, fuse, keep marks.

An adapter says how its engine stores, finds and forgets points (blocking); here these calls are
awaited in worker threads. A mark is written only after everything before it is durable, and removed
before anything it stands for, so it never claims more than the index holds.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from anyio import to_thread

from pagestore import SessionId, SpaceId
from tiermem.errors import MemoryClosed
from tiermem.index import encoding
from tiermem.index.fusion import Ranking, fuse, ranked
from tiermem.index.interface import Collection, Embedder, Entry, Hit, Mode

T = TypeVar("T")

COLLECTIONS: tuple[Collection, ...] = ("units", "pages")
BATCH = 256
DEPTH = 50
"""Candidates taken from each ranking before fusing, or twice the limit where that is more."""

SLACK = 10
"""Taken beyond the limit of a single ranking, so that equal scores at its end are cut by id."""

Vector = list[float]
Terms = dict[int, float]
Probe = Vector | Terms
"""What to rank points by: a vector (meaning) or term weights (words)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One stored thing: vectors of its pieces, term weights, and what filters see."""

    id: str
    vectors: list[Vector] = field(default_factory=list)
    terms: Terms = field(default_factory=dict)
    payload: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What a search may see. `match` holds the exact values the fields of a point must have."""

    space: str
    match: Mapping[str, str]
    among: tuple[str, ...] | None = None
    """Point ids to which the search is confined; `None` for no such limit."""


class ProjectedIndex(ABC):
    """An `Index` over an engine of points. Awaited methods may be called concurrently."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._closed = False

    @abstractmethod
    def _upsert(self, collection: Collection, points: Sequence[Point]) -> None: ...

    @abstractmethod
    def _delete(self, collection: Collection, point_ids: Sequence[str]) -> None: ...

    @abstractmethod
    def _clear(self, collection: Collection, space: str) -> None: ...

    @abstractmethod
    def _find(
        self, collection: Collection, scope: Scope, probes: Sequence[Probe], limit: int
    ) -> list[Ranking]:
        """One ranking of entry keys for each probe."""

    @abstractmethod
    def _tally(self, collection: Collection, space: str) -> int: ...

    @abstractmethod
    def _payload(self, collection: Collection, point_id: str) -> Mapping[str, Any] | None: ...

    @abstractmethod
    def _sync(self) -> None: ...

    @abstractmethod
    def _shut(self) -> None: ...

    async def put(self, space: SpaceId, collection: Collection, entries: Sequence[Entry]) -> None:
        """Insert or replace by id; of entries with one id the last counts."""
        latest = list({entry.id: entry for entry in entries}.values())
        for start in range(0, len(latest), BATCH):
            points = await self._points(space, collection, latest[start : start + BATCH])
            await self._call(self._upsert, collection, points)

    async def _points(self, space: str, collection: Collection, entries: Sequence[Entry]) -> list[Point]:
        texts = [encoding.pieces(entry.text) for entry in entries]
        flat = [piece for pieces in texts for piece in pieces]
        vectors = iter(await self._embedder.embed(flat) if flat else ())
        return [
            Point(
                id=encoding.point_id(space, entry.id),
                vectors=[next(vectors) for _ in pieces],
                terms=encoding.document_terms(entry.text, collection),
                payload=_payload_of(space, entry),
            )
            for entry, pieces in zip(entries, texts, strict=True)
        ]

    async def remove(self, space: SpaceId, collection: Collection, ids: Sequence[str]) -> None:
        """Forget ids; unknown ids are ignored."""
        if ids:
            await self._call(self._delete, collection, [encoding.point_id(space, entry) for entry in ids])

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
    ) -> tuple[Hit, ...]:
        """Best first; equal scores in the order of their ids.

        `score` is the cosine in `dense` mode, BM25 in `words` mode, the fused rank score (0 to 1)
        in `hybrid`; `similarity` is the cosine of the entry's best piece in the modes with meaning.
        """
        query = encoding.clean(query).strip()
        terms = encoding.query_terms(query) if mode != "dense" else {}
        if limit < 1 or not query or (mode == "words" and not terms):
            return ()
        scope = _scope(space, session, inactive=inactive)
        vector = (await self._embedder.embed([query]))[0] if mode != "words" else None
        rank = self._by_one if mode != "hybrid" else self._by_both
        return await self._call(rank, collection, scope, vector, terms, limit)

    def _by_one(
        self, collection: Collection, scope: Scope, vector: Vector | None, terms: Terms, limit: int
    ) -> tuple[Hit, ...]:
        probe = terms if vector is None else vector
        order = ranked(self._find(collection, scope, [probe], limit + SLACK)[0])[:limit]
        return _hits(order, {} if vector is None else dict(order))

    def _by_both(
        self, collection: Collection, scope: Scope, vector: Vector, terms: Terms, limit: int
    ) -> tuple[Hit, ...]:
        probes: list[Probe] = [vector, terms] if terms else [vector]
        meaning, *words = self._find(collection, scope, probes, max(DEPTH, 2 * limit))
        order = fuse(meaning, words[0] if words else ())[:limit]
        similarity = dict(meaning)
        unseen = [entry for entry, _ in order if entry not in similarity]
        if unseen:
            similarity |= self._similarities(collection, scope, vector, unseen)
        return _hits(order, similarity)

    def _similarities(
        self, collection: Collection, scope: Scope, vector: Vector, entries: Sequence[str]
    ) -> dict[str, float]:
        """Cosines of entries that words found and meaning ranked too low to be a candidate."""
        ids = tuple(encoding.point_id(scope.space, encoding.name_of(entry)) for entry in entries)
        confined = Scope(space=scope.space, match=scope.match, among=ids)
        return dict(self._find(collection, confined, [vector], len(ids))[0])

    async def count(self, space: SpaceId, collection: Collection) -> int:
        """How many entries of a space are stored, inactive ones included."""
        return await self._call(self._tally, collection, encoding.key(space))

    async def mark(self, space: SpaceId) -> int:
        """The ledger record up to which this index reflects the space; -1 when it holds nothing."""
        payload = await self._call(self._payload, "units", encoding.mark_id(space))
        return int(payload["mark"]) if payload else -1

    async def set_mark(self, space: SpaceId, seq: int) -> None:
        """Say that the index reflects the space up to `seq`: what was put before is made durable first."""
        # The mark's point has no field `space`, so no search, count or clearing of a space ever sees it.
        point = Point(id=encoding.mark_id(space), payload={"mark_of": encoding.key(space), "mark": seq})
        await self._call(self._sync)
        await self._call(self._upsert, "units", [point])

    async def drop(self, space: SpaceId) -> None:
        """Forget everything of a space, its mark first."""
        await self._call(self._delete, "units", [encoding.mark_id(space)])
        await self._call(self._sync)
        for collection in COLLECTIONS:
            await self._call(self._clear, collection, encoding.key(space))

    async def flush(self) -> None:
        """Make everything put so far durable."""
        await self._call(self._sync)

    async def close(self) -> None:
        """Make everything durable and let go of the engine. Closing twice is one close."""
        if not self._closed:
            self._closed = True
            await to_thread.run_sync(self._shut)

    async def _call(self, function: Callable[..., T], *args: object) -> T:
        if self._closed:
            raise MemoryClosed("this index was closed")
        return await to_thread.run_sync(function, *args)


def _payload_of(space: str, entry: Entry) -> dict[str, Any]:
    """What is stored beside the vectors: names and times, never words."""
    return {
        "space": encoding.key(space),
        "session": encoding.key(entry.session),
        "id": encoding.key(entry.id),
        "state": "active" if entry.active else "inactive",
        "kind": encoding.key(entry.kind),
        "pages": [encoding.key(page) for page in entry.page_ids],
        "said_at": entry.said_at.isoformat() if entry.said_at else None,
    }


def _hits(order: Ranking, similarity: Mapping[str, float]) -> tuple[Hit, ...]:
    return tuple(
        Hit(id=encoding.name_of(entry), score=score, similarity=similarity.get(entry))
        for entry, score in order
    )


def _scope(space: str, session: str | None, *, inactive: bool) -> Scope:
    match = {"space": encoding.key(space)}
    if session is not None:
        match["session"] = encoding.key(session)
    if not inactive:
        match["state"] = "active"
    return Scope(space=space, match=match)
