"""Counts the questions under way, so that work that no caller waits for runs while there are none."""

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
        """A question is under way while this is entered.

        Waiting inside for a task that awaits `none` deadlocks.
        """
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
