"""Every file of a store, and every copy of one, is readable by its owner alone."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.api.conftest import OpenMemory, tell

pytestmark = pytest.mark.local_only("modes of files")


@pytest.fixture(autouse=True)
def open_umask() -> Iterator[None]:
    """Let new files be as open as their maker asks for."""
    before = os.umask(0)
    yield
    os.umask(before)


def modes_below(folder: Path) -> set[tuple[bool, int]]:
    """Whether each entry of a folder is a directory, and its mode."""
    return {(path.is_dir(), path.stat().st_mode & 0o7777) for path in (folder, *folder.rglob("*"))}


OWNER_ALONE = {(True, 0o700), (False, 0o600)}


def test_a_store_is_readable_by_its_owner_alone(open_memory: OpenMemory, tmp_path: Path) -> None:
    memory = open_memory()
    tell(memory)
    memory.ask("What is Biscuit allergic to?")
    memory.workspace(session="s1").add("Biscuit ate chicken.", speaker="Caroline")
    memory.flush()
    assert (tmp_path / "store" / "index" / "entries.sqlite").exists()
    assert modes_below(tmp_path / "store") == OWNER_ALONE


def test_an_index_that_others_can_read_is_corrected_when_it_is_opened(
    open_memory: OpenMemory, tmp_path: Path
) -> None:
    with open_memory() as memory:
        tell(memory)
    index = tmp_path / "store" / "index"
    index.chmod(0o755)
    for file in index.iterdir():
        file.chmod(0o644)
    open_memory(read_only=True).close()
    assert modes_below(index) == {(True, 0o755), (False, 0o644)}
    open_memory()
    assert modes_below(index) == OWNER_ALONE
