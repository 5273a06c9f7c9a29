"""Shards as earlier versions made them: the form of a large index."""

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import anyio
import qdrant_edge as engine

from pagestore import History, SpaceId
from tiermem.embedding.interface import Embedder
from tiermem.index.engine import COLLECTIONS, FILTERED, TERMS, TIMED, VECTORS, Point, mark_point
from tiermem.index.folder import agree, description
from tiermem.index.interface import Collection, Entry
from tiermem.index.memory import MemoryIndex

SEGMENT = 5_000
"""Vectors after which a segment is full, and what comes next starts another one."""
_SEGMENTS = 10_000
"""How many segments the engine may leave unmerged: all."""
_ANY = 1e-9
"""The share of removed entries above which a segment is rewritten: any."""
_ALL = 2**30
"""The size in kB up to which the engine scores every entry: any."""

Entries = Mapping[Collection, Sequence[Entry]]


class Points(MemoryIndex):
    """An index that keeps the points it is given."""

    def __init__(self, embedder: Embedder) -> None:
        super().__init__(embedder)
        self.points: dict[Collection, list[Point]] = {}

    def _upsert(self, collection: Collection, points: Sequence[Point]) -> None:
        self.points.setdefault(collection, []).extend(points)


def make_shards(
    path: Path, embedder: Embedder, spaces: Mapping[SpaceId, Entries], marks: Mapping[SpaceId, History]
) -> None:
    """Make the index of a directory as shards that hold these entries and marks."""

    async def encode() -> dict[Collection, list[Point]]:
        index = Points(embedder)
        for space, entries in spaces.items():
            for collection, some in entries.items():
                await index.put(space, collection, some)
        return index.points

    path.mkdir(parents=True, exist_ok=True)
    agree(path, description(embedder))
    points = anyio.run(encode)
    points.setdefault("units", []).extend(mark_point(space, mark) for space, mark in marks.items())
    for collection in COLLECTIONS:
        create_shard(path / collection, collection, embedder.dimensions)
        shard = engine.EdgeShard.load(str(path / collection))
        stored = [stored_point(point) for point in points.get(collection, ())]
        if stored:
            shard.update(engine.UpdateOperation.upsert_points(stored))
        shard.flush()
        shard.close()


def create_shard(place: Path, collection: Collection, dimensions: int) -> None:
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


def stored_point(point: Point) -> Any:
    vectors: dict[str, Any] = dict(point.vectors)
    for name, terms in point.terms.items():
        vectors[name] = engine.SparseVector(list(terms), list(terms.values()))
    return engine.Point(point.id, vectors, point.payload)
