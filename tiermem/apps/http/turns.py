"""Reads first: what is said is stored when there is time for it, and no question waits behind a queue.

A processor runs Python one step at a time, so writes that come together slow down every question that is
under way. Where no question waits, several are let in at once, which share their syncs.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

AT_ONCE = 8
"""Writes let in while no read is under way."""
BESIDE_READS = 1
"""Writes let in while somebody does."""
LONGEST = 1.0
"""Seconds that a write waits at most: whatever those before it wait for is not its affair."""


class WriteQueue:
    """For one event loop. Writes go in in the order they came; reads do not wait."""

    def __init__(
        self, *, at_once: int = AT_ONCE, beside_reads: int = BESIDE_READS, longest: float = LONGEST
    ) -> None:
        self._at_once = at_once
        self._beside_reads = beside_reads
        self._longest = longest
        self._reading = 0
        self._writing = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    @contextmanager
    def read(self) -> Iterator[None]:
        """While somebody is inside, few writes are let in."""
        self._reading += 1
        try:
            yield
        finally:
            self._reading -= 1
            self._let_in()

    @asynccontextmanager
    async def write(self) -> AsyncIterator[None]:
        """Entered in turn."""
        await self._turn()
        try:
            yield
        finally:
            self._leave()

    async def _turn(self) -> None:
        """Return as one of those that write."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        self._let_in()
        try:
            await asyncio.wait([turn], timeout=self._longest)
        except asyncio.CancelledError:
            if not turn.cancel():
                self._leave()
            raise
        if turn.cancel():  # it was not let in
            self._writing += 1

    def _leave(self) -> None:
        self._writing -= 1
        self._let_in()

    def _let_in(self) -> None:
        while self._waiting and (self._waiting[0].done() or self._is_room()):
            turn = self._waiting.popleft()
            if not turn.done():
                self._writing += 1
                turn.set_result(None)

    def _is_room(self) -> bool:
        return self._writing < (self._beside_reads if self._reading else self._at_once)
