"""The shards of Qdrant's engine in which earlier versions kept a large index: read once, to become one file.

index/
  index.json            schema and embedder; it names no form
  units/ pages/ turns/  one shard each, for all spaces; the marks are with the units
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from pagestore import History
from tiermem.errors import IndexMismatch
from tiermem.index import encoding
from tiermem.index.engine import BATCH, COLLECTIONS, TERMS, VECTORS, Point
from tiermem.index.folder import damage_error
from tiermem.index.interface import Collection


class Shards:
    """The shards of a directory. Raises `IndexMismatch` if one is damaged, or without the engine."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.marks: dict[str, History] = {}
        """The mark of every space that has one, once the units were read."""
        for collection in COLLECTIONS:
            place = path / collection
            if any(one.is_symlink() for one in (place, place / "segments", *place.glob("segments/*"))):
                raise damage_error(path, f"{collection}: it lies elsewhere, and a link is not followed")
            if not any(place.glob("segments/*")):
                raise damage_error(path, f"{collection}: its segments are gone")

    def count(self) -> int:
        """Count the points of all shards, marks included."""
        total = 0
        for collection in COLLECTIONS:
            with self._shard(collection) as (engine, shard):
                total += shard.count(engine.CountRequest(exact=True))
        return int(total)

    def read(self) -> Iterator[tuple[Collection, list[Point]]]:
        """Read every entry, some at a time."""
        for collection in COLLECTIONS:
            with self._shard(collection) as (engine, shard):
                offset = None
                while True:
                    request = engine.ScrollRequest(
                        offset=offset, limit=BATCH, with_payload=True, with_vector=True
                    )
                    records, offset = shard.scroll(request)
                    points = [_point(collection, record) for record in records]
                    self._keep_marks(points)
                    yield collection, [point for point in points if "mark_of" not in point.payload]
                    if offset is None:
                        break

    def _keep_marks(self, points: list[Point]) -> None:
        for payload in (point.payload for point in points):
            if "mark_of" in payload:
                name = encoding.name_of(payload["mark_of"])
                self.marks[name] = History(seq=payload["mark"], digest=payload["history"])

    @contextmanager
    def _shard(self, collection: Collection) -> Iterator[tuple[Any, Any]]:
        """The engine and one shard; what the engine raises becomes ours."""
        try:
            import qdrant_edge as engine
        except ImportError as error:
            raise IndexMismatch(
                f"the index at {str(self._path)!r} is kept in shards by an earlier version: install "
                "'tiermem[shards]' to copy its vectors into one file when it is opened, or rebuild it by "
                "`reindex`, which embeds everything again"
            ) from error
        try:
            with closing(engine.EdgeShard.load(str(self._path / collection))) as shard:
                yield engine, shard
        except Exception as error:
            if isinstance(error, IndexMismatch):
                raise
            raise damage_error(self._path, f"{collection}: {error}") from error


def _point(collection: Collection, record: Any) -> Point:
    stored = record.vector or {}
    return Point(
        id=str(record.id),
        vectors={name: stored[name] for name in VECTORS[collection] if stored.get(name)},
        terms={
            name: dict(zip(stored[name].indices, stored[name].values, strict=True))
            for name in TERMS[collection]
            if name in stored
        },
        payload=dict(record.payload),
    )
