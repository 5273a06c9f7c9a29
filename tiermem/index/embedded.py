"""The embedded index of a store: one SQLite file."""

from __future__ import annotations

from pathlib import Path

from anyio import to_thread

from tiermem.embedding.interface import Embedder
from tiermem.errors import IndexFull, IndexLocked, SummaryIndexError
from tiermem.index.absent import AbsentIndex
from tiermem.index.engine import ProjectedIndex
from tiermem.index.interface import Index, IndexRequest
from tiermem.index.memory import open_in_process
from tiermem.index.ownership import opening
from tiermem.index.shared import InUse, SharedParts
from tiermem.index.sqlite import SqliteIndex


def open_embedded(path: Path, embedder: Embedder, *, fresh: bool = False) -> SqliteIndex:
    """The index of a directory, made where there is none. Blocking; raises as `SqliteIndex` does."""
    with opening(path):
        return SqliteIndex(path, embedder, fresh=fresh)


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
        index = await to_thread.run_sync(lambda: SqliteIndex(folder, request.embedder, read_only=True))
    except SummaryIndexError as error:
        return AbsentIndex(str(error))
    request.closing.push_async_callback(index.close)
    return index
