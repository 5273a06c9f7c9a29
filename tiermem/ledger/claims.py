"""Claims on work, so that of several processes that have a log open only one does it and pays for it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable

import anyio
from anyio import to_thread

from pagestore import SharedLog


class Claims:
    """The things, pages for example, on which this process alone does one kind of work."""

    def __init__(self, log: SharedLog | None, kind: str, catch_up: Callable[[], Awaitable[object]]) -> None:
        """Every claim is given where `log` is `None` or not shared."""
        self._log = log if log is not None and log.is_shared else None
        self._kind = kind
        self._catch_up = catch_up
        self._held: set[str] = set()

    async def add(self, things: Iterable[str]) -> frozenset[str]:
        """Claim things; returns those that nothing had claimed, with all that was written before folded."""
        log, wanted = self._log, frozenset(things)
        if log is None:
            return wanted

        def claim() -> frozenset[str]:
            claimed = log.claim([self._name(thing) for thing in wanted])
            self._held |= claimed
            return frozenset(thing for thing in wanted if self._name(thing) in claimed)

        claimed = await to_thread.run_sync(claim)
        await self._catch_up()
        return claimed

    async def remove(self, things: Iterable[str]) -> None:
        """Release the claims on things, of which all results are recorded; idempotent."""
        await self._release({self._name(thing) for thing in things})

    async def remove_all(self) -> None:
        """Release every claim, also when the task is cancelled; idempotent."""
        with anyio.CancelScope(shield=True):
            await self._release(set(self._held))

    async def _release(self, names: set[str]) -> None:
        log, released = self._log, self._held & names
        if log is not None and released:
            self._held -= released
            await to_thread.run_sync(log.release, released)

    def _name(self, thing: str) -> str:
        return f"{self._kind} {thing}"
