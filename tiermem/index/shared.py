"""Parts a process has once, such as the index of a directory that it owns.

A user takes one by its key and releases it; the last to release it closes it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from threading import Lock
from typing import Generic, TypeVar

from anyio import to_thread

_T = TypeVar("_T")


class InUse(Exception):
    """A part that was to be replaced is in use."""


@dataclass
class _Shared(Generic[_T]):
    part: _T
    users: int = 0


class SharedParts(Generic[_T]):
    """Parts by key, counted. `make` runs in a worker thread, one at a time."""

    def __init__(self) -> None:
        self._parts: dict[Hashable, _Shared[_T]] = {}
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
                    shared = self._parts.get(key)
                    if shared is not None and anew:
                        raise InUse
                    if shared is not None:
                        shared.users += 1
                        return shared.part
                part = make()
                with self._counting:
                    self._parts[key] = _Shared(part, users=1)
                return part

        return await to_thread.run_sync(take)

    async def let_go(self, key: Hashable, close: Callable[[_T], Awaitable[None]]) -> None:
        """One user less; the last one closes the part."""
        with self._counting:
            shared = self._parts[key]
            shared.users -= 1
            last = shared.users == 0
            if last:
                del self._parts[key]
        if last:
            await close(shared.part)
