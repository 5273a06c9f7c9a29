"""Deadlines and limits of connections, which uvicorn does not have, in a protocol class.

Requests that a proxy and this server might read differently are refused.
"""

from __future__ import annotations

import json
import socket
from asyncio import TimerHandle, Transport
from collections.abc import Callable, Collection, Iterable
from ipaddress import IPv6Address, ip_address
from itertools import chain
from typing import Any

from tiermem.apps.http.limits import ConnectionLimits
from tiermem.errors import InvalidInput, install_command
from tiermem.wire.problems import MEDIA_TYPE, problem_of

try:
    import h11
    import uvicorn
    from uvicorn.protocols.http.h11_impl import H11Protocol
except ImportError as error:
    raise InvalidInput(f"serving over HTTP needs an extra: {install_command('serve')} ({error})") from error

_MIN_PROGRESS = 2**16
"""Bytes that a client reads within the write deadline at least, or else all that is left."""
_TOO_LATE = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
_TOO_MANY = (
    b"HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\nretry-after: 1\r\ncontent-length: 0\r\n\r\n"
)


class LimitedProtocol(H11Protocol):
    """A connection with deadlines for headers, body and writing; `protocol_class` makes one with a table."""

    table: ConnectionTable

    _read_timer: TimerHandle | None = None
    _write_timer: TimerHandle | None = None
    _write_paused_at: float | None = None
    _phase: tuple[str, object] | None = None
    _phase_since = 0.0
    idle_since = 0.0

    @property
    def client_group(self) -> str | None:
        """The address that the connection counts for; `None` without a limit per client."""
        if self.client is None:
            return None
        group = group_address(self.client[0])
        return None if group in self.table.proxies else group

    @property
    def is_idle(self) -> bool:
        """Whether no request is being answered, and closing loses nothing that was sent."""
        return not (
            self._is_answering or self.transport.is_closing() or self.transport.get_write_buffer_size()
        )

    @property
    def client_wait(self) -> float:
        """The seconds that the server has waited for the client.

        It waits for the body of a request it has not begun to answer, or for the client to read.
        """
        if self._write_paused_at is not None:
            return self.loop.time() - self._write_paused_at
        is_waiting = self._phase is not None and self._phase[0] == "body" and not self.cycle.response_started
        return self.loop.time() - self._phase_since if is_waiting else 0.0

    @property
    def _is_answering(self) -> bool:
        return bool(self.cycle) and not self.cycle.response_complete

    @property
    def _is_keeping_alive(self) -> bool:
        """Whether uvicorn waits for the next request, of which nothing has arrived."""
        return self.timeout_keep_alive_task is not None and not self.conn.trailing_data[0]

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        """Count the connection, or refuse it with status 503."""
        super().connection_made(transport)
        transport.set_write_buffer_limits(high=0)  # writing is paused as long as anything is in the buffer
        self.idle_since = self.loop.time()
        if self.table.add(self):
            self._update_read_deadline()
        else:
            transport.write(_TOO_MANY)
            transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the deadlines."""
        self.table.remove(self)
        self._set_read_deadline(None)
        self._stop_write_deadline()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Handle the bytes, and set the deadline of what is still to come."""
        super().data_received(data)
        self._update_read_deadline()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        self.idle_since = self.loop.time()
        super().on_response_complete()
        self._update_read_deadline()

    def pause_writing(self) -> None:
        """Start the write deadline: the client has not read everything."""
        super().pause_writing()
        self._start_write_deadline()

    def resume_writing(self) -> None:
        """Stop the write deadline: the buffer is empty."""
        super().resume_writing()
        self._stop_write_deadline()

    def close_idle(self) -> None:
        """Close the connection, which is idle, in favour of a new one."""
        self._set_read_deadline(None)
        self.transport.close()

    def close_late(self) -> None:
        """Close the connection, with status 408 if no response to this request was begun."""
        if self.transport.is_closing():
            return
        if self._is_answering:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        is_in_body = self.conn.their_state is h11.SEND_BODY
        if not (is_in_body and self.cycle.response_started):
            self.transport.write(_TOO_LATE)
        self.transport.close()

    def give_way(self) -> None:
        """Close the connection in favour of a new one; break it off if the client does not read."""
        if self._write_paused_at is None:
            self.close_late()
        else:
            self.transport.abort()

    def _update_read_deadline(self) -> None:
        phase = self._current_phase()
        if phase != self._phase:
            self._set_read_deadline(phase)

    def _current_phase(self) -> tuple[str, object] | None:
        """What the client has begun to send, and after which request; `None` if uvicorn waits or answers."""
        if self.transport.is_closing():
            return None
        if self.conn.their_state is h11.SEND_BODY:
            return "body", self.cycle
        if self.conn.their_state is h11.IDLE and not self._is_keeping_alive:
            return "headers", self.cycle
        return None

    def _set_read_deadline(self, phase: tuple[str, object] | None) -> None:
        if self._read_timer is not None:
            self._read_timer.cancel()
            self._read_timer = None
        self._phase = phase
        self._phase_since = self.loop.time()
        if phase is not None:
            limits = self.table.limits
            seconds = limits.body_seconds if phase[0] == "body" else limits.header_seconds
            self._read_timer = self.loop.call_later(seconds, self.close_late)

    def _start_write_deadline(self) -> None:
        self._stop_write_deadline()
        self._write_paused_at = self.loop.time()
        size = self.transport.get_write_buffer_size()
        self._write_timer = self.loop.call_later(self.table.limits.write_seconds, self._check_writing, size)

    def _check_writing(self, size: int) -> None:
        """Break the connection off if the client has read too little since the buffer had `size` bytes."""
        if self.transport.get_write_buffer_size() > size - _MIN_PROGRESS:
            self.transport.abort()
        else:
            self._start_write_deadline()

    def _stop_write_deadline(self) -> None:
        self._write_paused_at = None
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None


class ConnectionTable:
    """The open connections of a server, by client address."""

    def __init__(self, limits: ConnectionLimits) -> None:
        self.limits = limits
        self.proxies = frozenset(map(group_address, limits.proxies))
        self._clients: dict[str | None, dict[LimitedProtocol, None]] = {}

    def add(self, connection: LimitedProtocol) -> bool:
        """Add a connection, or return `False` at a limit.

        At a limit the connection that is idle for the longest time is closed to make room. If none is idle,
        it is the one whose client is awaited for the longest time, if that is `slow_client_seconds` or more.
        """
        client = connection.client_group
        peers = self._clients.get(client, {})
        if client is not None and len(peers) >= self.limits.per_client and not self._make_room(peers):
            return False
        if len(self) >= self.limits.total and not self._make_room(tuple(chain(*self._clients.values()))):
            return False
        self._clients.setdefault(client, {})[connection] = None
        return True

    def remove(self, connection: LimitedProtocol) -> None:
        """Remove a connection, if it is in the table."""
        client = connection.client_group
        peers = self._clients.get(client, {})
        peers.pop(connection, None)
        if not peers:
            self._clients.pop(client, None)

    def __len__(self) -> int:
        return sum(map(len, self._clients.values()))

    def _make_room(self, connections: Collection[LimitedProtocol]) -> bool:
        """Close the connection that is idle or waits for its client for the longest time, if there is one."""
        if idle := [connection for connection in connections if connection.is_idle]:
            oldest = min(idle, key=lambda connection: connection.idle_since)
            self.remove(oldest)
            oldest.close_idle()
            return True
        slowest = max(connections, key=lambda connection: connection.client_wait)
        if slowest.client_wait < self.limits.slow_client_seconds:
            return False
        self.remove(slowest)
        slowest.give_way()
        return True


def protocol_class(limits: ConnectionLimits) -> type[LimitedProtocol]:
    """Make the protocol class of one server: its connections are counted together."""

    class ServerProtocol(LimitedProtocol):
        table = ConnectionTable(limits)

    return ServerProtocol


class UnambiguousApp:
    """An application of ASGI. Ambiguous requests are answered with status 400 and `Connection: close`."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request."""
        fault = find_ambiguity(scope["headers"]) if scope["type"] == "http" else None
        if fault is None:
            await self._app(scope, receive, send)
            return
        body = json.dumps(problem_of(InvalidInput(fault)).body).encode()
        headers = (("content-type", MEDIA_TYPE), ("content-length", str(len(body))), ("connection", "close"))
        raw = [(name.encode(), value.encode()) for name, value in headers]
        await send({"type": "http.response.start", "status": 400, "headers": raw})
        await send({"type": "http.response.body", "body": body})


def find_ambiguity(headers: Iterable[tuple[bytes, bytes]]) -> str | None:
    """Return what two readers of these headers may read differently; names are in lower case."""
    names = [name for name, _ in headers]
    if names.count(b"authorization") > 1:
        return "a request has one Authorization header at most"
    if b"content-length" in names and b"transfer-encoding" in names:
        return "a request has Content-Length or Transfer-Encoding, not both"
    return None


class LimitedServer(uvicorn.Server):
    """A server of uvicorn with these limits of connections, and without WebSockets and ambiguous requests."""

    def __init__(
        self,
        app: Any,
        limits: ConnectionLimits,
        *,
        on_listening: Callable[[], None] | None = None,
        **options: Any,
    ) -> None:
        backlog = limits.backlog
        config = uvicorn.Config(
            UnambiguousApp(app), http=protocol_class(limits), ws="none", backlog=backlog, **options
        )
        super().__init__(config)
        self._on_listening = on_listening

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen, and report that."""
        await super().startup(sockets)
        if self._on_listening is not None:
            self._on_listening()


def group_address(address: str) -> str:
    """Return the address that connections are counted for: of IPv6 its first 64 bits."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    if not isinstance(parsed, IPv6Address):
        return address
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(IPv6Address(int(parsed) >> 64 << 64))
