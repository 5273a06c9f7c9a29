"""`tiermem mcp`: a memory for agents, over standard input and output or HTTP on this machine."""

from __future__ import annotations

from typing import Annotated

import typer

import tiermem
from pagestore.errors import Locked
from tiermem.apps.cli import options
from tiermem.apps.cli.group import remark
from tiermem.errors import IndexLocked


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
) -> None:
    """Serve a memory to agents by the Model Context Protocol: over standard input and output, or by HTTP."""
    import anyio

    from tiermem.apps.mcp import serve_http, server

    async def serve() -> None:
        memory, looks = await _open_memory(place, engine, read_only)
        async with memory:
            seen = memory if place.agent is None else memory.as_agent(place.agent)
            made = server(seen, read_only=looks, as_user=as_user, stamps=stamps)
            if http is None:
                await made.run_stdio_async()
            else:
                remark(f"listening at http://127.0.0.1:{http}/mcp; everybody on this machine can use it")
                await serve_http(made, port=http)

    anyio.run(serve)


async def _open_memory(
    place: options.Place, engine: options.EngineName, read_only: bool
) -> tuple[tiermem.AsyncMemory, bool]:
    """The memory, made where there is none, and whether it can only be looked at."""
    space = options.DEFAULT_SPACE if place.space is None else place.space
    if not read_only:
        try:
            return await tiermem.AsyncMemory.open(place.store.address, space=space, engine=engine), False
        except (Locked, IndexLocked):
            remark("another process has this memory open for writing: serving it read-only")
    return await tiermem.AsyncMemory.open(
        place.store.address, space=space, engine=engine, read_only=True
    ), True
