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

from anyio import to_thread

from tiermem.embedding.interface import Embedder
from tiermem.errors import IndexFull, IndexLocked, IndexUnavailable, SummaryIndexError
from tiermem.index.absent import AbsentIndex
from tiermem.index.arrays import Packed, unpacked
from tiermem.index.engine import BATCH, COLLECTIONS, Point, ProjectedIndex
from tiermem.index.folder import (
    GROWING,
    forget_left_overs,
    forget_shards,
    form_of,
    give_description,
    sync,
)
from tiermem.index.interface import Index, IndexRequest
from tiermem.index.memory import open_in_process
from tiermem.index.ownership import opening
from tiermem.index.qdrant_edge import QdrantEdgeIndex
from tiermem.index.shared import InUse, SharedParts
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


_opened: SharedParts[SqliteIndex | QdrantEdgeIndex] = SharedParts()


async def open_in_folder(request: IndexRequest) -> Index:
    """`embedded`: the one index of a folder, which the spaces of a store share; in this process without one.

    None while the disk is full, and where it has grown into shards that another process uses: then what was
    said is found by its words. One that is to be made anew has to be there, and nobody else's.
    """
    folder, embedder = request.folder, request.embedder
    if folder is None:
        return await open_in_process(request)
    if request.read_only:
        return await _looked_at(folder, request)
    key = (await to_thread.run_sync(folder.resolve), embedder.name)
    anew = request.anew is not None
    try:
        index = await _opened.take(key, lambda: open_embedded(folder, embedder, fresh=anew), anew=anew)
    except InUse:
        raise IndexLocked(
            f"the index at {str(folder)!r} is open for another space of the store in this process and cannot "
            "be made anew at opening: `memory.reindex()` on each space puts it in again, or close that one "
            "first"
        ) from None
    except IndexFull as error:
        return AbsentIndex(str(error))
    except IndexLocked as error:
        if anew:
            raise
        return AbsentIndex(f"what was said is found by its words alone, not by meaning: {error}")
    request.closing.push_async_callback(_opened.let_go, key, ProjectedIndex.close)
    return index


async def _looked_at(folder: Path, request: IndexRequest) -> Index:
    """The index of a folder as it is, or none where it cannot be read."""
    try:
        index = await to_thread.run_sync(lambda: open_embedded(folder, request.embedder, read_only=True))
    except SummaryIndexError as error:
        return AbsentIndex(str(error))
    request.closing.push_async_callback(index.close)
    return index


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
