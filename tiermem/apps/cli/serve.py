"""`tiermem serve`: the memories of a store over HTTP."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Annotated

import typer

from tiermem.apps.cli import options
from tiermem.apps.cli.group import remark
from tiermem.storage import StorePlace

KeysFile = Annotated[
    Path | None,
    typer.Option("--keys", envvar="TIERMEM_KEYS", help="The file of keys (next to the store)."),
]


def keys_file(store: StorePlace, named: Path | None) -> Path:
    """Return the file of keys: the one that is named, or the one next to the directory of the store."""
    from tiermem.apps.http.keys import keys_beside

    instead = "name the file of keys with --keys"
    return named or keys_beside(store.require_directory("the file of keys beside a store", instead=instead))


def serve(
    *,
    store: options.Store = options.DEFAULT_STORE,
    host: Annotated[str, typer.Option("--host", help="Where to listen; elsewhere needs keys.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=1, max=65_535, help="On which port.")] = 8000,
    keys: KeysFile = None,
    engine: options.Engine = "auto",
    read_only: options.ReadOnly = False,
    body_mb: Annotated[float, typer.Option("--body-mb", help="A request has so many MiB at most.")] = 16.0,
    rate: Annotated[float, typer.Option("--rate", help="Requests a second of one key; 0 is any.")] = 100.0,
    seconds: Annotated[float, typer.Option("--seconds", help="What a request may take.")] = 120.0,
    spaces: Annotated[int, typer.Option("--spaces", help="How many are open at once.")] = 64,
    idle: Annotated[
        float, typer.Option("--idle", help="Seconds after which an unused space closes.")
    ] = 300.0,
    log: Annotated[
        bool, typer.Option("--log", help="Tell every request on stderr: by which key, what came of it.")
    ] = False,
    grace: Annotated[float, typer.Option("--grace", help="Seconds requests have when it stops.")] = 10.0,
    body_seconds: Annotated[
        float, typer.Option("--body-seconds", help="Seconds in which the body of a request must arrive.")
    ] = 30.0,
    client_connections: Annotated[
        int, typer.Option("--client-connections", min=1, help="Connections of one address at most.")
    ] = 50,
    proxy: Annotated[
        list[str] | None,
        typer.Option("--proxy", metavar="ADDRESS", help="An address without that limit (repeatable)."),
    ] = None,
) -> None:
    """Serve the memories of a store over HTTP to clients that have a key."""
    from tiermem.apps.http.keys import Keys
    from tiermem.apps.http.limits import ConnectionLimits, Limits
    from tiermem.apps.http.run import run
    from tiermem.apps.http.service import Service

    logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s")
    logging.getLogger("tiermem.http").setLevel(logging.INFO if log else logging.WARNING)
    limits = Limits(
        body=int(body_mb * 2**20),
        rate=rate,
        seconds=seconds,
        spaces=spaces,
        idle=idle,
        grace=grace,
        connections=ConnectionLimits(
            body_seconds=body_seconds, per_client=client_connections, proxies=frozenset(proxy or ())
        ),
    )
    service = Service(
        store.address,
        keys=Keys(keys_file(store, keys)),
        host=host,
        limits=limits,
        read_only=read_only,
        engine=engine,
    )
    to = "everybody on this machine can use it, without a key" if service.access.open else "with a key"
    shown = f"[{host}]" if ":" in host else host
    run(
        service,
        host=host,
        port=port,
        on_listening=lambda: remark(f"listening at http://{shown}:{port}; {to}"),
    )
