"""A server in this process: requests go to its application, and no socket is opened."""

import contextlib
import socket
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

import tiermem
from tests.api.conftest import OpenMemory
from tests.engines import quoting_engine
from tiermem.apps.http.app import application
from tiermem.apps.http.connections import LimitedServer
from tiermem.apps.http.keys import Keys
from tiermem.apps.http.limits import Limits
from tiermem.apps.http.run import server
from tiermem.apps.http.service import Service

SETTINGS: dict[str, Any] = {
    "engine": quoting_engine(),
    "embedder": "hashed",
    "distil": "inline",
    "write_back": "inline",
}
SAID = "My dog Biscuit is allergic to chicken."

Serving = Callable[..., contextlib.AbstractAsyncContextManager[httpx.AsyncClient]]


@pytest.fixture
def keys(tmp_path: Path) -> Keys:
    """Keys beside a store; there is no file until one is made."""
    return Keys(tmp_path / "store.keys.json")


@pytest.fixture
def serving(tmp_path: Path, keys: Keys) -> Serving:
    """A client of a server of the store, while it runs."""

    @contextlib.asynccontextmanager
    async def serve(**given: Any) -> AsyncIterator[httpx.AsyncClient]:
        service = Service(tmp_path / "store", keys=keys, **(SETTINGS | given))
        app = application(service)
        async with app.router.lifespan_context(app):
            transport = httpx.ASGITransport(app)
            async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client:
                yield client

    return serve


def bearer(token: str) -> dict[str, str]:
    """The headers that show a key."""
    return {"Authorization": f"Bearer {token}"}


class Running(threading.Thread):
    """A service, or another server, on a port of its own, in this process."""

    def __init__(self, service: Service | LimitedServer) -> None:
        super().__init__(daemon=True)
        # asyncio sends at once on sockets that say they are TCP, and on others waits for acknowledgements.
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        self._socket.bind(("127.0.0.1", 0))
        self._socket.listen(128)  # whoever comes before it serves waits
        self._server = server(service, host="127.0.0.1", port=0) if isinstance(service, Service) else service
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self.start()

    def run(self) -> None:
        """Serve until it is stopped."""
        self._server.run([self._socket])

    def stop(self) -> None:
        """Stop, with all that is open closed."""
        self._server.should_exit = True
        self.join(30)
        assert not self.is_alive()


class Server(Running):
    """A server of a store, with settings of its own."""

    def __init__(self, store: Path, **settings: Any) -> None:
        self.settings = settings
        super().__init__(Service(store, keys=keys_of(store), limits=Limits(rate=0, grace=2), **settings))


def keys_of(store: Path) -> Keys:
    """The keys beside a store."""
    return Keys(store.with_name(f"{store.name}.keys.json"))


@pytest.fixture
def open_remote(tmp_path: Path) -> Iterator[OpenMemory]:
    """As `open_memory`, but each memory is one over HTTP, of a server with those settings."""
    servers: list[Server] = []
    opened: list[tiermem.Memory] = []

    def _open(**given: Any) -> tiermem.Memory:
        own = {name: given.pop(name) for name in ("space", "create") if name in given}
        store, settings = given.pop("path", tmp_path / "store"), SETTINGS | given
        if store == ":memory:":
            store = tmp_path / f"store-{len(opened)}"
        if not servers or servers[-1].settings != settings:
            while servers:
                servers.pop().stop()
            servers.append(Server(store, **settings))
        opened.append(tiermem.open(servers[-1].url, **own))
        return opened[-1]

    yield _open
    for memory in opened:
        memory.close()
    for one in servers:
        one.stop()
