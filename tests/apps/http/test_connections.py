"""Connections that send or read too slowly are closed, and no client has too many of them."""

import contextlib
import functools
import json
import select
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.apps.http.conftest import SETTINGS, Running, keys_of
from tiermem.apps.http import limits
from tiermem.apps.http.connections import LimitedServer, group_address
from tiermem.apps.http.limits import ConnectionLimits, Limits, default_backlog, default_connection_total
from tiermem.apps.http.service import Service
from tiermem.errors import InvalidInput

SECONDS = 30
"""How long a test waits for something that happens at once or after a short deadline."""
SHORT = 0.3
HEADERS = b"POST /v1/add HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
UNFINISHED = HEADERS + b"X-Name: "
TOO_LATE = b"HTTP/1.1 408 "
TOO_MANY = b"HTTP/1.1 503 "

Serve = Callable[..., Running]
Connect = Callable[[Running], socket.socket]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Start a server of a store, or of an application, with limits of connections."""
    with contextlib.ExitStack() as stack:

        def start(app: Any = None, **given: Any) -> Running:
            connections = ConnectionLimits(**given)
            if app is None:
                store = tmp_path / "store"
                made = Limits(rate=0, grace=2, connections=connections)
                running = Running(Service(store, keys=keys_of(store), limits=made, **SETTINGS))
            else:
                options: dict[str, Any] = {"log_config": None, "timeout_graceful_shutdown": 2}
                running = Running(LimitedServer(app, connections, **options))
            stack.callback(running.stop)
            return running

        yield start


@pytest.fixture
def connect() -> Iterator[Connect]:
    """Open connections, which are closed at the end."""
    with contextlib.ExitStack() as stack:

        def open_connection(running: Running) -> socket.socket:
            url = httpx.URL(running.url)
            return stack.enter_context(socket.create_connection((url.host, url.port), SECONDS))

        yield open_connection


def read_to_end(connection: socket.socket) -> bytes:
    """Read until the server closes the connection."""
    parts = []
    with contextlib.suppress(ConnectionError):
        while part := connection.recv(2**16):
            parts.append(part)
    return b"".join(parts)


def trickle(connection: socket.socket) -> None:
    """Send a byte from time to time, until the server answers or closes the connection."""
    for _ in range(SECONDS * 20):
        readable, _, _ = select.select([connection], [], [], 0.05)
        if readable:
            return
        connection.sendall(b"a")
    raise AssertionError("the server waits for ever")


def is_open(connection: socket.socket) -> bool:
    """Whether the server has neither answered nor closed the connection."""
    return not select.select([connection], [], [], 0)[0]


def fetch_health(running: Running) -> int:
    """Ask for `/health` by a new connection, and return the status."""
    return httpx.get(f"{running.url}/health", timeout=SECONDS).status_code


class BlockingApp:
    """An application that answers when it is released, and counts what it has begun."""

    def __init__(self) -> None:
        self.release = threading.Event()
        self.requests = threading.Semaphore(0)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        self.requests.release()
        import anyio

        await anyio.to_thread.run_sync(functools.partial(self.release.wait, SECONDS))
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"ok"})

    def begin(self, connection: socket.socket) -> socket.socket:
        """Send a request, and wait until it is being answered."""
        connection.sendall(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        assert self.requests.acquire(timeout=SECONDS)
        return connection


@pytest.fixture
def app() -> Iterator[BlockingApp]:
    """An application that waits, and waits no more at the end."""
    made = BlockingApp()
    yield made
    made.release.set()


BOTH_LENGTHS = b"Content-Length: 13\r\nTransfer-Encoding: chunked\r\n"
AMBIGUOUS = {
    "both lengths": BOTH_LENGTHS,
    "both lengths, the other way round": b"transfer-encoding: chunked\r\ncontent-length: 0\r\n",
    "both lengths, in capitals": b"TRANSFER-ENCODING: chunked\r\nCONTENT-LENGTH: 500\r\n",
    "two keys": b"Authorization: Bearer a\r\nAuthorization: Bearer b\r\n",
    "a key twice": b"Authorization: Bearer a\r\nX-Name: b\r\nauthorization: Bearer a\r\n",
    "a key and an empty one": b"Authorization: Bearer a\r\nAUTHORIZATION:\r\n",
    "three keys": b"Authorization: Basic YTpi\r\n" * 3,
}


@pytest.mark.parametrize("path", ["/v1/add", "/health", "/nowhere"])
@pytest.mark.parametrize("headers", AMBIGUOUS.values(), ids=AMBIGUOUS)
def test_a_request_that_may_be_read_in_two_ways_is_refused_and_ends_its_connection(
    serve: Serve, connect: Connect, headers: bytes, path: str
) -> None:
    connection = connect(serve())
    request = b"POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\n%s\r\n0\r\n\r\n" % (path.encode(), headers)
    connection.sendall(request + b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    head, _, body = read_to_end(connection).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    assert b"application/problem+json" in head
    problem = json.loads(body)  # and nothing after it
    assert (problem["status"], problem["error"]) == (400, "InvalidInput")
    assert "a request has" in problem["detail"]


@pytest.mark.parametrize(
    "headers",
    [
        b"Content-Length: 2\r\n",
        b"Transfer-Encoding: chunked\r\n",
        b"Authorization: Bearer a\r\nContent-Length: 2\r\n",
        b"Authorization: Bearer a\r\nTransfer-Encoding: chunked\r\n",
        b"X-Authorization: a\r\nX-Authorization: b\r\nContent-Length: 2\r\n",
    ],
)
def test_a_request_with_one_length_and_one_key_is_answered(
    serve: Serve, connect: Connect, headers: bytes
) -> None:
    connection = connect(serve())
    body = b"2\r\n{}\r\n0\r\n\r\n" if b"chunked" in headers else b"{}"
    connection.sendall(HEADERS.replace(b"add", b"stats") + headers + b"Connection: close\r\n\r\n" + body)
    assert read_to_end(connection).startswith((b"HTTP/1.1 200 ", b"HTTP/1.1 404 "))


@pytest.mark.parametrize("sent", [b"", b"POST", UNFINISHED])
def test_a_connection_whose_headers_do_not_end_is_closed(serve: Serve, connect: Connect, sent: bytes) -> None:
    connection = connect(serve(header_seconds=SHORT))
    connection.sendall(sent)
    assert read_to_end(connection).startswith(TOO_LATE)


def test_a_connection_whose_headers_come_slowly_is_closed(serve: Serve, connect: Connect) -> None:
    connection = connect(serve(header_seconds=SHORT))
    connection.sendall(UNFINISHED)
    trickle(connection)
    assert read_to_end(connection).startswith(TOO_LATE)


def test_headers_of_a_later_request_have_a_deadline_too(serve: Serve, connect: Connect) -> None:
    connection = connect(serve(header_seconds=SHORT))
    connection.sendall(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" + UNFINISHED)
    first, second = read_to_end(connection).split(b"HTTP/1.1 ")[1:]
    assert (first[:3], second[:3]) == (b"200", b"408")


def test_a_connection_whose_body_comes_slowly_is_closed(serve: Serve, connect: Connect) -> None:
    connection = connect(serve(body_seconds=SHORT))
    connection.sendall(HEADERS + b"Content-Length: 10000\r\n\r\n")
    trickle(connection)
    assert read_to_end(connection).startswith(TOO_LATE)


def test_a_body_that_comes_slowly_after_the_response_has_a_deadline_too(
    serve: Serve, connect: Connect
) -> None:
    connection = connect(serve(body_seconds=SHORT))
    connection.sendall(b"POST /nowhere HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 10000\r\n\r\n")
    assert connection.recv(12) == b"HTTP/1.1 404"
    rest = read_to_end(connection)
    assert b"\r\n\r\n" in rest
    assert TOO_LATE not in rest


class LargeApp:
    """An application that sends 64 MiB, and notes when it begins and when the client is gone."""

    size = 64 * 2**20

    def __init__(self) -> None:
        self.begun, self.disconnected = threading.Event(), threading.Event()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        self.begun.set()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for _ in range(self.size // 2**20):
            await send({"type": "http.response.body", "body": bytes(2**20), "more_body": True})
        while (await receive())["type"] != "http.disconnect":
            pass
        self.disconnected.set()


def test_a_client_that_never_reads_the_response_is_disconnected(serve: Serve, connect: Connect) -> None:
    app = LargeApp()
    connection = connect(serve(app, write_seconds=SHORT))
    connection.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    assert app.disconnected.wait(SECONDS)
    assert len(read_to_end(connection)) < app.size


@pytest.mark.parametrize("given", [{"per_client": 1}, {"total": 1}])
def test_a_connection_that_does_not_read_gives_way_at_a_limit(
    serve: Serve, connect: Connect, given: dict[str, int]
) -> None:
    app = LargeApp()
    running = serve(app, slow_client_seconds=SHORT, write_seconds=SECONDS, **given)
    slow = connect(running)
    slow.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    assert app.begun.wait(SECONDS)
    time.sleep(2 * SHORT)
    connect(running)
    assert app.disconnected.wait(SECONDS / 2)
    assert len(read_to_end(slow)) < app.size


def test_a_stream_of_events_outlives_every_deadline(serve: Serve) -> None:
    async def send_events(scope: Any, receive: Any, send: Any) -> None:
        import anyio

        if scope["type"] != "http":
            return
        headers = [(b"content-type", b"text/event-stream")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        for number in range(10):
            event = f"data: {number}\n\n".encode()
            await send({"type": "http.response.body", "body": event, "more_body": True})
            await anyio.sleep(SHORT / 3)
        await send({"type": "http.response.body"})

    running = serve(send_events, header_seconds=SHORT, body_seconds=SHORT, write_seconds=SHORT)
    answer = httpx.post(running.url, json={}, timeout=SECONDS)
    assert answer.text.split() == [word for number in range(10) for word in ("data:", str(number))]


def test_health_is_answered_while_fifty_connections_of_the_same_address_are_half_open(
    serve: Serve, connect: Connect
) -> None:
    running = serve(header_seconds=SECONDS)
    connections = [connect(running) for _ in range(50)]
    for connection in connections:
        connection.sendall(UNFINISHED)
    assert fetch_health(running) == 200
    assert any(map(is_open, connections))


def test_a_new_connection_closes_the_oldest_idle_one_of_a_client_at_its_limit(
    serve: Serve, connect: Connect
) -> None:
    running = serve(header_seconds=SECONDS, per_client=3)
    oldest, *others = [connect(running) for _ in range(3)]
    assert fetch_health(running) == 200
    assert read_to_end(oldest) == b""
    assert all(map(is_open, others))


@pytest.mark.parametrize("given", [{"per_client": 3}, {"total": 3}])
def test_a_client_at_a_limit_with_requests_under_way_is_refused_another_connection(
    serve: Serve, connect: Connect, app: BlockingApp, given: dict[str, int]
) -> None:
    running = serve(app, **given)
    connections = [app.begin(connect(running)) for _ in range(3)]
    assert read_to_end(connect(running)).startswith(TOO_MANY)
    app.release.set()
    assert all(read_to_end(connection).startswith(b"HTTP/1.1 200") for connection in connections)
    assert httpx.get(running.url, timeout=SECONDS).status_code == 200


def test_a_new_connection_closes_the_oldest_idle_one_of_all_at_the_limit_of_the_server(
    serve: Serve, connect: Connect, app: BlockingApp
) -> None:
    running = serve(app, header_seconds=SECONDS, total=2)
    idle, busy = connect(running), app.begin(connect(running))
    app.begin(connect(running))
    assert read_to_end(idle) == b""
    assert is_open(busy)


def begin_body(connection: socket.socket) -> socket.socket:
    """Send headers, and wait until the server waits for the body."""
    connection.sendall(HEADERS + b"Content-Length: 10000\r\nExpect: 100-continue\r\n\r\n")
    assert connection.recv(2**16).startswith(b"HTTP/1.1 100 ")
    return connection


@pytest.mark.parametrize("given", [{"per_client": 3}, {"total": 3}])
def test_a_connection_that_waits_long_for_its_body_gives_way_at_a_limit(
    serve: Serve, connect: Connect, given: dict[str, int]
) -> None:
    running = serve(slow_client_seconds=SHORT, body_seconds=SECONDS, **given)
    slow = [begin_body(connect(running)) for _ in range(3)]
    time.sleep(2 * SHORT)
    assert fetch_health(running) == 200
    assert read_to_end(slow[0]).startswith(TOO_LATE)
    assert all(map(is_open, slow[1:]))


def test_a_connection_that_waits_briefly_for_its_body_keeps_its_place(serve: Serve, connect: Connect) -> None:
    running = serve(total=1)
    waiting = begin_body(connect(running))
    assert fetch_health(running) == 503
    assert is_open(waiting)


def test_an_answer_under_way_is_not_a_body_that_is_awaited(
    serve: Serve, connect: Connect, app: BlockingApp
) -> None:
    running = serve(app, total=1, slow_client_seconds=SHORT)
    busy = app.begin(connect(running))
    time.sleep(2 * SHORT)
    assert read_to_end(connect(running)).startswith(TOO_MANY)
    assert is_open(busy)


def test_a_proxy_has_no_limit_of_its_own(serve: Serve, connect: Connect, app: BlockingApp) -> None:
    running = serve(app, per_client=1, proxies=frozenset({"127.0.0.1"}))
    connections = [app.begin(connect(running)) for _ in range(4)]
    app.release.set()
    assert all(read_to_end(connection).startswith(b"HTTP/1.1 200") for connection in connections)


@pytest.mark.parametrize(
    ("address", "group"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ("2001:db8:1:2::7", "2001:db8:1:2::"),
        ("a socket", "a socket"),
    ],
)
def test_connections_of_one_client_are_counted_together(address: str, group: str) -> None:
    assert group_address(address) == group


@pytest.mark.parametrize(("soft", "total"), [(20_000, 1000), (1024, 512), (256, 64), (1, 1), (-1, 1000)])
def test_the_limit_of_all_connections_leaves_file_descriptors_for_the_store(
    monkeypatch: pytest.MonkeyPatch, soft: int, total: int
) -> None:
    resource = pytest.importorskip("resource")
    monkeypatch.setattr(resource, "getrlimit", lambda _: (soft, soft))
    assert default_connection_total() == total
    assert limits.ConnectionLimits().total == total


@pytest.mark.parametrize(("soft", "backlog"), [(20_000, 2048), (1024, 256), (256, 128), (-1, 2048)])
def test_connections_that_wait_to_be_accepted_leave_file_descriptors_too(
    monkeypatch: pytest.MonkeyPatch, soft: int, backlog: int
) -> None:
    resource = pytest.importorskip("resource")
    monkeypatch.setattr(resource, "getrlimit", lambda _: (soft, soft))
    assert default_backlog() == backlog
    assert LimitedServer(None, ConnectionLimits()).config.backlog == backlog


@pytest.mark.parametrize(
    "given",
    [
        {"header_seconds": 0},
        {"body_seconds": -1},
        {"per_client": 0},
        {"slow_client_seconds": 0},
        {"backlog": 0},
        {"proxies": frozenset({"proxy.test"})},
    ],
)
def test_limits_that_cannot_be_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        ConnectionLimits(**given)
