"""Tests of a memory over a store in PostgreSQL: those of one on disk, but for those that name a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from inspect import signature
from types import ModuleType
from typing import Any

import pytest

import tiermem
from tests.api.conftest import OPTIONS, OpenMemory, tell
from tests.postgres import PostgresServer, execute
from tiermem.embedding.hashed import HashEmbedder

MODULES = (
    "bundles",
    "consolidate",
    "daily_limits",
    "erase",
    "feedback",
    "memory",
    "metadata",
    "omissions",
    "recall",
    "redate",
    "remember",
    "replay",
    "sessions_end",
    "taken_back",
    "workspace",
)
_GIVEN = {"open_memory", "memory", "monkeypatch"}
"""What a test may need to be run here."""
_WITH_PGVECTOR = {
    "test_a_dry_run_writes_nothing_and_needs_no_right_to",  # else a memory opened read-only has no index
    "test_another_embedder_is_refused_until_the_index_is_rebuilt",  # else no index outlives the process
}
"""What is promised only where the index is in the database."""


@pytest.fixture(scope="module")
def url(postgres: PostgresServer) -> str:
    """A database, which each test finds empty."""
    return postgres.create_database()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run each test with an index in the process and with one in the database."""
    in_process = () if metafunc.function.__name__ in _WITH_PGVECTOR else ("memory",)
    metafunc.parametrize("index", (*in_process, "pgvector"))


@pytest.fixture
def open_memory(url: str, index: str) -> Iterator[OpenMemory]:
    """Opens memories in the database, closes them afterwards, and empties it."""
    opened: list[tiermem.Memory] = []

    def _open(**given: Any) -> tiermem.Memory:
        options = OPTIONS | {"embedder": HashEmbedder(), "index": index} | given
        memory = tiermem.open(options.pop("path", url), **options)
        opened.append(memory)
        return memory

    yield _open
    for memory in opened:
        memory.close()
    execute(url, "DROP SCHEMA IF EXISTS tiermem, tiermem_index CASCADE")


@pytest.fixture
def memory(open_memory: OpenMemory) -> tiermem.Memory:
    """The dialogue, summarised."""
    opened = open_memory()
    tell(opened)
    opened.flush()
    return opened


def list_tests(module: ModuleType) -> dict[str, Callable[..., None]]:
    """The tests of a module that need nothing but a memory."""
    return {
        f"{name}__{module.__name__.rpartition('.')[2]}": test
        for name, test in vars(module).items()
        if name.startswith("test_") and callable(test)
        if {"open_memory", "memory"} & signature(test).parameters.keys()
        if _GIVEN.issuperset(signature(test).parameters)
    }


for _module in MODULES:
    globals().update(list_tests(import_module(f"tests.api.test_{_module}")))
