"""The embedded index of a store: one SQLite file.

Earlier versions kept a large index in shards of Qdrant's engine. They are copied into the file when a
memory opens the index for writing: vectors, terms and marks as they are, nothing is embedded again. Until
`index.json` names the form of the file, the shards count; from then on the file counts, and what is left
of the shards is deleted.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from pathlib import Path

from anyio import to_thread

from tiermem.embedding.interface import Embedder
from tiermem.errors import IndexFull, IndexLocked, IndexUnavailable, SummaryIndexError
from tiermem.index.absent import AbsentIndex
from tiermem.index.engine import Point, ProjectedIndex
from tiermem.index.folder import (
    COPY,
    FILE,
    agree,
    description,
    forget_copy,
    forget_file,
    forget_shards,
    form_of,
    give_description,
    sync,
)
from tiermem.index.interface import Collection, Index, IndexRequest
from tiermem.index.memory import open_in_process
from tiermem.index.ownership import opening, owned
from tiermem.index.shards import Shards
from tiermem.index.shared import InUse, SharedParts
from tiermem.index.sqlite import SqliteIndex

log = logging.getLogger("tiermem")

_SECONDS = 10.0
"""Between two messages about how much is copied."""


def open_embedded(
    path: Path, embedder: Embedder, *, fresh: bool = False, read_only: bool = False
) -> SqliteIndex:
    """The index of a directory, made where there is none. Blocking.

    Raises as `SqliteIndex` does. With `read_only=True` shards are `IndexUnavailable`: they are copied when
    the index is opened for writing.
    """
    if read_only:
        if form_of(path) == "shards":
            raise IndexUnavailable(
                f"the index at {str(path)!r} is kept in shards by an earlier version, until a memory is "
                "opened for writing; what is stored is searched by its words"
            )
        return SqliteIndex(path, embedder, read_only=True)
    with opening(path):
        if form_of(path) == "shards" and not fresh:
            _copy_shards(path, embedder)
        index = SqliteIndex(path, embedder, fresh=fresh)
        try:
            forget_shards(path)
            forget_copy(path)
        except BaseException:
            index.let_go()
            raise
        return index


_opened: SharedParts[SqliteIndex] = SharedParts()


async def open_in_folder(request: IndexRequest) -> Index:
    """`embedded`: the one index of a folder, which the spaces of a store share; in this process without one.

    None while the disk is full: then what was said is found by its words. One that is to be made again has to
    be there, and no other memory may use it.
    """
    folder, embedder = request.folder, request.embedder
    if folder is None:
        return await open_in_process(request)
    if request.read_only:
        return await _looked_at(folder, request)
    key = (await to_thread.run_sync(folder.resolve), embedder.name)
    fresh = request.anew is not None
    try:
        index = await _opened.take(key, lambda: open_embedded(folder, embedder, fresh=fresh), anew=fresh)
    except InUse:
        raise IndexLocked(
            f"the index at {str(folder)!r} is open for another space of the store in this process and cannot "
            "be made anew at opening: `memory.reindex()` on each space puts it in again, or close that one "
            "first"
        ) from None
    except IndexFull as error:
        return AbsentIndex(str(error))
    except IndexLocked as error:
        if fresh:
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


def _copy_shards(path: Path, embedder: Embedder) -> None:
    """Copy shards into the file; if that fails, they are as before."""
    ownership = owned(path)
    try:
        agree(path, description(embedder))
        forget_copy(path)
        forget_file(path)
        shards = Shards(path)
        copy = SqliteIndex(path / COPY, embedder)
        try:
            copy.take_over(_report(path, shards), shards.marks)
        except BaseException:
            copy.let_go()
            forget_copy(path)
            raise
        (path / COPY / FILE).replace(path / FILE)
        sync(path)
        give_description(path / COPY, path)  # from here on the file counts
    finally:
        ownership.release()


def _report(path: Path, shards: Shards) -> Iterator[tuple[Collection, list[Point]]]:
    """What shards hold; the log of the process says how much of it was read."""
    total, read, reported = shards.count(), 0, time.monotonic()
    log.warning("the index at %r becomes one file: %s entries are copied", str(path), f"{total:,}")
    for collection, points in shards.read():
        yield collection, points
        read += len(points)
        if time.monotonic() - reported > _SECONDS:
            reported = time.monotonic()
            log.warning("%s of %s entries are copied", f"{read:,}", f"{total:,}")
