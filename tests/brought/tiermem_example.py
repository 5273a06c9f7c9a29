"""What a package that knows TierMem from outside brings: an embedder, an index and a reranker.

The entry points beside this file give them their names.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from threading import RLock
from typing import Any

from anyio import to_thread

from tiermem.embedding import Embedder, EmbedderRequest
from tiermem.index import AbsentIndex, Collection, Index, IndexRequest
from tiermem.index.bm25 import Terms, rarity
from tiermem.index.encoding import key
from tiermem.index.engine import COLLECTIONS, TIMES, Point, PointFilter, Probe, ProjectedIndex
from tiermem.index.fusion import Ranking
from tiermem.index.values import Timeframe
from tiermem.llm.meter import pay
from tiermem.model import Usage
from tiermem.reading.rerank import FoundPage, RerankerRequest
from tiermem.text import words
from tiermem.workspace import Item


class LetterEmbedder:
    """Counts letters, and pairs of them."""

    name = "letters"
    dimensions = 257

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        pay(Usage(embedding_tokens=sum(map(len, texts)), cost=0.0))
        return [self._vector(text.lower()) for text in texts]

    def _vector(self, text: str) -> list[float]:
        pairs = Counter((ord(a) * 31 + ord(b)) % 256 for a, b in pairwise(text))
        length = math.hypot(1.0, *pairs.values())
        return [1.0 / length, *(pairs[place] / length for place in range(256))]


async def open_letters(_: EmbedderRequest) -> LetterEmbedder:
    return LetterEmbedder()


class PlainIndex(ProjectedIndex):
    """Entries in dictionaries, kept in one JSON file where there is a folder for it."""

    def __init__(self, embedder: Embedder, file: Path | None = None) -> None:
        super().__init__(embedder)
        self._file = file
        self._lock = RLock()
        self._stored: dict[Collection, dict[str, Point]] = {name: {} for name in COLLECTIONS}
        if file is not None and file.exists():
            for collection, points in json.loads(file.read_text()).items():
                self._upsert(collection, [_read(point) for point in points])

    def _upsert(self, collection: Collection, points: Sequence[Point]) -> None:
        with self._lock:
            self._stored[collection].update((point.id, point) for point in points)

    def _delete(self, collection: Collection, space: str, point_ids: Sequence[str]) -> None:
        with self._lock:
            for point_id in point_ids:
                self._stored[collection].pop(point_id, None)

    def _clear(self, collection: Collection, space: str) -> None:
        self._delete(collection, space, [point.id for point in self._of(collection, space)])

    def _of(self, collection: Collection, space: str) -> list[Point]:
        with self._lock:
            return [p for p in self._stored[collection].values() if p.payload.get("space") == space]

    def _find(
        self, collection: Collection, allowed: PointFilter, probes: Sequence[Probe], limit: int
    ) -> list[Ranking]:
        points = self._seen(collection, allowed.corpus)
        return [
            [(point.payload["id"], score) for point, score in _ranked(points, allowed, probe)[:limit]]
            for probe in probes
        ]

    def _rarities(self, corpus: PointFilter, terms: Sequence[int]) -> list[float]:
        points = self._seen("turns", corpus)
        held = Counter(term for point in points for term in point.terms.get("around", ()))
        return [rarity(len(points), held[term]) for term in terms]

    def _seen(self, collection: Collection, allowed: PointFilter) -> list[Point]:
        return [point for point in self._of(collection, allowed.match["space"]) if _is_seen(point, allowed)]

    def _tally(self, collection: Collection, allowed: PointFilter) -> int:
        return len(self._seen(collection, allowed))

    def _payloads(
        self, collection: Collection, space: str, point_ids: Sequence[str]
    ) -> list[Mapping[str, Any]]:
        with self._lock:
            points = self._stored[collection]
            return [points[point_id].payload for point_id in point_ids if point_id in points]

    def _values(
        self, collection: Collection, corpus: PointFilter, field: str, wanted: Sequence[str]
    ) -> Iterable[str]:
        points = self._seen(collection, corpus)
        there = {value for point in points for value in point.payload.get(field, ())}
        return {value for value in wanted if key(value) in there}

    def _sync(self) -> None:
        if self._file is None:
            return
        with self._lock:
            kept = {name: [asdict(one) for one in points.values()] for name, points in self._stored.items()}
            unfinished = self._file.with_suffix(".new")
            unfinished.write_text(json.dumps(kept))
            unfinished.replace(self._file)

    def _shut(self) -> None:
        self._sync()


def _read(point: dict[str, Any]) -> Point:
    terms = {
        name: {int(term): weight for term, weight in one.items()} for name, one in point["terms"].items()
    }
    return Point(id=point["id"], vectors=point["vectors"], terms=terms, payload=point["payload"])


def _ranked(points: Sequence[Point], allowed: PointFilter, probe: Probe) -> list[tuple[Point, float]]:
    """What the allowed lets see and the probe touches, best first; rarity is that among all points given."""
    if isinstance(probe.by, dict):
        holders = Counter(term for point in points for term in point.terms.get(probe.field, ()))
        worth = {term: asked * rarity(len(points), holders[term]) for term, asked in probe.by.items()}
        scores = [_by_terms(point.terms.get(probe.field, {}), worth) for point in points]
    else:
        asked = probe.by
        scores = [
            max((_cosine(asked, vector) for vector in point.vectors.get(probe.field, ())), default=None)
            for point in points
        ]
    found = [
        (point, score)
        for point, score in zip(points, scores, strict=True)
        if score is not None and _is_seen(point, allowed)
    ]
    return sorted(found, key=lambda pair: (-pair[1], pair[0].payload["id"]))


def _by_terms(held: Terms, worth: Mapping[int, float]) -> float | None:
    shared = held.keys() & worth.keys()
    return math.fsum(held[term] * worth[term] for term in shared) if shared else None


def _cosine(left: Sequence[float], right: Sequence[float]) -> float:
    product = math.fsum(a * b for a, b in zip(left, right, strict=True))
    return product / (math.hypot(*left) * math.hypot(*right))


def _is_seen(point: Point, allowed: PointFilter) -> bool:
    return (
        all(point.payload.get(field) == value for field, value in allowed.match.items())
        and (allowed.among is None or point.id in allowed.among)
        and (allowed.owners is None or point.payload.get("owner") in (None, *allowed.owners))
        and all(_lies_in(point, timeframe) for timeframe in allowed.when)
    )


def _lies_in(point: Point, timeframe: Timeframe) -> bool:
    since, until = (point.payload.get(field, "")[:10] for field in TIMES[timeframe.about])
    return any(since <= last.isoformat() and until >= first.isoformat() for first, last in timeframe.periods)


async def open_plain(request: IndexRequest) -> Index:
    """`plain`, or `plain:` and the name of its file."""
    if request.read_only:
        return AbsentIndex("a plain index is left to whoever writes it")
    file = None
    if request.folder is not None:
        request.folder.mkdir(parents=True, exist_ok=True)
        file = request.folder / f"{request.name.partition(':')[2] or 'plain'}.json"
        if request.anew is not None:
            file.unlink(missing_ok=True)
    index = await to_thread.run_sync(PlainIndex, request.embedder, file)
    request.closing.push_async_callback(index.close)
    return index


class Overlap:
    """Fits the better, the more words of the question a page has."""

    async def score(self, question: str, found: Sequence[FoundPage]) -> Sequence[float]:
        asked = set(words(question))
        return [float(len(asked & set(words(one.page.text)))) for one in found]


async def open_overlap(_: RerankerRequest) -> Overlap:
    return Overlap()


class Longest:
    """Who takes most room gives way first."""

    name, ages = "longest", False

    def rank(self, item: Item, now: datetime) -> tuple[int]:
        """The fewest tokens last."""
        return (-item.tokens,)
