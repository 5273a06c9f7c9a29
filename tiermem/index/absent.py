"""The index of a memory that has none now: every use says why, and reading falls back to the log."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from pagestore import History, SessionId, SpaceId
from tiermem.embedding.interface import Lexicon
from tiermem.errors import IndexUnavailable
from tiermem.index.interface import Collection, Entry, Hit, Mode, Period, TurnHits


class AbsentIndex:
    """Raises `IndexUnavailable` with `reason` for everything but closing.

    `holds_nothing`: no files of an index lie where it would be, so there is nothing to erase from them.
    """

    def __init__(self, reason: str, *, holds_nothing: bool = False) -> None:
        self._reason = reason
        self.holds_nothing = holds_nothing

    async def put(self, space: SpaceId, collection: Collection, entries: Sequence[Entry]) -> None:
        """Refused."""
        self._refuse()

    async def remove(self, space: SpaceId, collection: Collection, ids: Sequence[str]) -> None:
        """Refused."""
        self._refuse()

    async def search(
        self,
        space: SpaceId,
        collection: Collection,
        query: str,
        *,
        limit: int,
        mode: Mode = "hybrid",
        session: SessionId | None = None,
        inactive: bool = False,
    ) -> tuple[Hit, ...]:
        """Refused; the caller searches the log by keywords."""
        self._refuse()

    async def turns(
        self,
        space: SpaceId,
        question: str,
        *,
        limit: int,
        session: SessionId | None = None,
        told: Sequence[Period] = (),
    ) -> TurnHits:
        """Refused; the caller searches the log by keywords."""
        self._refuse()

    async def lexicon(self) -> Lexicon:
        """Refused."""
        self._refuse()

    async def count(self, space: SpaceId, collection: Collection) -> int:
        """Refused."""
        self._refuse()

    async def mark(self, space: SpaceId) -> History:
        """Refused."""
        self._refuse()

    async def set_mark(self, space: SpaceId, mark: History) -> None:
        """Refused."""
        self._refuse()

    async def drop(self, space: SpaceId) -> None:
        """Refused."""
        self._refuse()

    async def flush(self) -> None:
        """Refused."""
        self._refuse()

    async def close(self) -> None:
        """Nothing to close."""

    def _refuse(self) -> NoReturn:
        raise IndexUnavailable(self._reason)
