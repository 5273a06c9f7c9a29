"""Tests of a memory over a store in PostgreSQL: those of one on disk, but for those that name a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from inspect import signature
from types import ModuleType
from typing import Any

import pytest

import tiermem
from tests.api import (
    test_bundles,
    test_consolidate,
    test_daily_limits,
    test_erase,
    test_feedback,
    test_memory,
    test_metadata,
    test_omissions,
    test_recall,
    test_remember,
    test_replay,
    test_sessions_end,
    test_taken_back,
    test_workspace,
)
from tests.api.conftest import OPTIONS, OpenMemory, tell
from tests.postgres import PostgresServer, execute
from tiermem.embedding.hashed import HashEmbedder

MODULES = (
    test_bundles,
    test_consolidate,
    test_daily_limits,
    test_erase,
    test_feedback,
    test_memory,
    test_metadata,
    test_omissions,
    test_recall,
    test_remember,
    test_replay,
    test_sessions_end,
    test_taken_back,
    test_workspace,
)
_GIVEN = {"open_memory", "memory", "monkeypatch"}
"""What a test may need to be run here."""
_OTHERWISE = {
    "test_a_dry_run_writes_nothing_and_needs_no_right_to",  # a memory opened read-only has no index there
    "test_another_embedder_is_refused_until_the_index_is_rebuilt",  # no index outlives the process
}


@pytest.fixture(scope="module")
def url(postgres: PostgresServer) -> str:
    """A database, which each test finds empty."""
    return postgres.create_database()


@pytest.fixture
def open_memory(url: str) -> Iterator[OpenMemory]:
    """Opens memories in the database, closes them afterwards, and empties it."""
    opened: list[tiermem.Memory] = []

    def _open(**given: Any) -> tiermem.Memory:
        options = OPTIONS | {"embedder": HashEmbedder()} | given
        memory = tiermem.open(options.pop("path", url), **options)
        opened.append(memory)
        return memory

    yield _open
    for memory in opened:
        memory.close()
    execute(url, "DROP SCHEMA IF EXISTS tiermem CASCADE")


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
        if name.startswith("test_") and callable(test) and name not in _OTHERWISE
        if {"open_memory", "memory"} & signature(test).parameters.keys()
        if _GIVEN.issuperset(signature(test).parameters)
    }


for _module in MODULES:
    globals().update(list_tests(_module))
