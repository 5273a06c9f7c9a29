"""The option `--store`: tests that concern a store run on this machine alone, or in PostgreSQL.

A test takes its log or its address from a fixture of `ON_BOTH`, or says why it runs on this machine alone:
`@pytest.mark.local_only("reason")`. With `--store postgresql` only the first are run.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Protocol

import pytest

from pagestore import LogOptions
from tests.postgres import PostgresServer, values_in
from tiermem.storage import SpaceStore, open_store, parse_place

ON_BOTH = frozenset({"logs", "new_address", "session_address"})
"""Fixtures of what `--store` chooses."""


def add_options(parser: pytest.Parser) -> None:
    """Add the option `--store`."""
    parser.getgroup("stores").addoption(
        "--store",
        choices=("local", "postgresql"),
        default="local",
        help="local: logs in memory and stores in temporary directories; postgresql: both in one server, "
        "and only the tests that concern a store",
    )


def is_on_postgresql(config: pytest.Config) -> bool:
    """Whether tests that concern a store run in PostgreSQL."""
    return bool(config.getoption("--store") == "postgresql")


class NewAddress(Protocol):
    """Returns the address of a store by its name: what `tiermem.open` takes."""

    def __call__(self, name: str, *, copy_of: Path | str | None = None) -> Path | str:
        """Return the address; the first time, nothing is there, or a copy of the closed store `copy_of`."""
        ...


@contextmanager
def new_addresses(request: pytest.FixtureRequest, directory: Path) -> Iterator[NewAddress]:
    """Addresses in a directory, or of databases, which are dropped at the end of the block."""
    if not is_on_postgresql(request.config):
        yield _Directories(directory)
        return
    databases = _Databases(request.getfixturevalue("postgres"))
    yield databases
    databases.drop()


class _Directories:
    """Implements `NewAddress`."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def __call__(self, name: str, *, copy_of: Path | str | None = None) -> Path | str:
        path = self._directory / name
        if copy_of is not None and not path.exists():
            shutil.copytree(copy_of, path)
        return path


class _Databases:
    """Implements `NewAddress`."""

    def __init__(self, server: PostgresServer) -> None:
        self._server = server
        self._urls: dict[str, str] = {}
        self._lock = Lock()

    def __call__(self, name: str, *, copy_of: Path | str | None = None) -> Path | str:
        with self._lock:
            if name not in self._urls:
                self._urls[name] = self._server.create_database(str(copy_of) if copy_of else None)
            return self._urls[name]

    def drop(self) -> None:
        for url in self._urls.values():
            self._server.drop_database(url)


def store_at(address: Path | str, *, options: LogOptions | None = None) -> SpaceStore:
    """Open the store of an address."""
    return open_store(parse_place(str(address)), options=options)


def stored_bytes(address: Path | str) -> bytes:
    """All files of a store, or all values of all tables of its database."""
    if isinstance(address, str):
        return b"\n".join(value for _, _, value in values_in(address))
    return b"".join(file.read_bytes() for file in sorted(address.rglob("*")) if file.is_file())


class Stores:
    """The hooks behind the option."""

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """In PostgreSQL, deselect tests that concern no store and skip those that cannot run there."""
        if not is_on_postgresql(config):
            return
        others = [item for item in items if not concerns_store(item)]
        config.hook.pytest_deselected(items=others)
        items[:] = [item for item in items if concerns_store(item)]
        for item in items:
            if marker := item.get_closest_marker("local_only"):
                (reason,) = marker.args
                item.add_marker(pytest.mark.skip(reason=reason))


def concerns_store(item: pytest.Item) -> bool:
    """Whether `--store` makes a difference to the test, or would if it could run there."""
    fixtures = getattr(item, "fixturenames", ())
    return not ON_BOTH.isdisjoint(fixtures) or item.get_closest_marker("local_only") is not None
