"""Parts a process has once, such as the index of a directory that it owns.

A user takes one by its key and releases it; the last to release it closes it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

from anyio import to_thread

_T = TypeVar("_T")


class InUse(Exception):
    """A part that was to be replaced is in use."""


class SharedParts(Generic[_T]):
    """Parts by key, counted. `make` runs in a worker thread, one at a time."""

    def __init__(self) -> None:
        self._parts: dict[Hashable, _T] = {}
        self._users: Counter[Hashable] = Counter()
        self._making = Lock()
        self._counting = Lock()
        """Held for a moment and never while something is made, for event loops wait for it."""

    async def take(self, key: Hashable, make: Callable[[], _T], *, anew: bool = False) -> _T:
        """The part of this key, made by the first who asks; raises what `make` raises.

        With `anew=True` raises `InUse` where it is in use.
        """

        def take() -> _T:
            with self._making:
                with self._counting:
                    if key in self._parts and anew:
                        raise InUse
                    if key in self._parts:
                        self._users[key] += 1
                        return self._parts[key]
                part = make()
                with self._counting:
                    self._parts[key], self._users[key] = part, 1
                return part

        return await to_thread.run_sync(take)

    async def let_go(self, key: Hashable, close: Callable[[_T], Awaitable[None]]) -> None:
        """One user less; the last one closes the part."""
        with self._counting:
            self._users[key] -= 1
            part = None if self._users[key] else self._parts.pop(key)
        if part is not None:
            await close(part)
