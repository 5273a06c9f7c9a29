"""Settings of the index tests: directories that need not wait for a busy disk."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

QUICK = next((path for path in [Path("/dev/shm")] if path.is_dir()), None)  # noqa: S108  # mkdtemp is private
"""In memory where the system has such a place: an engine creates some fifty files and syncs each."""


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """As pytest's own, in `QUICK`."""
    with tempfile.TemporaryDirectory(dir=QUICK) as directory:
        yield Path(directory)
