"""Every error of the library and of its page store has one base."""

from __future__ import annotations

from pathlib import Path

import pytest

import pagestore.errors
import tiermem
import tiermem.errors
from pagestore import SpaceId
from pagestore.store import Store

ERRORS = [
    one
    for module in (pagestore.errors, tiermem.errors)
    for one in vars(module).values()
    if isinstance(one, type) and issubclass(one, Exception)
]


@pytest.mark.parametrize("kind", ERRORS, ids=lambda kind: f"{kind.__module__}.{kind.__name__}")
def test_every_error_is_a_tiermem_error(kind: type[Exception]) -> None:
    assert issubclass(kind, tiermem.TierMemError)


def test_a_space_that_is_written_elsewhere_raises_a_tiermem_error(tmp_path: Path) -> None:
    log = Store(tmp_path).open_space(SpaceId("default"))
    with pytest.raises(tiermem.TierMemError, match="is held by"):
        tiermem.open(tmp_path, embedder="hashed")
    log.close()


def test_a_directory_that_is_no_store_raises_a_tiermem_error(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("no store")
    with pytest.raises(tiermem.TierMemError, match="store"):
        tiermem.open(tmp_path, embedder="hashed")
