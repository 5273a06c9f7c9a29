"""`AsyncMemory` for code that does not await: same methods, no logic of its own.

Each memory has one background event loop; calls from many threads run on it side by side.
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Awaitable, Callable, Hashable
from contextlib import ExitStack, closing, suppress
from functools import partial, wraps
from pathlib import Path
from threading import Condition
from types import TracebackType
from typing import Concatenate, ParamSpec, Self, TypeVar, Unpack
from weakref import finalize

from pydantic import SecretStr

from pagestore import SpaceId
from tiermem.api import arguments
from tiermem.api.connection import Connection, is_url
from tiermem.api.memory import AsyncMemory, open_shared_memory
from tiermem.api.remote import RemoteOpening, check_opening, connect
from tiermem.api.requests import Overrides
from tiermem.api.workspace import AsyncWorkspace, Workspace
from tiermem.errors import MemoryClosed
from tiermem.reasoning import Engine
from tiermem.runtime.calls import CLOSED
from tiermem.runtime.components import EngineName
from tiermem.runtime.loop import Loop
from tiermem.runtime.shared_components import end_all
from tiermem.settings import Settings
from tiermem.shared import SharedByKey
from tiermem.storage import open_store, parse_place
from tiermem.workspace import MOST_TOKENS, Eviction, Item

_P = ParamSpec("_P")
_T = TypeVar("_T")


_FORKED = (
    "this memory was opened by the process that this one was forked from, and works there alone: "
    "open it in this process (a space can be open for writing in one of them)"
)


_REMOTE = "memories over HTTP"
"""What their loop is known by: one for all of them."""

_loops: SharedByKey[Loop] = SharedByKey()
"""A loop of which all users were forgotten runs on, for the next one, or until the program ends."""


def _release_loop(key: Hashable, user: object) -> None:
    """One user less; the last one stops the loop, and ends what forgotten users left open on it."""
    if (loop := _loops.release(key, user)) is not None:
        loop.stop(end_all)


def _close_what_is_open() -> None:
    """Close what was never closed, when the program ends."""
    with ExitStack() as each:
        for loop in _loops.open_parts():
            each.callback(loop.call, end_all)


def _blocking(
    method: Callable[Concatenate[AsyncMemory, _P], Awaitable[_T]],
) -> Callable[Concatenate[Memory, _P], _T]:
    """The same method, with the same words and signature, for code that does not await."""

    @wraps(method)
    def call(self: Memory, /, *args: _P.args, **kwargs: _P.kwargs) -> _T:
        result = self._call(partial(method, self._async, *args, **kwargs))
        into = kwargs.get("into")
        return into._after(result) if isinstance(into, Workspace) else result  # noqa: SLF001  # its own

    call.__qualname__ = f"Memory.{method.__name__}"
    return call


class Memory:
    """One space's memory, for code that does not await. Open it with `tiermem.open`.

    One that is still open when the program ends is closed then. A process forked from the one that opened it
    cannot use it: every call is `MemoryClosed` there, and closing it does nothing.
    """

    def __init__(self, awaited: AsyncMemory, loop: Loop, key: Hashable, user: object) -> None:
        """Use `Memory.open`."""
        self._async = awaited
        self._loop = loop
        self._let_go = partial(_release_loop, key, user)
        self._closed = False
        self._inside = 0
        self._changed = Condition()
        self._process = os.getpid()
        finalize(self, _loops.forget, key, user).atexit = False

    @classmethod
    def open(
        cls,
        path: str | Path,
        *,
        space: str = "default",
        engine: EngineName | Engine = "auto",
        read_only: bool = False,
        create: bool = True,
        reindex: bool = False,
        settings: Settings | None = None,
        key: str | SecretStr | None = None,
        **overrides: Unpack[Overrides],
    ) -> Memory:
        """See `AsyncMemory.open`."""
        opening = check_opening(
            path,
            key=key,
            space=space,
            create=create,
            engine=engine,
            read_only=read_only,
            reindex=reindex,
            settings=settings,
            overrides=overrides,
        )
        user = object()
        shared: Hashable = _REMOTE
        opens: Callable[[], Awaitable[AsyncMemory]]
        if isinstance(opening, RemoteOpening):
            opens = partial(connect, opening)
        else:
            shared = opening.shared_as or user
            opens = partial(open_shared_memory, AsyncMemory, opening)
        loop = _loops.take(shared, user, Loop)
        try:
            memory = cls(loop.call(opens), loop, shared, user)
        except BaseException:
            _release_loop(shared, user)
            raise
        # Again each time: what is registered last is called first, before what was imported to open it ends.
        atexit.unregister(_close_what_is_open)
        atexit.register(_close_what_is_open)
        return memory

    def __repr__(self) -> str:
        return repr(self._async).replace("<Async", "<", 1)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        is_interrupted = kind is not None and issubclass(kind, KeyboardInterrupt)
        self._end(self._async._close_early if is_interrupted else self._async.close)  # noqa: SLF001  # its own

    @property
    def space(self) -> SpaceId:
        """See `AsyncMemory.space`."""
        return self._async.space

    @property
    def engine(self) -> str:
        """See `AsyncMemory.engine`."""
        return self._async.engine

    add = _blocking(AsyncMemory.add)
    ingest = _blocking(AsyncMemory.ingest)
    continue_chats = _blocking(AsyncMemory.continue_chats)
    flush = _blocking(AsyncMemory.flush)
    index_pending = _blocking(AsyncMemory.index_pending)
    ask = _blocking(AsyncMemory.ask)
    search = _blocking(AsyncMemory.search)
    recall = _blocking(AsyncMemory.recall)
    context = _blocking(AsyncMemory.context)
    profile = _blocking(AsyncMemory.profile)
    audit = _blocking(AsyncMemory.audit)
    answers = _blocking(AsyncMemory.answers)
    sessions = _blocking(AsyncMemory.sessions)
    page = _blocking(AsyncMemory.page)
    pages = _blocking(AsyncMemory.pages)
    open_pages = _blocking(AsyncMemory.open_pages)
    units = _blocking(AsyncMemory.units)
    get = _blocking(AsyncMemory.get)
    apply_findings = _blocking(AsyncMemory.apply_findings)
    consolidate = _blocking(AsyncMemory.consolidate)
    reindex = _blocking(AsyncMemory.reindex)
    checkpoint = _blocking(AsyncMemory.checkpoint)
    verify = _blocking(AsyncMemory.verify)
    bundle = _blocking(AsyncMemory.bundle)
    backup = _blocking(AsyncMemory.backup)
    export = _blocking(AsyncMemory.export)
    prove_growth = _blocking(AsyncMemory.prove_growth)
    replay = _blocking(AsyncMemory.replay)
    omissions = _blocking(AsyncMemory.omissions)
    redistil = _blocking(AsyncMemory.redistil)
    withdraw = _blocking(AsyncMemory.withdraw)
    reinstate = _blocking(AsyncMemory.reinstate)
    remember = _blocking(AsyncMemory.remember)
    correct = _blocking(AsyncMemory.correct)
    feedback = _blocking(AsyncMemory.feedback)
    signals = _blocking(AsyncMemory.signals)
    trail = _blocking(AsyncMemory.trail)
    history = trail
    erase = _blocking(AsyncMemory.erase)
    expire = _blocking(AsyncMemory.expire)
    grant = _blocking(AsyncMemory.grant)
    revoke = _blocking(AsyncMemory.revoke)
    grants = _blocking(AsyncMemory.grants)
    share = _blocking(AsyncMemory.share)
    unshare = _blocking(AsyncMemory.unshare)
    leftover_scan = _blocking(AsyncMemory.leftover_scan)
    stats = _blocking(AsyncMemory.stats)

    @property
    def agent(self) -> str | None:
        """See `AsyncMemory.agent`."""
        return self._async.agent

    def as_agent(self, name: str) -> Memory:
        """See `AsyncMemory.as_agent`."""

        async def open_view() -> AsyncMemory:
            return self._async.as_agent(name)

        return _View(self, self._call(open_view))

    def workspace(
        self,
        *,
        session: str = "main",
        max_tokens: int = MOST_TOKENS,
        policy: str | Eviction = "hybrid",
        on_evicted: Callable[[tuple[Item, ...]], None] | None = None,
    ) -> Workspace:
        """See `AsyncMemory.workspace`."""

        async def begin() -> AsyncWorkspace:
            return self._async.workspace(session=session, max_tokens=max_tokens, policy=policy)

        return Workspace(self._call(begin), self._call, arguments.callback(on_evicted))

    def close(self) -> None:
        """See `AsyncMemory.close`."""
        self._end(self._async.close)

    def _end(self, close: Callable[[], Awaitable[None]]) -> None:
        if self._process != os.getpid():
            return
        with self._changed:
            if self._closed:
                return
            self._closed = True
        try:
            self._loop.call(close)
        finally:
            with self._changed:
                # A call that the loop takes no more would wait for ever.
                self._changed.wait_for(lambda: not self._inside)
            self._let_go()

    def _call(self, method: Callable[[], Awaitable[_T]]) -> _T:
        if self._process != os.getpid():
            raise MemoryClosed(_FORKED)
        with self._changed:
            if self._closed:
                raise MemoryClosed(CLOSED)
            self._inside += 1
        try:
            return self._loop.call(method)
        finally:
            with self._changed:
                self._inside -= 1
                self._changed.notify_all()


class _View(Memory):
    """A memory as one agent sees it: its calls are those of the memory it was made of, and end with these."""

    def __init__(self, of: Memory, awaited: AsyncMemory) -> None:
        self._of = of
        self._async = awaited

    def _end(self, close: Callable[[], Awaitable[None]]) -> None:
        """Take no more calls; the memory it was made of goes on."""
        with suppress(MemoryClosed):  # closed with the other one
            self._of._call(self._async.close)  # noqa: SLF001

    def _call(self, method: Callable[[], Awaitable[_T]]) -> _T:
        return self._of._call(method)  # noqa: SLF001


open = Memory.open  # noqa: A001  (users write `tiermem.open`)


def spaces(path: str | Path, *, key: str | SecretStr | None = None) -> tuple[str, ...]:
    """The spaces of the store in directory `path`, or in a database; raises `NotAStore` when it is none.

    Of a server (`"http://…"`) those that the `key` may name.
    """
    if isinstance(path, str) and is_url(path):
        return Connection(path, key).spaces()
    with closing(open_store(parse_place(arguments.place(path, "path")), read_only=True)) as store:
        return tuple(store.spaces())
