"""An event loop in a thread of its own, for callers that do not await.

Its thread is a daemon, and so are the worker threads started from it: they never keep a program that
is done from ending.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Hashable
from concurrent.futures import Future
from threading import RLock, Thread
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

    def stop(self) -> None:
        """End the loop; nothing may be called on it afterwards."""
        self._portal.call(self._portal.stop)
        self._thread.join()


class SharedLoops:
    """Loops by key, each with those who use it; the last one to let go of a loop stops it.

    A user that is only forgotten leaves its loop running, for the next one, or for `all`.
    """

    def __init__(self) -> None:
        self._loops: dict[Hashable, tuple[Loop, set[object]]] = {}
        self._lock = RLock()
        os.register_at_fork(after_in_child=self._forget_all)

    def take(self, key: Hashable, user: object) -> Loop:
        """The loop of this key, made for the first who asks."""
        with self._lock:
            if key not in self._loops:
                self._loops[key] = Loop(), set()
            loop, users = self._loops[key]
            users.add(user)
            return loop

    def forget(self, key: Hashable, user: object) -> None:
        """One user less, and nothing else. Never waits: the collector calls it, in whatever thread it runs,
        and whoever holds the lock may be waiting for that one.
        """
        known = self._loops.get(key)
        if known is not None:
            known[1].discard(user)

    def let_go(self, key: Hashable, user: object, end: Callable[[], Awaitable[None]]) -> None:
        """One user less; the last one stops the loop, on which `end` ends what forgotten users left open."""
        self.forget(key, user)
        with self._lock:
            if key not in self._loops or self._loops[key][1]:
                return
            loop, _ = self._loops.pop(key)
        try:
            loop.call(end)
        finally:
            loop.stop()

    def _forget_all(self) -> None:
        """In a forked process no loop runs; the lock may have been held."""
        self._loops.clear()
        self._lock = RLock()

    def all(self) -> tuple[Loop, ...]:
        """Every loop that runs."""
        with self._lock:
            return tuple(loop for loop, _ in self._loops.values())


async def _serve(started: Future[BlockingPortal]) -> None:
    async with BlockingPortal() as portal:
        started.set_result(portal)
        await portal.sleep_until_stopped()
