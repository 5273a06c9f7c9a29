"""Which questions are under way, and the moment in which none is: what nobody waits for is done then."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager


class ActiveQuestions:
    """For one event loop."""

    def __init__(self) -> None:
        self._under_way = 0
        self._none = asyncio.Event()
        self._none.set()

    @contextmanager
    def question(self) -> Iterator[None]:
        """While somebody is inside, a question is under way; nobody there may wait for who awaits `none`."""
        self._under_way += 1
        self._none.clear()
        try:
            yield
        finally:
            self._under_way -= 1
            if not self._under_way:
                self._none.set()

    async def none(self) -> None:
        """Return when no question is under way."""
        await self._none.wait()
