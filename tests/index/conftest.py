"""Settings of the index tests: one event loop, and directories that need not wait for a busy disk."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """In memory where the system has such a place: an engine creates some fifty files and syncs each."""
    memory = Path("/dev/shm")  # noqa: S108  # mkdtemp makes a private directory in it
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as directory:
        yield Path(directory)
