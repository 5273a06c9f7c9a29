"""Many memories in one process: each opened when it is used, closed when it is idle, so many at most.

One that is in use is never closed. Where all are in use, a request for another one waits for one of them.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio

import tiermem
from tiermem.errors import MemoryClosed

Opens = Callable[[str, bool], Awaitable[tiermem.AsyncMemory]]
"""Opens a space, and makes it where that is asked for."""


_STOPPING = "the server is stopping"


@dataclass(slots=True)
class _Place:
    lock: anyio.Lock = field(default_factory=anyio.Lock)
    memory: tiermem.AsyncMemory | None = None
    users: int = 0
    closing: bool = False
    left: float = 0.0


class Spaces:
    """Memories by the names of their spaces, the least lately used first to close."""

    def __init__(self, opens: Opens, *, most: int, idle: float) -> None:
        """`most` are open at once; one that was not used for `idle` seconds is closed."""
        self._opens = opens
        self._most = most
        self._idle = idle
        self._places: OrderedDict[str, _Place] = OrderedDict()
        self._changed = anyio.Condition()
        self._ended = False

    def __len__(self) -> int:
        return sum(place.memory is not None for place in self._places.values())

    @asynccontextmanager
    async def use(self, name: str, *, create: bool) -> AsyncIterator[tiermem.AsyncMemory]:
        """The memory of a space, which stays open meanwhile. Raises what opening it raises."""
        place = await self._take_place(name)
        try:
            async with place.lock:
                if self._ended:
                    raise MemoryClosed(_STOPPING)
                if place.memory is None:
                    place.memory = await self._opens(name, create)
            yield place.memory
        finally:
            with anyio.CancelScope(shield=True):
                await self._let_go(name, place)

    async def close_idle(self) -> None:
        """Close what was not used for a while."""
        before = time.monotonic() - self._idle
        async with self._changed:
            idle = {
                name: place
                for name, place in self._places.items()
                if not place.users and not place.closing and place.left <= before
            }
            for place in idle.values():
                place.closing = True
        for name, place in idle.items():
            await self._close(name, place)

    async def close(self) -> None:
        """Close all of them; each finishes what it has begun to write. Nothing is opened any more."""
        self._ended = True
        async with self._changed:
            self._changed.notify_all()
        for name, place in list(self._places.items()):
            if not place.closing:
                place.closing = True
                await self._close(name, place)

    async def _take_place(self, name: str) -> _Place:
        """The place of a space, with one user more."""
        while True:
            async with self._changed:
                if self._ended:
                    raise MemoryClosed(_STOPPING)
                place = self._places.get(name)
                if place is None and len(self._places) < self._most:
                    place = self._places[name] = _Place()
                if place is not None and not place.closing:
                    place.users += 1
                    self._places.move_to_end(name)
                    return place
                leaving = None if place else self._least_used()
                if leaving is None:
                    await self._changed.wait()
                    continue
                leaving[1].closing = True
            await self._close(*leaving)

    def _least_used(self) -> tuple[str, _Place] | None:
        unused = (one for one in self._places.items() if not one[1].users and not one[1].closing)
        return next(unused, None)

    async def _let_go(self, name: str, place: _Place) -> None:
        async with self._changed:
            place.users -= 1
            place.left = time.monotonic()
            if not place.users and place.memory is None and self._places.get(name) is place:
                del self._places[name]
            self._changed.notify_all()

    async def _close(self, name: str, place: _Place) -> None:
        with anyio.CancelScope(shield=True):
            try:
                async with place.lock:
                    if place.memory is not None:
                        await place.memory.close()
                        place.memory = None
            finally:
                async with self._changed:
                    if self._places.get(name) is place:
                        del self._places[name]
                    self._changed.notify_all()
