"""The calls of a memory that are under way when it is closed: each ends in one way, none hangs.

What writes and is done soon is finished first. All else is cut short and raises `MemoryClosed`, whatever
it was waiting for; so does every call that comes later. Log and index are let go of only after all that.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from functools import partial, wraps
from inspect import signature
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

import anyio

from tiermem.errors import MemoryClosed, bind_arguments
from tiermem.observing import enter_observers
from tiermem.wire import Right

_P = ParamSpec("_P")
_T = TypeVar("_T")

CLOSED = "this memory was closed; open it again with tiermem.open(path)"


class Calls:
    """For one event loop."""

    def __init__(self) -> None:
        self._under_way: dict[anyio.CancelScope, bool] = {}
        self.closing = False
        self._ended = anyio.Condition()

    def demand_open(self) -> None:
        """Raise `MemoryClosed` once `end` was called."""
        if self.closing:
            raise MemoryClosed(CLOSED)

    async def run(
        self,
        call: Callable[[], Awaitable[_T]],
        *,
        finish: bool,
        before: Callable[[], Awaitable[None]] | None = None,
    ) -> _T:
        """What `call` gives, once `before` is done.

        Raises `MemoryClosed` once `end` was called, without `finish` also half-way.
        """
        self.demand_open()
        scope = anyio.CancelScope()
        self._under_way[scope] = finish
        try:
            with scope:
                if before is not None:
                    await before()
                return await call()
        finally:
            del self._under_way[scope]
            with anyio.CancelScope(shield=True):
                async with self._ended:
                    self._ended.notify_all()
        raise MemoryClosed(CLOSED)

    async def end(self) -> None:
        """Take no call any more, and return when none is under way."""
        self.closing = True
        for scope, finish in self._under_way.items():
            if not finish:
                scope.cancel()
        async with self._ended:
            while self._under_way:
                await self._ended.wait()


class HasCalls(Protocol):
    """What has public methods that are calls."""

    _calls: Calls

    async def _catch_up(self) -> None:
        """Read what other processes wrote, before a call decides or reads anything."""
        ...


_H = TypeVar("_H", bound=HasCalls)
_Method = Callable[Concatenate[_H, _P], Awaitable[_T]]
_Call = Callable[Concatenate[_H, _P], Coroutine[Any, Any, _T]]


def cancel_on_close(method: _Method[_H, _P, _T]) -> _Call[_H, _P, _T]:
    """A public method that raises `MemoryClosed` when the memory is closed while it runs."""
    return _call(method, finish=False)


def finish_on_close(method: _Method[_H, _P, _T]) -> _Call[_H, _P, _T]:
    """A public method that closing waits for."""
    return _call(method, finish=True)


def operation(right: Right, *, finish: bool = False) -> Callable[[_Method[_H, _P, _T]], _Call[_H, _P, _T]]:
    """A public method that is offered over HTTP too, to keys with this right.

    `finish` is whether closing waits for it; else it raises `MemoryClosed`.
    """

    def decorate(method: _Method[_H, _P, _T]) -> _Call[_H, _P, _T]:
        call = _call(method, finish=finish)
        call.right = right  # type: ignore[attr-defined]  # `wire.operations` reads it
        return call

    return decorate


def _call(method: _Method[_H, _P, _T], *, finish: bool) -> _Call[_H, _P, _T]:
    def space_of(memory: _H) -> str | None:
        return None if memory._calls.closing else getattr(memory, "space", None)  # noqa: SLF001  # its own

    whole = signature(method)
    taken = whole.replace(parameters=list(whole.parameters.values())[1:])

    @wraps(method)
    async def call(self: _H, /, *args: _P.args, **kwargs: _P.kwargs) -> _T:
        bind_arguments(method.__name__, taken, args, kwargs)
        with enter_observers(lambda one: one.memory_called(method.__name__, space_of(self))) as done:
            run = partial(method, self, *args, **kwargs)
            result = await self._calls.run(run, finish=finish, before=self._catch_up)
            done(result)
            return result

    return call
