"""`tiermem mcp`: a memory for agents, over standard input and output or HTTP on this machine."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

import tiermem
from pagestore.errors import Locked
from tiermem.apps.cli import options
from tiermem.apps.cli.group import remark
from tiermem.errors import IndexLocked, InvalidInput


def mcp(
    *,
    place: options.Place,
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
                None
                if looks or place.store.directory is None
                else partial(_drain, place.store.directory, memory)
            )
            made = server(seen, read_only=looks, as_user=as_user, stamps=stamps, before_call=drain)
            if http is None:
                await made.run_stdio_async()
            else:
                remark(f"listening at http://127.0.0.1:{http}/mcp; everybody on this machine can use it")
                await serve_http(made, port=http)

    anyio.run(serve)


def _space_of_repository(place: options.Place) -> str:
    from tiermem.apps.hooks.drain import OUTSIDE
    from tiermem.dialogue.agent_spaces import space_of_directory

    if place.space is not None:
        raise InvalidInput("--space and --repository both name a space: give one of them")
    directory = place.store.directory
    spaces = tiermem.spaces(directory) if directory is not None and (directory / "FORMAT").exists() else ()
    return space_of_directory(str(Path.cwd()), spaces) or OUTSIDE


async def _drain(store: Path, memory: tiermem.AsyncMemory) -> None:
    """Take in what hooks have written, into the memory that is open too; what fails is left for later."""
    from anyio import from_thread, to_thread

    from tiermem.apps.hooks.drain import conversation_of, drain_spool, open_and_store
    from tiermem.apps.hooks.events import has_events
    from tiermem.dialogue import DialogueSession

    async def ingest(sessions: Sequence[DialogueSession]) -> int:
        return sum(added.new for _, added in await memory.ingest([conversation_of(sessions)]))

    def store_sessions(space: str, sessions: Sequence[DialogueSession]) -> int:
        if space == memory.space:
            return from_thread.run(ingest, sessions)
        return open_and_store(store, space, sessions)

    if has_events(store):
        try:
            await to_thread.run_sync(
                lambda: drain_spool(store, now=datetime.now(UTC), store_sessions=store_sessions)
            )
        except Locked:
            return  # another process takes them in


async def _open_memory(
    place: options.Place, space: str, engine: options.EngineName, read_only: bool
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
