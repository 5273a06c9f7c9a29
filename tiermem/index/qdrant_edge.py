"""The embedded index of a store that has grown: Qdrant's own engine, on a directory that may be deleted.

    index/
      LOCK         which process owns the directory
      index.json   schema and embedder it was built with
      units/ pages/ turns/  one shard each, for all spaces

Search is exact: the engine scores the entries of the space asked about, so equal content ranks
equally whatever the order it came in (10,000 entries of one space: about a millisecond; 50,000: 11).
The approximate graph (HNSW) would be built by a call that stops the whole interpreter for seconds,
so it is left to the server. One process owns the directory; a second is told so.

A shard is made of segments of some thousand entries, of which one grows. What is removed stays in the
files of its segment until that is rewritten, which `compact` does with those segments alone. There is
no write-ahead log, which would hold what was removed as well: what is not flushed is put again.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import RLock
from typing import Any, Literal

import qdrant_edge as engine

from pagestore import History
from tiermem.embedding.interface import Embedder
from tiermem.errors import IndexFull, IndexUnavailable, MemoryClosed
from tiermem.index.bm25 import Terms, rarity
from tiermem.index.encoding import key
from tiermem.index.engine import (
    COLLECTIONS,
    FILTERED,
    TERMS,
    TIMED,
    TIMES,
    VALUES,
    VECTORS,
    Point,
    PointFilter,
    Probe,
    ProjectedIndex,
    mark_point,
)
from tiermem.index.folder import agree, damaged, description, restrict_access
from tiermem.index.fusion import Ranking
from tiermem.index.interface import About, Collection, Period, Timeframe
from tiermem.index.ownership import owned
from tiermem.index.room import demand_room, room_of

SEGMENT = 5_000
"""Vectors after which a segment is full, and what comes next starts another one."""

TIDIED = 2_000
"""Entries put or removed after which full segments are closed and what was removed from them is taken out.
That stops the whole interpreter for some tenths of a second."""

_SEGMENTS = 10_000
"""How many segments the engine may leave unmerged: all."""

_ANY = 1e-9
"""The share of removed entries above which a segment is rewritten: any."""

_ALL = 2**30
"""The size in kB up to which the engine scores every entry: any."""


_BESIDE = 16_384
"""Bytes of room for what a point takes beside vectors and terms."""


class QdrantEdgeIndex(ProjectedIndex):
    """An index in a directory of this machine. Opening blocks, for some 0.1 s.

    Raises `IndexFull` where the disk has too little room, `IndexLocked` when another process owns the
    directory, `IndexMismatch` when it was built with another embedder or schema or is damaged.
    """

    exclusive: Literal[True] = True

    def __init__(self, path: str | Path, embedder: Embedder) -> None:
        super().__init__(embedder)
        self._path = Path(path)
        self._lock = RLock()
        self._shards: dict[Collection, Any] = {}
        self._unsynced: set[Collection] = set()
        self._untidied: Counter[Collection] = Counter()
        demand_room(self._path)
        self._ownership = owned(self._path)
        try:
            self._agree()
            for collection in reversed(COLLECTIONS):
                self._shards[collection] = self._opened(collection)
            restrict_access(self._path)
        except BaseException:
            self._shut()  # or the directory stays locked for as long as the error is held
            raise

    def _agree(self) -> None:
        """Compare what the directory was built with, or write it down in a new one."""
        agree(self._path, description(self._embedder))
        there = [name for name in COLLECTIONS if (self._path / name).exists()]
        if "units" in there and len(there) < len(COLLECTIONS):
            # The marks are with the units and speak for all shards.
            missing = [name for name in COLLECTIONS if name not in there]
            raise damaged(self._path, f"its {' and '.join(missing)} are gone")

    def _opened(self, collection: Collection) -> Any:
        place = self._path / collection
        if any(one.is_symlink() for one in (place, place / "segments", *place.glob("segments/*"))):
            raise damaged(self._path, f"{collection}: it lies elsewhere, and a link is not followed")
        if not place.exists():
            _create(place, collection, self._embedder.dimensions)
        if not any(place.glob("segments/*")):
            # The engine would start with none, and the marks speak for all they held.
            raise damaged(self._path, f"{collection}: its segments are gone")
        try:
            return engine.EdgeShard.load(str(place))
        except Exception as error:
            raise damaged(self._path, f"{collection}: {error}") from error

    @contextmanager
    def _shard(self, collection: Collection) -> Iterator[Any]:
        """The shard, for one caller at a time; the engine's errors become ours."""
        with self._lock:
            if collection not in self._shards:
                raise MemoryClosed("this index was closed")
            try:
                yield self._shards[collection]
            except Exception as error:
                if isinstance(error, IndexFull):
                    raise
                raise IndexUnavailable(f"the index at {str(self._path)!r} failed: {error}") from error

    def _update(
        self, collection: Collection, operation: Any, *, entries: int = TIDIED, size: int = 0
    ) -> None:
        with self._shard(collection) as shard:
            demand_room(self._path, size)
            self._unsynced.add(collection)
            self._untidied[collection] += entries
            shard.update(operation)
            self._tidy_in_time(collection, shard)

    def _upsert(self, collection: Collection, points: Sequence[Point]) -> None:
        stored = [_stored(point) for point in points]
        size = sum(map(_size, points))
        self._update(collection, engine.UpdateOperation.upsert_points(stored), entries=len(stored), size=size)

    def _delete(self, collection: Collection, space: str, point_ids: Sequence[str]) -> None:
        self._update(
            collection, engine.UpdateOperation.delete_points(list(point_ids)), entries=len(point_ids)
        )

    def _clear(self, collection: Collection, space: str) -> None:
        self._update(collection, engine.UpdateOperation.delete_points_by_filter(_filter({"space": space})))

    def _find(
        self, collection: Collection, allowed: PointFilter, probes: Sequence[Probe], limit: int
    ) -> list[Ranking]:
        requests = [_request(allowed, probe, limit) for probe in probes]
        with self._shard(collection) as shard:
            results = shard.query_batch(engine.QueryBatchRequest(requests))
        return [[(hit.payload["id"], hit.score) for hit in hits] for hits in results]

    def _tally(self, collection: Collection, scope: PointFilter) -> int:
        with self._shard(collection) as shard:
            seen = _filter(scope.match, when=scope.when, owners=scope.owners)
            return int(shard.count(engine.CountRequest(exact=True, filter=seen)))

    def _payloads(
        self, collection: Collection, space: str, point_ids: Sequence[str]
    ) -> list[Mapping[str, Any]]:
        with self._shard(collection) as shard:
            return [found.payload for found in shard.retrieve(list(point_ids), True, False)]

    def _values(
        self, collection: Collection, corpus: PointFilter, field: str, wanted: Sequence[str]
    ) -> set[str]:
        keys = {key(value): value for value in wanted}
        conditions: list[Any] = [
            _filter(corpus.match, owners=corpus.owners),
            engine.FieldCondition(field, engine.MatchAny(list(keys))),
        ]
        # A point found by one value counts all values it has.
        request = engine.FacetRequest(field, limit=VALUES, exact=True, filter=engine.Filter(must=conditions))
        with self._shard(collection) as shard:
            return {keys[hit.value] for hit in shard.facet(request).hits if hit.value in keys}

    def _rarities(self, corpus: PointFilter, terms: Sequence[int]) -> list[float]:
        requests = [_request_for_rarity(corpus, term) for term in terms]
        with self._shard("turns") as shard:
            results = shard.query_batch(engine.QueryBatchRequest(requests))
        unsaid = rarity(self._tally("turns", corpus), 0)
        return [
            hits[0].score / _terms(hits[0].vector["around"])[term] if hits else unsaid
            for hits, term in zip(results, terms, strict=True)
        ]

    def take_over(
        self, points: Iterable[tuple[Collection, Sequence[Point]]], marks: Mapping[str, History]
    ) -> None:
        """Put what an index of another form kept, its marks last, and close; durable when this returns."""
        try:
            for collection, some in points:
                self._upsert(collection, some)
            self._sync()
            self._upsert("units", [mark_point(space, mark) for space, mark in marks.items()])
        finally:
            self._shut()

    def _sync(self) -> None:
        with self._lock:
            # Units last: the marks are with them and speak for all.
            for collection in reversed(COLLECTIONS):
                if collection not in self._unsynced:
                    continue
                with self._shard(collection) as shard:
                    shard.flush()
                    self._unsynced.discard(collection)
                    self._tidy_in_time(collection, shard)

    def _tidy_in_time(self, collection: Collection, shard: Any) -> None:
        """Tidy what much was put into or removed from, or a segment would grow without end."""
        if self._untidied[collection] >= TIDIED:
            with suppress(IndexFull):  # it is only put off
                self._tidy(collection, shard)

    def _tidy(self, collection: Collection, shard: Any) -> None:
        """Close what is full and rewrite every segment from which something was removed."""
        demand_room(self._path, room_of(self._path / collection))
        shard.optimize()
        shard.flush()  # the files of segments that were replaced go only now
        del self._untidied[collection]
        restrict_access(self._path, collection)

    async def compact(self) -> None:
        """Rewrite what segments anything was removed from, so that no file of theirs holds it."""
        self._kept.clear()
        await self._call(self._compact)

    def _compact(self) -> None:
        with self._lock:
            self._sync()
            for collection in reversed(COLLECTIONS):
                with self._shard(collection) as shard:
                    self._tidy(collection, shard)

    def _shut(self) -> None:
        with self._lock:
            try:
                if self._shards:
                    self._sync()
            finally:
                opened = bool(self._shards)
                while self._shards:
                    self._shards.popitem()[1].close()
                if opened:
                    restrict_access(self._path)
                self._ownership.release()


def _create(place: Path, collection: Collection, dimensions: int) -> None:
    """Make an empty shard, complete or not at all."""
    unfinished = place.with_name(place.name + ".new")
    shutil.rmtree(unfinished, ignore_errors=True)
    several = engine.MultiVectorConfig(engine.MultiVectorComparator.MaxSim)
    dense = engine.EdgeVectorParams(dimensions, engine.Distance.Cosine, multivector_config=several)
    config = engine.EdgeConfig(
        vectors=dict.fromkeys(VECTORS[collection], dense),
        sparse_vectors={
            name: engine.EdgeSparseVectorParams(modifier=engine.Modifier.Idf) for name in TERMS[collection]
        },
        # Without edges (m=0) a full segment is no graph.
        hnsw_config=engine.HnswIndexConfig(m=0, payload_m=0, ef_construct=4, full_scan_threshold=_ALL),
        optimizers=engine.EdgeOptimizersConfig(
            indexing_threshold=max(1, SEGMENT * dimensions * 4 // 1000),
            default_segment_number=_SEGMENTS,
            deleted_threshold=_ANY,
            vacuum_min_vector_number=1,
        ),
        wal_enabled=False,
    )
    shard = engine.EdgeShard.create(str(unfinished), config)
    for name in FILTERED[collection]:
        params = engine.KeywordIndexParams(is_tenant=name == "space")
        shard.update(engine.UpdateOperation.create_field_index(name, params))
    for name in TIMED[collection]:
        shard.update(engine.UpdateOperation.create_field_index(name, engine.DatetimeIndexParams()))
    shard.flush()
    shard.close()
    unfinished.rename(place)


def _size(point: Point) -> int:
    """About how many bytes a point takes up, at most."""
    numbers = sum(len(vector) for vectors in point.vectors.values() for vector in vectors)
    return 4 * numbers + 16 * sum(map(len, point.terms.values())) + _BESIDE


def _stored(point: Point) -> Any:
    vectors: dict[str, Any] = dict(point.vectors)
    for name, terms in point.terms.items():
        vectors[name] = engine.SparseVector(list(terms), list(terms.values()))
    return engine.Point(point.id, vectors, point.payload)


def _terms(vector: Any) -> Terms:
    return dict(zip(vector.indices, vector.values, strict=True))


def _request(allowed: PointFilter, probe: Probe, limit: int, *, with_vector: bool = False) -> Any:
    if isinstance(probe.by, dict):
        terms = engine.SparseVector(list(probe.by), list(probe.by.values()))
        query = engine.Query.Nearest(terms, probe.field)
        # IDF over what may be seen: what others store neither shows in a score nor moves a rank.
        corpus = _filter(allowed.corpus.match, owners=allowed.owners)
        params = engine.SearchParams(idf=engine.IdfParams(corpus))
    else:
        query = engine.Query.Nearest([probe.by], probe.field)
        params = engine.SearchParams(exact=True)
    return engine.QueryRequest(
        limit=limit,
        query=query,
        filter=_filter(allowed.match, allowed.among, allowed.when, allowed.owners),
        with_payload=["id"],
        with_vector=[probe.field] if with_vector else None,
        params=params,
    )


def _request_for_rarity(corpus: PointFilter, term: int) -> Any:
    """The turn that a term finds first: its score is the IDF times the weight of the term there."""
    probe = Probe(field="around", by={term: 1.0})
    return _request(corpus, probe, 1, with_vector=True)


def _filter(
    match: Mapping[str, str],
    among: Sequence[str] | None = None,
    when: Sequence[Timeframe] = (),
    owners: Sequence[str] | None = None,
) -> Any:
    conditions: list[Any] = [
        engine.FieldCondition(field, engine.MatchValue(value)) for field, value in match.items()
    ]
    if owners is not None:
        of_nobody = engine.IsEmptyCondition("owner")
        theirs = [engine.FieldCondition("owner", engine.MatchAny(list(owners)))] if owners else []
        conditions.append(engine.Filter(should=[of_nobody, *theirs]))
    if among is not None:
        conditions.append(engine.HasIdCondition(set(among)))
    conditions += [
        engine.Filter(should=[_overlap(timeframe.about, period) for period in timeframe.periods])
        for timeframe in when
    ]
    return engine.Filter(must=conditions)


def _overlap(about: About, period: Period) -> Any:
    """Whether it begins before the period ends, and ends after it begins."""
    (since, until), (first, last) = TIMES[about], period
    begins = engine.RangeDateTime(lte=f"{last}T23:59:59.999999")
    ends = engine.RangeDateTime(gte=f"{first}T00:00")
    both: list[Any] = [engine.FieldCondition(since, range=begins), engine.FieldCondition(until, range=ends)]
    return engine.Filter(must=both)
