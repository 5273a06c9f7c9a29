"""A server process: listens, and ends on SIGTERM or SIGINT when what it has begun is finished."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable
from typing import Any

from tiermem.apps.http.app import application
from tiermem.apps.http.connections import LimitedServer
from tiermem.apps.http.service import Service
from tiermem.errors import InvalidInput


def server(
    service: Service, *, host: str, port: int, on_listening: Callable[[], None] | None = None
) -> LimitedServer:
    """A server that listens there when it is run."""
    return LimitedServer(
        application(service),
        service.limits.connections,
        on_listening=on_listening,
        host=host,
        port=port,
        lifespan="on",
        access_log=False,
        log_config=None,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=max(1, round(service.limits.grace)),
    )


def listening(host: str, port: int) -> socket.socket:
    """A socket that takes connections from now on, also before anybody serves them; port 0 is any free one.

    Raises `InvalidInput` where the address cannot be used.
    """
    try:
        return socket.create_server((host, port))
    except OSError as error:
        raise InvalidInput(
            f"cannot listen at {host}:{port}: {error}; name another port with --port"
        ) from error


def run(
    service: Service,
    *,
    host: str,
    port: int,
    listener: socket.socket | None = None,
    on_listening: Callable[[], None] | None = None,
) -> None:
    """Serve until the process ends by SIGTERM or Ctrl-C, at a socket that listens already, if one
    is given; raises `InvalidInput` where the address cannot be used.
    """
    stopped: list[int] = []

    def stop(number: int, _frame: Any) -> None:
        stopped.append(number)

    # The server raises the signal again when it has ended: that is to end nothing any more.
    before = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        made = server(service, host=host, port=port, on_listening=on_listening)
        made.run(None if listener is None else [listener])
    except SystemExit as error:
        raise InvalidInput(
            f"cannot listen at {host}:{port}: is something else there? Name another port with --port"
        ) from error
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
