"""`tiermem look`: a page in the browser to look at a memory with."""

from __future__ import annotations

import logging
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlencode

import typer

import tiermem
from tiermem.apps.cli import options
from tiermem.apps.cli.group import remark
from tiermem.storage import StorePlace

if TYPE_CHECKING:
    from tiermem.apps.http.service import Service
    from tiermem.wire import Right

_HOST = "127.0.0.1"
_AFRESH = 60.0
"""Seconds after which a space that is not looked at is closed; opened again, it shows what came meanwhile."""


def look(
    *,
    store: Annotated[
        StorePlace,
        typer.Argument(
            envvar="TIERMEM_STORE",
            help="Directory of the memory, or the URL of a PostgreSQL database.",
            parser=options.parse_store,
            metavar="STORE",
        ),
    ] = options.DEFAULT_STORE,
    space: Annotated[
        str | None, typer.Option("--space", envvar="TIERMEM_SPACE", help="Whose memory to begin with.")
    ] = None,
    write: Annotated[
        bool, typer.Option("--write", help="Record answers, and let units be withdrawn and words be erased.")
    ] = False,
    browser: Annotated[bool, typer.Option(help="Open a browser, or only print the address.")] = True,
    port: Annotated[int, typer.Option("--port", min=0, max=65_535, help="On which port; 0 is any.")] = 0,
    engine: options.Engine = "auto",
) -> None:
    """Look at a memory in the browser: ask, and follow answers to the words. Writes nothing of itself."""
    from tiermem.apps.http.run import listening, run

    tiermem.spaces(store.address)  # says what is wrong with it, and makes none
    logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s")
    logging.getLogger("tiermem.http").setLevel(logging.WARNING)
    with TemporaryDirectory(prefix="tiermem-look-") as folder, listening(_HOST, port) as listener:
        service, token = looking(store.address, Path(folder) / "keys.json", write=write, engine=engine)
        named = f"?{urlencode({'space': space})}" if space else ""
        address = f"http://{_HOST}:{listener.getsockname()[1]}/{named}#key={token}"
        if not write:
            remark("looking read-only: --write records answers, and lets you withdraw and erase")
        typer.echo(address)
        if browser:
            _open(address)
        run(service, host=_HOST, port=port, listener=listener)


def looking(store: str | Path, keys: Path, *, write: bool, engine: options.EngineName) -> tuple[Service, str]:
    """What serves a store to clients with the key that is made for it, and that key."""
    from tiermem.apps.http.keys import ALL, Keys
    from tiermem.apps.http.limits import Limits
    from tiermem.apps.http.service import Service

    rights: tuple[Right, ...] = ("read", "write", "erase") if write else ("read",)
    known = Keys(keys)
    token, _ = known.make("look", spaces=[ALL], rights=rights)
    limits = Limits(rate=0) if write else Limits(rate=0, idle=_AFRESH)
    service = Service(store, keys=known, host=_HOST, limits=limits, read_only=not write, engine=engine)
    return service, token


def _open(address: str) -> None:
    """Have a browser open it, which waits for the server to answer; one in the terminal takes its time."""
    import webbrowser
    from threading import Thread

    Thread(target=webbrowser.open, args=(address,), daemon=True).start()
