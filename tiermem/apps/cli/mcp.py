"""`tiermem mcp`: a memory for agents, over standard input and output or HTTP on this machine."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import tiermem
from pagestore.errors import Locked
from tiermem.apps.cli import options
from tiermem.apps.cli.group import remark
from tiermem.dialogue.agent_spaces import USER_SPACE
from tiermem.errors import IndexLocked, InvalidInput, UnknownId

if TYPE_CHECKING:
    from tiermem.apps.hooks.events import Statement
    from tiermem.dialogue import DialogueSession

log = logging.getLogger("tiermem.mcp")


def mcp(
    *,
    place: options.SpaceOptions,
    engine: options.Engine = "auto",
    read_only: options.ReadOnly = False,
    http: Annotated[
        int | None,
        typer.Option("--http", metavar="PORT", min=1, max=65_535, help="Listen at 127.0.0.1 on this port."),
    ] = None,
    as_user: Annotated[
        bool, typer.Option("--as-user", help="Store what `remember` gets as the user's words.")
    ] = False,
    stamps: Annotated[
        bool, typer.Option("--stamps", help="Believe the time and the trust that `remember` gets.")
    ] = False,
    repository: Annotated[
        bool,
        typer.Option("--repository", help="The space of the repository of this directory, as hooks fill it."),
    ] = False,
) -> None:
    """Serve a memory to agents by the Model Context Protocol: over standard input and output, or by HTTP.

    Before each call it takes in what hooks of coding agents have written.
    """
    import anyio

    from tiermem.apps.mcp import serve_http, server

    space = options.DEFAULT_SPACE if place.space is None else place.space
    if repository:
        space = _space_of_repository(place)

    async def serve() -> None:
        memory, looks = await _open_memory(place, space, engine, read_only)
        async with memory:
            seen = memory if place.agent is None else memory.as_agent(place.agent)
            drain = (
                None if looks or place.store.directory is None else _SpoolDrain(place.store.directory, memory)
            )
            later, user_space = None, None
            if place.store.directory is not None:
                if looks and not read_only:
                    later = partial(_remember_later, place.store.directory, space, place.agent)
                if repository:
                    user_space = _UserSpace(place.store.directory, place.agent)
            made = server(
                seen,
                read_only=looks,
                as_user=as_user,
                stamps=stamps,
                before_call=drain,
                remember_later=later,
                user_space=user_space,
            )
            if http is None:
                await made.run_stdio_async()
            else:
                note = f"listening at http://127.0.0.1:{http}/mcp; everybody on this machine can use it"
                await serve_http(made, port=http, on_listening=partial(remark, note))

    anyio.run(serve)


def _remember_later(store: Path, space: str, agent: str | None, arguments: Mapping[str, object]) -> None:
    """Keep a fact for the process that writes the space."""
    from tiermem.apps.hooks.events import keep_statement

    keep_statement(store, space, agent, arguments)


def _space_of_repository(place: options.SpaceOptions) -> str:
    from tiermem.apps.hooks.drain import OUTSIDE
    from tiermem.dialogue.agent_spaces import space_of_directory

    if place.space is not None:
        raise InvalidInput("--space and --repository both name a space: give one of them")
    directory = place.store.directory
    spaces = tiermem.spaces(directory) if directory is not None and (directory / "FORMAT").exists() else ()
    return space_of_directory(str(Path.cwd()), spaces) or OUTSIDE


class _UserSpace:
    """The space for all repositories: opened at each call that reads it; what drains the spool writes it."""

    def __init__(self, store: Path, agent: str | None) -> None:
        self._store = store
        self._agent = agent

    def remember_later(self, arguments: Mapping[str, object]) -> None:
        """See `UserSpace`."""
        _remember_later(self._store, USER_SPACE, self._agent, arguments)

    async def read(
        self, read: Callable[[tiermem.AsyncMemory, int], Awaitable[tiermem.Context]], max_tokens: int
    ) -> tiermem.Context | None:
        """See `UserSpace`."""
        try:
            memory = await tiermem.AsyncMemory.open(
                self._store, space=USER_SPACE, engine="local", read_only=True, create=False
            )
        except UnknownId:
            return None
        async with memory:
            return await read(memory if self._agent is None else memory.as_agent(self._agent), max_tokens)


class _SpoolDrain:
    """Takes in what hooks have written, into the memory that is open too, whenever there is a new event.

    What fails is in the log of the process, and is tried again with the next event.
    """

    def __init__(self, store: Path, memory: tiermem.AsyncMemory) -> None:
        self._store = store
        self._memory = memory
        self._newest = ""

    async def __call__(self) -> None:
        from anyio import to_thread

        from tiermem.apps.hooks.drain import drain_spool
        from tiermem.apps.hooks.events import newest_name

        newest = newest_name(self._store)
        if newest <= self._newest:
            return
        self._newest = newest
        try:
            done = await to_thread.run_sync(
                lambda: drain_spool(
                    self._store,
                    now=datetime.now(UTC),
                    store_sessions=self._store_sessions,
                    remember=self._remember,
                )
            )
        except Locked:
            return  # another process takes them in
        for problem in done.problems:
            log.warning("%s", problem)

    def _store_sessions(self, space: str, sessions: Sequence[DialogueSession]) -> Mapping[str, int]:
        from anyio import from_thread

        from tiermem.apps.hooks.drain import open_and_store

        if space == self._memory.space:
            return from_thread.run(self._ingest, sessions)
        return open_and_store(self._store, space, sessions)

    def _remember(self, space: str, statements: Sequence[Statement]) -> None:
        from anyio import from_thread

        from tiermem.apps.hooks.drain import open_and_remember

        if space == self._memory.space:
            from_thread.run(self._remember_here, statements)
        else:
            open_and_remember(self._store, space, statements)

    async def _remember_here(self, statements: Sequence[Statement]) -> None:
        from tiermem.apps.hooks.drain import settle_statement

        for one in statements:
            seen = self._memory if one.agent is None else self._memory.as_agent(one.agent)
            with settle_statement(one):
                await seen.remember(**one.arguments)

    async def _ingest(self, sessions: Sequence[DialogueSession]) -> Mapping[str, int]:
        from tiermem.apps.hooks.drain import conversations_of, new_turns_by_agent

        return new_turns_by_agent(await self._memory.ingest(conversations_of(sessions)))


async def _open_memory(
    place: options.SpaceOptions, space: str, engine: options.EngineName, read_only: bool
) -> tuple[tiermem.AsyncMemory, bool]:
    """The memory, made where there is none, and whether it can only be looked at."""
    if not read_only:
        try:
            return await tiermem.AsyncMemory.open(place.store.address, space=space, engine=engine), False
        except (Locked, IndexLocked):
            remark("another process has this memory open for writing: serving it read-only")
    return await tiermem.AsyncMemory.open(
        place.store.address, space=space, engine=engine, read_only=True
    ), True
