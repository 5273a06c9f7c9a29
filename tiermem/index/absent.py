"""The index of a memory that has none now: every use says why, and reading falls back to the log."""

from __future__ import annotations

from typing import NoReturn

from tiermem.errors import IndexUnavailable


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
