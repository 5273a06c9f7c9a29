"""An event loop in a thread of its own, for callers that do not await.

Its thread is a daemon, and so are the worker threads started from it: they never keep a program that
is done from ending.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from threading import Thread
from typing import TypeVar

import anyio
from anyio.from_thread import BlockingPortal

_T = TypeVar("_T")


class Loop:
    """Runs awaitables for any number of threads, until it is stopped."""

    def __init__(self) -> None:
        portal: Future[BlockingPortal] = Future()
        self._thread = Thread(target=anyio.run, args=(_serve, portal), name="tiermem loop", daemon=True)
        self._thread.start()
        self._portal = portal.result()

    def call(self, method: Callable[[], Awaitable[_T]]) -> _T:
        """What `method` returns, or raises, on the loop."""
        return self._portal.call(method)

    def stop(self, end: Callable[[], Awaitable[None]]) -> None:
        """Call `end` on the loop, then end it; nothing may be called on it afterwards."""
        try:
            self.call(end)
        finally:
            self._portal.call(self._portal.stop)
            self._thread.join()


async def _serve(started: Future[BlockingPortal]) -> None:
    async with BlockingPortal() as portal:
        started.set_result(portal)
        await portal.sleep_until_stopped()
