"""A memory that a server keeps: the same methods, each of them a request.

A memory's public methods are calls (`tiermem.runtime.calls`). Here a call is not run: its name and what it
was given go to the server, and what comes back is made into the type that the method gives. So a method that
is new is here too. What needs the memory in this process, a workspace, a ready part, is refused.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from io import TextIOBase
from typing import IO, Any, Self, TypeVar, cast
from weakref import WeakSet

from pydantic import SecretStr

from pagestore import SpaceId
from pagestore.files import new_file
from tiermem.api import arguments
from tiermem.api.connection import EVENTS, Connection, events, is_url
from tiermem.api.memory import AsyncMemory
from tiermem.api.workspace import AsyncWorkspace
from tiermem.errors import InvalidInput, RemoteError, ServerUnavailable, name_in
from tiermem.runtime.calls import Calls
from tiermem.runtime.components import Opening
from tiermem.wire import Telling, WireOperation, error_of, given_as_json, operations, read_as, telling
from tiermem.workspace import MOST_TOKENS, Eviction, Item

_T = TypeVar("_T")

_HINT = "`tiermem serve` serves memories; a Qdrant server is named by index=URL"
_DEFAULT = {"engine": "auto"}

OPERATIONS: Mapping[str, WireOperation] = operations(AsyncMemory)


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteOpening:
    """Which space of which server is to be opened."""

    url: str
    key: str | SecretStr | None
    space: SpaceId
    create: bool


def check_opening(
    path: object,
    *,
    key: str | SecretStr | None,
    space: object,
    create: object,
    overrides: Mapping[str, Any],
    **local: Any,
) -> RemoteOpening | Opening:
    """How a memory is to be opened: of a server where `path` is a URL, else in this process.

    A server chooses the options `local` and `overrides` itself: `InvalidInput` names what was given.
    """
    if not is_url(path):
        if key is not None:
            raise InvalidInput("key is for a memory over HTTP, and path is a directory")
        return arguments.opening(path, space=space, create=create, overrides=overrides, **local)
    for name, given in {**local, **overrides}.items():
        if not any(given is one for one in (None, False)) and given != _DEFAULT.get(name):
            raise InvalidInput(
                f"{name} is for a memory in this process: the server at {path} chooses its own "
                "(`tiermem serve --help`), and a key with the right read alone writes nothing"
            )
    return RemoteOpening(
        url=str(path),
        key=key,
        space=SpaceId(name_in(space, "space")),
        create=arguments.switch(create, "create"),
    )


async def connect(opening: RemoteOpening) -> RemoteMemory:
    """The memory, once the server has said that the space is there, or has made it."""
    connection = Connection(opening.url, opening.key)
    try:
        params = {"space": opening.space, "create": "true" if opening.create else "false"}
        opened = await connection.json("/v1/open", params, again=True)
        engine, agent = _engine_and_agent(opened)
        return RemoteMemory(connection, space=opening.space, engine=engine, agent=agent)
    except RemoteError as error:
        await connection.close()
        if type(error) in (RemoteError, ServerUnavailable):
            raise type(error)(f"{error} ({_HINT})") from error
        raise
    except BaseException:
        await connection.close()
        raise


def _engine_and_agent(opened: object) -> tuple[str, str | None]:
    """Who reasons there, and as which agent the key is let in; of a server of before that knew none, none."""
    if not isinstance(opened, dict) or "engine" not in opened:
        raise RemoteError("what answered is no memory of ours")
    agent = opened.get("agent")
    return str(opened["engine"]), None if agent is None else str(agent)


class RemoteMemory(AsyncMemory):
    """One space's memory, kept by a server. `AsyncMemory.open("http://…", key=…)` gives it."""

    def __init__(
        self, connection: Connection, *, space: SpaceId, engine: str, agent: str | None = None
    ) -> None:
        """Use `AsyncMemory.open`."""
        self._connection = connection
        self._space = space
        self._engine = engine
        self._agent = agent
        self._owner = None
        self._views = WeakSet()
        self._calls = _Requests(connection, space, agent)

    def __repr__(self) -> str:
        if self._calls.closing:
            return f"<{AsyncMemory.__name__}, closed>"
        alone = "" if self._agent is None else f", as agent {self._agent!r}"
        return f"<{AsyncMemory.__name__} of space {self._space!r} at {self._connection.url!r}{alone}>"

    @property
    def space(self) -> SpaceId:
        """See `AsyncMemory.space`."""
        self._calls.demand_open()
        return self._space

    @property
    def engine(self) -> str:
        """See `AsyncMemory.engine`: as it was when the memory was opened."""
        self._calls.demand_open()
        return self._engine

    def _make_view(self, agent: str) -> Self:
        return type(self)(self._connection, space=self._space, engine=self._engine, agent=agent)

    def workspace(
        self,
        *,
        session: str = "main",
        max_tokens: int = MOST_TOKENS,
        policy: str | Eviction = "hybrid",
        on_evicted: Callable[[tuple[Item, ...]], None] | None = None,
    ) -> AsyncWorkspace:
        """Refused: a workspace needs a memory in this process."""
        raise InvalidInput(
            "a workspace needs a memory in this process, and this one is over HTTP: `recall` and `context` "
            "give what a workspace would be filled with"
        )

    async def _close_early(self) -> None:
        await self.close()

    async def _release(self) -> None:
        """Close the connections; what the server has open stays open there."""
        await self._connection.close()


class _Requests(Calls):
    """Calls that are sent to a server."""

    def __init__(self, connection: Connection, space: SpaceId, agent: str | None) -> None:
        super().__init__()
        self._connection = connection
        self._params = {"space": str(space)} | ({} if agent is None else {"agent": agent})

    async def run(
        self,
        call: Callable[[], Awaitable[_T]],
        *,
        finish: bool,
        before: Callable[[], Awaitable[None]] | None = None,
    ) -> _T:
        """What the server gives, which itself does what comes `before`. Raises what it raises there.

        A call that is no operation, such as `ingest`, runs here, and makes operations of its own.
        """
        method = cast("partial[Awaitable[_T]]", call)
        if method.func.__name__ not in OPERATIONS:
            return await super().run(call, finish=finish)
        operation, args = OPERATIONS[method.func.__name__], method.args[1:]
        self.demand_open()
        given = operation.signature.bind_partial(*args).arguments | method.keywords
        body = given_as_json(operation, args, method.keywords)
        return await super().run(partial(self._sent, operation, body, given), finish=finish)

    async def _sent(self, operation: WireOperation, body: dict[str, Any], given: Mapping[str, Any]) -> Any:
        path, tells = f"/v1/{operation.name}", telling(operation)
        callback = None if tells is None else _callback(tells, given)
        if operation.makes_file:
            if callback is not None:
                raise InvalidInput(f"progress: {operation.name} over HTTP reports none; it returns its file")
            return await self._file(operation, path, body, given)
        if tells is not None and callback is not None:
            return _value(operation, await self._follow(path, body, tells, callback))
        answer = await self._connection.json(path, self._params, body, again=not operation.writes)
        return _value(operation, answer)

    async def _follow(self, path: str, body: object, tells: Telling, callback: Callable[..., None]) -> Any:
        """The result of an operation that reports its progress."""
        async with self._connection.answer(path, self._params, body, accept=EVENTS) as response:
            async for name, content in events(response):
                if name == tells.event:
                    callback(*_read(tells.event, tells.taken, content))
                elif name == "result":
                    return content
                elif name == "problem":
                    raise error_of(content, content.get("status", 0))
        raise RemoteError("the server ended before it said what came of this")

    async def _file(self, operation: WireOperation, path: str, body: object, given: Mapping[str, Any]) -> Any:
        """The file that an operation makes, written here; it gets its name when all of it has come."""
        to, replace = given["to"], arguments.switch(given.get("replace", False), "replace")
        if isinstance(to, TextIOBase):
            raise InvalidInput("to must take bytes, like a file opened with mode 'wb', and this takes text")
        place = None if hasattr(to, "write") else arguments.place(to, "to")
        opened = nullcontext(cast("IO[bytes]", to)) if place is None else new_file(place, replace=replace)
        with opened as out:
            async with self._connection.answer(path, self._params, body, accept="*/*") as response:
                async for part in response.aiter_bytes():
                    out.write(part)
                result = response.headers.get("tiermem-result", "")
        return _value(operation, {**_object(result), "file": place})


def _object(text: str) -> dict[str, Any]:
    import json

    try:
        found: dict[str, Any] = json.loads(text)
    except ValueError as error:
        raise RemoteError("the server did not say what its file is") from error
    return found


def _callback(tells: Telling, given: Mapping[str, Any]) -> Callable[..., None] | None:
    """The callback that an operation calls while it runs, if one was given."""
    checked: Callable[[Any], Callable[..., None] | None] = getattr(arguments, tells.parameter)
    return checked(given.get(tells.parameter))


def _value(operation: WireOperation, answer: Any) -> Any:
    """What the method gives, made of what came back."""
    return _read(operation.name, partial(read_as, operation.gives), answer)


def _read(what: str, read: Callable[[Any], _T], answer: Any) -> _T:
    try:
        return read(answer)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise RemoteError(
            f"{what}: this version does not understand what the server answers ({error!r}): "
            "have both of one version"
        ) from error
