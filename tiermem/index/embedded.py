"""The embedded index of a store: rows of numbers in one SQLite file.

index/
LOCK            shared by the processes that have the index open for writing
index.json      schema, embedder and form
entries.sqlite  rows and marks of all spaces
entries.sqlite-journal  empty but while something is written
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial
from pathlib import Path

from anyio import to_thread

from tiermem.embedding.interface import Embedder
from tiermem.errors import IndexFull, IndexLocked, IndexUnavailable
from tiermem.index.absent import AbsentIndex, open_or_explain
from tiermem.index.folder import (
    FILE,
    JOURNAL,
    agree,
    damage_error,
    description,
    forget_everything,
    is_index,
    is_of_other_schema,
    restrict_access,
)
from tiermem.index.interface import Index, IndexRequest
from tiermem.index.memory import open_in_process
from tiermem.index.ownership import Ownership, opening, usable
from tiermem.index.row_index import RowIndex
from tiermem.index.segment_file import SegmentFile
from tiermem.shared import InUse, SharedByKey

FORM = "rows"


def open_embedded(path: Path, embedder: Embedder, *, fresh: bool = False) -> RowIndex:
    """The index of a directory, made where there is none. Blocking.

    With `fresh` what is there is deleted first, and so is what was built in another schema: what was said is
    put into it again. Several processes may have it open, each for spaces of its own. Raises `IndexFull`
    where there is no room, `IndexLocked` when another process owns the directory, `IndexMismatch` when it was
    built with another embedder or form or is damaged.
    """
    with opening(path), usable(path):
        ownership = Ownership(path)
        try:
            mine = description(embedder, form=FORM)
            if fresh or is_of_other_schema(path, mine):
                ownership.alone()
                forget_everything(path)
                ownership.share()
            agree(path, mine)
            file = _open_file(path, embedder)
            restrict_access(path)
        except BaseException:
            ownership.release()
            raise
        return RowIndex(embedder, file, release=ownership.release)


def look_at_embedded(path: Path, embedder: Embedder) -> RowIndex:
    """The index of a directory as it is: nothing is written, locked or made. Blocking.

    What another process writes meanwhile is found. Raises `IndexUnavailable` where there is none yet, else
    what `open_embedded` raises.
    """
    if not is_index(path) or not (path / FILE).exists():
        raise IndexUnavailable(f"there is no index at {str(path)!r} yet")
    with usable(path):
        agree(path, description(embedder, form=FORM))
        return RowIndex(embedder, _open_file(path, embedder, read_only=True))


def _open_file(path: Path, embedder: Embedder, *, read_only: bool = False) -> SegmentFile:
    if any((path / name).is_symlink() for name in (FILE, JOURNAL)):
        raise damage_error(path, f"{FILE}: it lies elsewhere, and a link is not followed")
    return SegmentFile(path / FILE, embedder.dimensions, read_only=read_only)


_opened: SharedByKey[RowIndex] = SharedByKey()


async def open_in_folder(request: IndexRequest) -> Index:
    """`embedded`: the one index of a folder, which the spaces of a store share, or that of its database.

    Without a folder and a database it is in this process.

    None while the disk is full: then what was said is found by its words. One that is to be made again has to
    be there, and no other memory may use it.
    """
    folder, embedder, fresh = request.folder, request.embedder, request.anew is not None
    if request.database is not None:
        from tiermem.index.table import open_in_database  # only with psycopg

        return await open_in_database(request.database, request, fresh=fresh)
    if folder is None:
        return await open_in_process(request)
    if request.read_only:
        return await open_or_explain(partial(look_at_embedded, folder, embedder), request)
    key, user = (await to_thread.run_sync(folder.resolve), embedder.name), object()
    try:
        opened = partial(open_embedded, folder, embedder, fresh=fresh)
        index = await to_thread.run_sync(partial(_opened.take, key, user, opened, anew=fresh))
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
    request.closing.push_async_callback(_release, key, user)
    return index


async def _release(key: Hashable, user: object) -> None:
    if (index := _opened.release(key, user)) is not None:
        await index.close()
