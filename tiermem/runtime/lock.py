"""Lets many pass at once, or one alone: nothing is concluded while words are being erased."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio


class ReadWriteLock:
    """For one event loop. A task that waits to be alone goes before those who come later; none may nest."""

    def __init__(self) -> None:
        self._inside = 0
        self._closed = False
        self._changed = anyio.Condition()

    @asynccontextmanager
    async def shared(self) -> AsyncIterator[None]:
        """Together with others, never with one that is alone."""
        async with self._changed:
            while self._closed:
                await self._changed.wait()
            self._inside += 1
        try:
            yield
        finally:
            await self._change(inside=-1)

    @asynccontextmanager
    async def exclusive(self) -> AsyncIterator[None]:
        """Acquire the lock exclusively."""
        async with self._changed:
            while self._closed:
                await self._changed.wait()
            self._closed = True
        try:
            async with self._changed:
                while self._inside:
                    await self._changed.wait()
            yield
        finally:
            await self._change(inside=0)

    async def _change(self, *, inside: int) -> None:
        with anyio.CancelScope(shield=True):
            async with self._changed:
                self._inside += inside
                self._closed = self._closed and inside < 0
                self._changed.notify_all()
