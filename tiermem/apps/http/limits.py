"""What a server takes: how much at once, how often, how long; and what it has done already."""

from __future__ import annotations

import time
from asyncio import Future, get_running_loop, shield
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass, field
from ipaddress import ip_address

from tiermem.errors import InvalidInput, TooManyRequests

_MOST_CALLERS = 10_000
"""Callers whose rate is kept track of."""

_MAX_CONNECTIONS = 1000
_MIN_BACKLOG, _MAX_BACKLOG = 128, 2048
_FILE_RESERVE = 512
"""File descriptors that stay for the store and for connections that are not counted yet."""


def default_connection_total() -> int:
    """Return how many connections the file descriptors of this process allow, at most 1,000."""
    files = _file_limit()
    return min(_MAX_CONNECTIONS, max(files - _FILE_RESERVE, files // 4, 1))


def default_backlog() -> int:
    """Return how many connections may wait to be accepted, 128 to 2,048.

    asyncio accepts as many at once before any of them is counted, so each needs a file descriptor besides
    those of the counted connections and of the store.
    """
    free = _file_limit() - default_connection_total() - _FILE_RESERVE // 2
    return min(_MAX_BACKLOG, max(free, _MIN_BACKLOG))


def _file_limit() -> int:
    """The number of file descriptors that this process may have open; a high one where none is set."""
    unlimited = 2**20
    try:
        from resource import RLIMIT_NOFILE, getrlimit
    except ImportError:  # not on Windows
        return unlimited
    soft, _ = getrlimit(RLIMIT_NOFILE)
    return unlimited if soft < 0 else soft  # RLIM_INFINITY is negative on some systems


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionLimits:
    """The deadlines of a connection in seconds, and the numbers of connections.

    `header_seconds` and `body_seconds` are the time in which headers and body of a request arrive.
    `write_seconds` is the time in which a client reads what is sent, or 64 KiB of it. `per_client` counts
    connections of one address; addresses in `proxies` have no such limit. At these limits a connection whose
    client has been awaited for `slow_client_seconds`, to send a body or to read, gives way to a new one.
    `backlog` is how many connections may wait to be accepted.
    """

    header_seconds: float = 10.0
    body_seconds: float = 30.0
    slow_client_seconds: float = 10.0
    write_seconds: float = 30.0
    per_client: int = 50
    total: int = field(default_factory=default_connection_total)
    backlog: int = field(default_factory=default_backlog)
    proxies: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        seconds = ("header_seconds", "body_seconds", "slow_client_seconds", "write_seconds")
        for name in (*seconds, "per_client", "total", "backlog"):
            if not getattr(self, name) > 0:
                raise InvalidInput(f"{name} must be more than 0")
        for proxy in self.proxies:
            try:
                ip_address(proxy)
            except ValueError as error:
                raise InvalidInput(f"a proxy is an IP address: {proxy!r} is none") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What the server takes. `rate` are requests a second of one key, with twice as many at once; 0 is any.

    `body` is bytes, `seconds` what a request may take, `spaces` how many are open at once, `idle` the seconds
    after which one that is not used is closed, `grace` those that requests have when the server stops.
    `connections` are the limits of connections.
    """

    body: int = 16 * 2**20
    rate: float = 100.0
    seconds: float = 120.0
    spaces: int = 64
    idle: float = 300.0
    grace: float = 10.0
    connections: ConnectionLimits = field(default_factory=ConnectionLimits)

    def __post_init__(self) -> None:
        for name in ("body", "seconds", "spaces", "idle", "grace"):
            if not getattr(self, name) > 0:
                raise InvalidInput(f"{name} must be more than 0")
        if not self.rate >= 0:
            raise InvalidInput("rate must be 0 (any) or more")


class Rates:
    """A bucket of tokens for each caller: a request takes one, and so many come back each second."""

    def __init__(self, rate: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate = rate
        self._clock = clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, caller: str) -> None:
        """Take one, or raise `TooManyRequests` with the seconds until there is one again."""
        if not self._rate:
            return
        most, now = max(2 * self._rate, 1.0), self._clock()
        left, then = self._left.pop(caller, (most, now))
        left = min(most, left + (now - then) * self._rate)
        self._left[caller] = (left - 1 if left >= 1 else left, now)
        if len(self._left) > _MOST_CALLERS:
            self._left.popitem(last=False)
        if left < 1:
            raise SlowDown(self._rate, seconds=(1 - left) / self._rate)


class SlowDown(TooManyRequests):
    """More requests than the key may make; `seconds` says when there is room for one again."""

    def __init__(self, rate: float, *, seconds: float) -> None:
        super().__init__(f"this key may make {rate:g} requests a second: go on in {seconds:.2f} s")
        self.seconds = seconds


class UsedBefore(InvalidInput):
    """An idempotency key that was used for another request."""

    status = 409


class Repeats:
    """What was done under an idempotency key is not done again: the same answer comes back.

    It is kept in memory, as long as there is room: the oldest goes first. What failed is forgotten, so that
    it can be tried again; what is under way is waited for.
    """

    def __init__(self, *, most: int = 10_000, most_bytes: int = 64 * 2**20) -> None:
        self._most = most
        self._most_bytes = most_bytes
        self._bytes = 0
        self._done: OrderedDict[Hashable, tuple[str, Future[bytes]]] = OrderedDict()

    async def once(self, key: Hashable, asked: str, do: Callable[[], Awaitable[bytes]]) -> bytes:
        """What `do` gives, or gave under this key; `InvalidInput` where it was used for something else.

        `asked` tells one request from another.
        """
        if key in self._done:
            before, answer = self._done[key]
            if before != asked:
                raise UsedBefore("this Idempotency-Key was used for another request: give each its own")
            return await shield(answer)
        future: Future[bytes] = get_running_loop().create_future()
        self._done[key] = asked, future
        try:
            done = await do()
        except BaseException as error:
            del self._done[key]
            future.set_exception(error)
            future.exception()  # raised where a caller waits for it; without one it is no fault
            raise
        future.set_result(done)
        self._bytes += len(done)
        self._make_room()
        return done

    def _make_room(self) -> None:
        over = [key for key, (_, answer) in self._done.items() if answer.done()]
        for key in over:
            if len(self._done) <= self._most and self._bytes <= self._most_bytes:
                return
            _, answer = self._done.pop(key)
            self._bytes -= len(answer.result())
