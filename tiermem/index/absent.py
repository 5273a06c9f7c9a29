"""The index of a memory that has none now: every use says why, and reading falls back to the log."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from anyio import to_thread

from tiermem.errors import IndexUnavailable, SummaryIndexError
from tiermem.index.interface import Index, IndexRequest


class AbsentIndex:
    """Raises `IndexUnavailable` with `reason` for everything but closing.

    `holds_nothing`: no files of an index lie where it would be, so there is nothing to erase from them.
    """

    def __init__(self, reason: str, *, holds_nothing: bool = False) -> None:
        self._reason = reason
        self.holds_nothing = holds_nothing

    async def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise IndexUnavailable(self._reason)

    put = remove = search = turns = rows = lexicon = count = undated = mark = set_mark = drop = flush = (
        _refuse
    )

    async def close(self) -> None:
        """Nothing to close."""


async def open_or_explain(make: Callable[[], Index], request: IndexRequest) -> Index:
    """The index that `make` makes; for a memory that makes none itself, an absent one where that fails."""
    try:
        index = await to_thread.run_sync(make)
    except SummaryIndexError as error:
        if not request.read_only:
            raise
        return AbsentIndex(str(error))
    request.closing.push_async_callback(index.close)
    return index
