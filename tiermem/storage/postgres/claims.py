"""Claims of a process on pieces of work, each an advisory lock of PostgreSQL.

The rules:
- All claims of a process are held by one connection, from the first claim until the last one is released.
- They are locks of its session, in a transaction that lasts as long: a pooler leaves the connection to it. It
  reads no table, so it holds back no vacuum.
- When the connection breaks, the claims are lost, and another process may begin the same work.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager
from threading import Lock
from typing import Any, LiteralString

import psycopg

from pagestore.errors import Inaccessible

_BEGIN: LiteralString = "SELECT set_config('idle_in_transaction_session_timeout', '0', true)"
_CLAIM: LiteralString = (
    "SELECT work FROM unnest(%s::text[]) AS works (work)"
    " WHERE pg_try_advisory_lock(hashtextextended('tiermem work ' || work, 0))"
)
_RELEASE: LiteralString = (
    "SELECT work, pg_advisory_unlock(hashtextextended('tiermem work ' || work, 0))"
    " FROM unnest(%s::text[]) AS works (work)"
)

Connection = psycopg.Connection[tuple[Any, ...]]


class DatabaseClaims:
    """The work that this process has claimed in a database. Any thread may call it."""

    def __init__(
        self, options: Mapping[str, Any], translating: Callable[[], AbstractContextManager[None]]
    ) -> None:
        """Connect with these options; `translating` raises `Inaccessible` where a connection breaks."""
        self._options = options
        self._translating = translating
        self._lock = Lock()
        self._held: set[str] = set()
        self._connection: Connection | None = None

    def claim(self, work: Collection[str]) -> frozenset[str]:
        """Claim what neither this process nor another one has claimed; returns it. Raises `Inaccessible`."""
        with self._lock:
            wanted = sorted(set(work) - self._held)
            if not wanted:
                return frozenset()
            try:
                claimed = self._execute(_CLAIM, wanted)
            except Inaccessible:
                if not self._held:
                    raise
                self._held.clear()  # the connection broke since the last call
                claimed = self._execute(_CLAIM, wanted)
            self._held |= claimed
            self._disconnect_unless_held()
            return frozenset(claimed)

    def release(self, work: Collection[str]) -> None:
        """Release claims; idempotent."""
        with self._lock:
            released = self._held.intersection(work)
            if not released:
                return
            try:
                self._execute(_RELEASE, sorted(released))
                self._held -= released
            except Inaccessible:
                self._held.clear()  # the connection broke, and every claim ended with it
            self._disconnect_unless_held()

    def close(self) -> None:
        """Release every claim; idempotent."""
        with self._lock:
            self._held.clear()
            self._disconnect_unless_held()

    def _execute(self, statement: LiteralString, work: list[str]) -> set[str]:
        """The first column of what a statement returns; where that fails, there is no connection any more."""
        try:
            with self._translating():
                if self._connection is None:
                    # A statement that is prepared, as those of other cursors are, would keep its snapshot.
                    self._connection = psycopg.connect(**self._options, cursor_factory=psycopg.ClientCursor)
                    self._connection.execute(_BEGIN)
                return {row[0] for row in self._connection.execute(statement, [work])}
        except BaseException:
            self._disconnect()
            raise

    def _disconnect_unless_held(self) -> None:
        if not self._held:
            self._disconnect()

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()
