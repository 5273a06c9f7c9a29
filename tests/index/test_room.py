"""Where the disk is nearly full shards are not used, and no signal ends the process."""

from pathlib import Path
from typing import NamedTuple

import pytest

import tiermem
from pagestore import SessionId, SpaceId
from tests.torture import full
from tiermem.embedding.hashed import HashEmbedder
from tiermem.errors import IndexFull
from tiermem.index import embedded
from tiermem.index.interface import Entry
from tiermem.index.qdrant_edge import QdrantEdgeIndex
from tiermem.index.testing import upto

ONE = SpaceId("one")
NOTE = Entry(id="u1", session=SessionId("s"), text="The ferry leaves at nine.")


class Disk(NamedTuple):
    """What `os.statvfs` tells, as far as it is asked."""

    f_bavail: int
    f_frsize: int


def nearly_full(monkeypatch: pytest.MonkeyPatch, free: int) -> None:
    monkeypatch.setattr("os.statvfs", lambda _: Disk(free // 512, 512))


def test_without_room_an_index_does_not_open_and_says_how_much_it_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nearly_full(monkeypatch, 60_000)
    with pytest.raises(IndexFull, match=r"needs 32\.0 MB of free disk, there are 0\.1"):
        QdrantEdgeIndex(tmp_path / "index", HashEmbedder())
    assert not (tmp_path / "index").exists()


@pytest.mark.anyio
async def test_an_index_that_is_open_takes_nothing_in_while_there_is_no_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = QdrantEdgeIndex(tmp_path, HashEmbedder())
    with monkeypatch.context() as patch:
        nearly_full(patch, 60_000)
        for refused in (
            index.put(ONE, "units", [NOTE]),
            index.remove(ONE, "units", ["u1"]),
            index.set_mark(ONE, upto(1)),
            index.compact(),
        ):
            with pytest.raises(IndexFull):
                await refused
        assert await index.search(ONE, "units", "ferry", limit=3) == ()
    await index.put(ONE, "units", [NOTE])
    assert [hit.id for hit in await index.search(ONE, "units", "ferry", limit=3)] == ["u1"]
    await index.close()


def test_a_memory_opens_without_its_shards_answers_from_the_log_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded, "GROWN", -1)
    asked = "When does the ferry to Anholt leave?"
    tiermem.open(tmp_path, engine="local", embedder=HashEmbedder()).close()
    with monkeypatch.context() as patch:
        nearly_full(patch, 60_000)
        with tiermem.open(tmp_path, engine="local", embedder=HashEmbedder()) as memory:
            memory.add("The ferry to Anholt leaves at nine.", speaker="Ann")
            memory.flush()
            answer = memory.ask(asked)
            assert answer.citations
            assert any("MB of free disk" in one.reason for one in answer.trace.degradations)
            assert any("MB of free disk" in problem for problem in memory.stats().problems)
    with tiermem.open(tmp_path, engine="local", embedder=HashEmbedder()) as memory:
        memory.flush()
        assert memory.ask(asked).trace.degradations == ()


def test_a_small_index_is_used_however_little_room_there_is_and_stays_small(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded, "GROWN", -1)
    nearly_full(monkeypatch, 60_000)
    with tiermem.open(tmp_path, engine="local", embedder=HashEmbedder()) as memory:
        memory.add("The ferry to Anholt leaves at nine.", speaker="Ann")
        memory.flush()
        answer = memory.ask("When does the ferry to Anholt leave?")
        assert (answer.trace.degradations, memory.stats().problems) == ((), ())
    assert (tmp_path / "index" / "entries.sqlite").exists()


@pytest.mark.skipif(not full.can_mount(), reason="this machine lets nobody mount a file system")
@pytest.mark.parametrize("form", full.FORMS)
@pytest.mark.parametrize(("kilobytes", "left"), [(300, None), (80_000, None), (400_000, 20)])
def test_no_signal_on_a_file_system_that_is_really_full(kilobytes: int, left: int | None, form: str) -> None:
    assert full.on_a_small_disk(kilobytes=kilobytes, left=left, form=form) == "done"
