"""However little room a disk has, the index is used, and no signal ends the process."""

from pathlib import Path
from typing import NamedTuple

import pytest

import tiermem
from tests.torture import full
from tiermem.embedding.hashed import HashEmbedder


class Disk(NamedTuple):
    """What `os.statvfs` tells, as far as it is asked."""

    f_bavail: int
    f_frsize: int


def test_an_index_is_used_however_little_room_there_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.statvfs", lambda _: Disk(120, 512))
    with tiermem.open(tmp_path, engine="local", embedder=HashEmbedder()) as memory:
        memory.add("The ferry to Anholt leaves at nine.", speaker="Ann")
        memory.flush()
        answer = memory.ask("When does the ferry to Anholt leave?")
        assert (answer.trace.degradations, memory.stats().problems) == ((), ())
    assert (tmp_path / "index" / "entries.sqlite").exists()


@pytest.mark.skipif(not full.can_mount(), reason="this machine lets nobody mount a file system")
@pytest.mark.parametrize(("kilobytes", "left"), [(300, None), (80_000, None), (400_000, 20)])
def test_no_signal_on_a_file_system_that_is_really_full(kilobytes: int, left: int | None) -> None:
    assert full.on_a_small_disk(kilobytes=kilobytes, left=left) == "done"
