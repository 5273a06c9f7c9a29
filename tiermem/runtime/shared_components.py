"""What several memories of one space share in one process: they are opened over the same parts.

The rules:
- Opened again for writing on the same event loop, a space is not opened twice: the new memory uses the parts
  that are open, and is refused where it asks for others.
- Each memory is closed by itself; the parts are closed with the last one. One that is held no more does
  not count.
- A memory opened read-only, or in memory, has parts of its own.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Hashable
from typing import Protocol
from weakref import WeakSet

import anyio

from pagestore.errors import Locked
from tiermem.errors import InvalidInput, MemoryClosed
from tiermem.runtime.active_questions import ActiveQuestions
from tiermem.runtime.calls import CLOSED
from tiermem.runtime.components import Components
from tiermem.runtime.jobs import CONSOLIDATING, Jobs
from tiermem.runtime.lock import ReadWriteLock
from tiermem.shared import SharedByKey


class DropsRevokedItems(Protocol):
    """Holds words of a space."""

    async def drop_revoked_items(self) -> None:
        """Let go of what the space no longer holds, or holds otherwise."""
        ...


class SharedComponents:
    """The open parts of one space, for memories of one event loop."""

    def __init__(self, key: Hashable) -> None:
        self.key = key
        self.loop = asyncio.get_running_loop()
        self.components: Components | None = None
        self.jobs = Jobs()
        self.lock = ReadWriteLock()
        self.asking = ActiveQuestions()
        self.users: set[object] = set()
        self.watchers: WeakSet[DropsRevokedItems] = WeakSet()
        """Who holds words of the space, and is called when some are erased."""
        self.changing = anyio.Lock()
        self.over = False
        self.ending = False
        """Whether the last user is leaving: what can be left for the next opening is not begun any more."""

    @property
    def open_components(self) -> Components:
        """The parts; raises `MemoryClosed` where they are not open."""
        if self.components is None:
            raise MemoryClosed(CLOSED)
        return self.components

    async def drop_revoked_items(self) -> None:
        """Have those who hold words of the space drop what they may no longer see."""
        for watcher in tuple(self.watchers):
            await watcher.drop_revoked_items()

    async def let_go(self, user: object) -> None:
        """One user less; the last one closes the parts. What works on them in the background is finished."""
        async with self.changing:
            self.ending = self.users <= {user}
            # First: what works for a memory that is held no more holds it until it is done.
            # A pass of consolidating goes on for the others, or ends before its next step.
            await self.jobs.wait_for_requested(but=CONSOLIDATING)
            self.users.discard(user)
            if not self.users:
                await self.closed()

    async def end(self) -> None:
        """Close the parts, also if they are in use."""
        async with self.changing:
            await self.closed()

    async def closed(self) -> None:
        """Close the parts, which no other does meanwhile; what has begun is not cut short."""
        if self.over:
            return
        self.over = self.ending = True
        with anyio.CancelScope(shield=True):
            try:
                await self.jobs.drain()
            finally:
                self.jobs.cancel_all_timers()
                components, self.components = self.components, None
                try:
                    if components is not None:
                        await components.close()
                finally:
                    _opened.release(self.key, self.key)


_opened: SharedByKey[SharedComponents] = SharedByKey()
"""Each is its own user, and knows the memories that use it."""


async def acquire_components(
    key: tuple[str, str] | None,
    user: object,
    *,
    make: Callable[[SharedComponents], Awaitable[None]],
    differs: Callable[[Components], str | None],
) -> SharedComponents:
    """The open parts of this key, used by `user` as well; `make` opens them for the first one.

    The key is path and space, or `None` for parts that are not shared. Raises what `make` raises,
    `InvalidInput` where `differs` names what else was asked for, and `Locked` where another event loop of
    this process has them.
    """
    own = object() if key is None else key
    while True:
        opened = _opened.take(own, own, lambda: SharedComponents(own))
        if key is not None and opened.loop is not asyncio.get_running_loop():
            ended = ", which has ended without closing it" if opened.loop.is_closed() else ""
            raise Locked(
                f"space {key[1]!r} of {key[0]!r} is open for writing in this process (pid {os.getpid()}) "
                f"already, by a memory of another event loop{ended}: close that one, or use it"
            )
        async with opened.changing:
            if opened.over:
                continue
            if opened.components is None:
                await _make_or_close(opened, make)
            elif key is not None and (what := differs(opened.components)) is not None:
                if not opened.users:
                    await opened.closed()
                    continue
                raise InvalidInput(
                    f"space {key[1]!r} of {key[0]!r} is open already in this process, and {what}: close that "
                    "memory first, or open this one in the same way"
                )
            opened.users.add(user)
            opened.ending = False
            return opened


async def _make_or_close(
    opened: SharedComponents, make: Callable[[SharedComponents], Awaitable[None]]
) -> None:
    try:
        await make(opened)
    except BaseException:
        await opened.closed()
        raise


async def end_all() -> None:
    """Close everything that is open on this event loop: memories that were not closed."""
    for one in _opened.open_parts():
        if one.loop is asyncio.get_running_loop():
            await one.end()
