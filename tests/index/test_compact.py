"""After `compact` no file of an embedded index holds what was removed, and nothing else is lost."""

import struct
from dataclasses import replace
from pathlib import Path
from typing import get_args
from uuid import UUID

import anyio
import pytest

from pagestore import SessionId, SpaceId
from tiermem.api.leftovers import _written
from tiermem.embedding.hashed import HashEmbedder
from tiermem.index import qdrant_edge
from tiermem.index.encoding import point_id
from tiermem.index.interface import Compacts, Entry, Mode
from tiermem.index.qdrant_edge import QdrantEdgeIndex
from tiermem.index.testing import upto

MODES: tuple[Mode, ...] = get_args(Mode)
ONE, TWO, S1 = SpaceId("one"), SpaceId("two"), SessionId("s1")
KEPT = Entry(id="kept", session=S1, text="The ferry leaves at nine.")
SECRET = Entry(id="secret-id", session=S1, text="The vault code of the blue house.")
OTHER = Entry(id="other", session=S1, text="A ferry of another space.")


async def vector_of(entry: Entry) -> bytes:
    """The vector as the engine stores it, from its first number that is not zero to its last."""
    (vector,) = await HashEmbedder().embed([entry.text])
    return struct.pack(f"<{len(vector)}f", *vector).strip(b"\0")


def point_of(entry: Entry) -> bytes:
    """The engine's id of an entry, as it stores it."""
    return UUID(point_id(ONE, entry.id)).bytes


def files_with(path: Path, needles: list[bytes]) -> list[str]:
    return [
        str(file.relative_to(path))
        for file in sorted(path.rglob("*"))
        if file.is_file() and (held := b"".join(_written(file))) and any(needle in held for needle in needles)
    ]


def test_nothing_that_was_removed_is_left_in_any_file(tmp_path: Path) -> None:
    async def main() -> None:
        index = QdrantEdgeIndex(tmp_path, HashEmbedder())
        assert isinstance(index, Compacts)
        await index.put(ONE, "units", [KEPT, SECRET])
        await index.put(TWO, "units", [OTHER])
        await index.set_mark(ONE, upto(7))
        await index.flush()
        await index.remove(ONE, "units", [SECRET.id])
        await index.flush()
        traces = [point_of(SECRET), await vector_of(SECRET)]
        assert all(files_with(tmp_path, [trace]) for trace in traces)
        await index.compact()
        assert files_with(tmp_path, traces) == []
        assert files_with(tmp_path, [point_of(KEPT)])
        for _ in range(2):
            assert await index.mark(ONE) == upto(7)
            assert [hit.id for hit in await index.search(ONE, "units", "ferry", limit=3)] == ["kept"]
            assert [hit.id for hit in await index.search(TWO, "units", "ferry", limit=3)] == ["other"]
            await index.close()
            index = QdrantEdgeIndex(tmp_path, HashEmbedder())
        await index.close()

    anyio.run(main)


def segments(path: Path) -> set[str]:
    return {segment.name for segment in (path / "units" / "segments").iterdir()}


MANY = [Entry(id=f"u{n}", session=S1, text=f"The note {n} of shed {n % 7}.") for n in range(400)]


async def crowded(path: Path) -> QdrantEdgeIndex:
    """An index of many segments."""
    index = QdrantEdgeIndex(path, HashEmbedder())
    for start in range(0, len(MANY), 100):
        await index.put(ONE, "units", MANY[start : start + 100])
        await index.flush()
    await index.set_mark(ONE, upto(7))
    return index


@pytest.fixture
def small_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(qdrant_edge, "SEGMENT", 100)
    monkeypatch.setattr(qdrant_edge, "TIDIED", 200)


@pytest.mark.usefixtures("small_segments")
def test_only_the_segments_that_held_it_are_rewritten(tmp_path: Path) -> None:
    async def main() -> None:
        index = await crowded(tmp_path)
        await index.compact()
        before = segments(tmp_path)
        assert len(before) > 2
        await index.remove(ONE, "units", ["u5"])
        await index.compact()
        assert len(before - segments(tmp_path)) == 1
        assert files_with(tmp_path, [point_of(MANY[5]), await vector_of(MANY[5])]) == []
        assert await index.count(ONE, "units") == len(MANY) - 1
        await index.close()

    anyio.run(main)


@pytest.mark.usefixtures("small_segments")
def test_what_is_put_at_one_go_is_cut_into_segments_too(tmp_path: Path) -> None:
    async def main() -> None:
        index = QdrantEdgeIndex(tmp_path, HashEmbedder())
        many = [replace(one, id=f"{one.id}-{more}") for more in range(4) for one in MANY]
        await index.put(ONE, "units", many)
        await index.set_mark(ONE, upto(7))
        assert len(segments(tmp_path)) > 2
        assert await index.count(ONE, "units") == len(many)
        await index.close()

    anyio.run(main)


@pytest.mark.usefixtures("small_segments")
@pytest.mark.parametrize("gone", [range(400), range(50, 350), range(0, 400, 7)])
def test_of_whole_segments_nothing_is_left_either(tmp_path: Path, gone: range) -> None:
    async def main() -> None:
        index = await crowded(tmp_path)
        traces = [await vector_of(MANY[n]) for n in gone[::90]]
        assert files_with(tmp_path, traces[-1:])
        await index.remove(ONE, "units", [f"u{n}" for n in gone])
        await index.compact()
        assert files_with(tmp_path, traces) == []
        await index.close()
        assert files_with(tmp_path, traces) == []
        index = QdrantEdgeIndex(tmp_path, HashEmbedder())
        kept = [one for n, one in enumerate(MANY) if n not in gone]
        assert await index.count(ONE, "units") == len(kept)
        assert await index.mark(ONE) == upto(7)
        for one in kept[::100]:
            assert (await index.search(ONE, "units", one.text, limit=1))[0].id == one.id
        await index.close()

    anyio.run(main)


@pytest.mark.usefixtures("small_segments")
def test_how_an_index_is_cut_into_segments_does_not_show_in_its_scores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main() -> None:
        cut = await crowded(tmp_path / "cut")
        monkeypatch.setattr(qdrant_edge, "SEGMENT", 2**40)
        whole = QdrantEdgeIndex(tmp_path / "whole", HashEmbedder())
        changed = [replace(one, active=False) for one in MANY[::9]]
        await cut.put(ONE, "units", changed)
        await cut.remove(ONE, "units", [one.id for one in MANY[1::9]])
        await whole.put(ONE, "units", [*changed, *(one for n, one in enumerate(MANY) if n % 9 > 1)])
        for mode in MODES:
            found = [
                await index.search(ONE, "units", "note of shed 3", limit=40, mode=mode)
                for index in (cut, whole)
            ]
            assert found[0] == found[1]
        await cut.close()
        await whole.close()

    anyio.run(main)
