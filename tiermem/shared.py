"""What a process has once for all who use it, such as the index of a directory that it owns.

A forked process shares nothing with the one that it was forked from: what is open there is not its own.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

_T = TypeVar("_T")


class InUse(Exception):
    """A part that was to be replaced is in use."""


class SharedByKey(Generic[_T]):
    """Parts by key, each with who uses it: made by the first who asks, given up by the last."""

    def __init__(self) -> None:
        self._parts: dict[Hashable, tuple[_T, set[Hashable]]] = {}
        self._inherited: list[_T] = []
        self._forget_all()
        os.register_at_fork(after_in_child=self._forget_all)

    def take(self, key: Hashable, user: Hashable, make: Callable[[], _T], *, anew: bool = False) -> _T:
        """The part of this key, which `user` uses from now on. `make` makes it, one part at a time.

        Raises what `make` raises, and with `anew` `InUse` where there is such a part already. Blocking.
        """
        with self._making:
            with self._using:
                if key in self._parts:
                    if anew:
                        raise InUse
                    part, users = self._parts[key]
                    users.add(user)
                    return part
            part = make()
            with self._using:
                self._parts[key] = part, {user}
            return part

    def forget(self, key: Hashable, user: Hashable) -> None:
        """One user less, and nothing else. Never waits: the collector calls it, in whatever thread it runs,
        and whoever holds a lock may be waiting for that one.
        """
        if key in self._parts:
            self._parts[key][1].discard(user)

    def release(self, key: Hashable, user: Hashable) -> _T | None:
        """One user less; returns the part if that was the last one, to be closed by the caller.

        Does not wait while a part is made.
        """
        with self._using:
            self.forget(key, user)
            if key not in self._parts or self._parts[key][1]:
                return None
            return self._parts.pop(key)[0]

    def open_parts(self) -> tuple[_T, ...]:
        """Every part that was made and not given up."""
        with self._using:
            return tuple(part for part, _ in self._parts.values())

    def _forget_all(self) -> None:
        """In a forked process: parts are kept, as ending them is not for this process; locks may be held."""
        self._inherited += [part for part, _ in self._parts.values()]
        self._parts.clear()
        self._making, self._using = Lock(), Lock()
