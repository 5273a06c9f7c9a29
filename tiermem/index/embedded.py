"""The embedded index of a store, in the form that fits its size: one file, or the shards of Qdrant's engine.

A small index is one SQLite file. One that has grown is copied into shards when it is next opened by the
only process that has it open: vectors, terms and marks as they are, nothing is embedded again. Until
`index.json` says so the file counts and the shards are nothing; from then on the shards count and the file
is nothing. Whatever a crash leaves of the other form is deleted at the next opening.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from tiermem.embedding.interface import Embedder
from tiermem.errors import IndexFull, IndexLocked, IndexUnavailable
from tiermem.index.arrays import Packed, unpacked
from tiermem.index.engine import BATCH, COLLECTIONS, Point
from tiermem.index.folder import (
    GROWING,
    forget_left_overs,
    forget_shards,
    form_of,
    give_description,
    sync,
)
from tiermem.index.ownership import opening
from tiermem.index.qdrant_edge import QdrantEdgeIndex
from tiermem.index.sqlite import SqliteIndex

GROWN = 10_000
"""Entries, of all spaces, beyond which an index is kept in shards: about 5,000 turns with their units.

Measured with vectors of 384 numbers: up to 5,000 turns opening and a first question take no more of the
processor than with shards (0.2 s), later ones as much (12 ms), and some 80 MB of memory; at twice as many,
searching takes half as long again as with shards, and opening twice as long.
"""


def open_embedded(
    path: Path, embedder: Embedder, *, fresh: bool = False, read_only: bool = False
) -> SqliteIndex | QdrantEdgeIndex:
    """The index of a directory, made where there is none. Blocking.

    Raises as the two forms do. With `read_only=True` shards are `IndexUnavailable`: one process has them.
    """
    if read_only:
        if form_of(path) == "shards":
            raise IndexUnavailable(
                f"the index at {str(path)!r} is kept in shards, which one process uses at a time: "
                "a memory opened read-only leaves them to the one that writes"
            )
        return SqliteIndex(path, embedder, read_only=True)
    with opening(path):
        if form_of(path) == "shards" and not fresh:
            shards = QdrantEdgeIndex(path, embedder)
            forget_left_overs(path)
            return shards
        small = SqliteIndex(path, embedder, fresh=fresh)
        try:
            forget_shards(path)
            return _in_shards(small, path, embedder) if small.entries() > GROWN else small
        except BaseException:
            small.let_go()
            raise


def _in_shards(small: SqliteIndex, path: Path, embedder: Embedder) -> SqliteIndex | QdrantEdgeIndex:
    """The same index in shards; as it is where another process has it open or there is no room."""
    try:
        small.own()
        _copy(small, path / GROWING, embedder)
    except (IndexLocked, IndexFull):
        forget_shards(path)
        small.share()
        return small
    for collection in COLLECTIONS:
        (path / GROWING / collection).rename(path / collection)
    sync(path)
    give_description(path / GROWING, path)  # from here on the shards count
    small.let_go()
    forget_left_overs(path)
    return QdrantEdgeIndex(path, embedder)


def _copy(small: SqliteIndex, place: Path, embedder: Embedder) -> None:
    """Everything the file holds, put into new shards; durable when this returns."""
    points = (
        (collection, batch)
        for collection in COLLECTIONS
        for batch in _batches(small.kept(collection), embedder.dimensions)
    )
    QdrantEdgeIndex(place, embedder).take_over(points, small.marks())


def _batches(entries: Iterator[Packed], dimensions: int) -> Iterator[list[Point]]:
    points = (unpacked(entry, dimensions) for entry in entries)
    while batch := list(islice(points, BATCH)):
        yield batch
