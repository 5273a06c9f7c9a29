"""After `compact` no file of an embedded index holds what was removed, and nothing else is lost."""

import struct
from pathlib import Path

import anyio
import pytest

from pagestore import SessionId, SpaceId
from tiermem.index import QdrantEdgeIndex
from tiermem.index.interface import Compacts, Entry
from tiermem.index.testing import HashEmbedder, upto

ONE, TWO, S1 = SpaceId("one"), SpaceId("two"), SessionId("s1")
KEPT = Entry(id="kept", session=S1, text="The ferry leaves at nine.", kind="summary")
SECRET = Entry(id="secret-id", session=S1, text="The vault code of the blue house.", kind="summary")
OTHER = Entry(id="other", session=S1, text="A ferry of another space.", kind="summary")


async def vector_of(entry: Entry) -> bytes:
    """The vector as the engine stores it."""
    (vector,) = await HashEmbedder().embed([entry.text])
    return struct.pack(f"<{len(vector)}f", *vector)


def files_with(path: Path, needles: list[bytes]) -> list[str]:
    return [
        str(file.relative_to(path))
        for file in sorted(path.rglob("*"))
        if file.is_file() and any(needle in file.read_bytes() for needle in needles)
    ]


def test_nothing_that_was_removed_is_left_in_any_file(tmp_path: Path) -> None:
    async def main() -> None:
        index = await QdrantEdgeIndex.open(tmp_path, HashEmbedder())
        assert isinstance(index, Compacts)
        await index.put(ONE, "units", [KEPT, SECRET])
        await index.put(TWO, "units", [OTHER])
        await index.set_mark(ONE, upto(7))
        await index.flush()
        await index.remove(ONE, "units", [SECRET.id])
        await index.flush()
        traces = [SECRET.id.encode(), await vector_of(SECRET)]
        assert all(files_with(tmp_path, [trace]) for trace in traces)
        await index.compact()
        assert files_with(tmp_path, traces) == []
        assert files_with(tmp_path, [KEPT.id.encode()])
        for _ in range(2):
            assert await index.mark(ONE) == upto(7)
            assert [hit.id for hit in await index.search(ONE, "units", "ferry", limit=3)] == ["kept"]
            assert [hit.id for hit in await index.search(TWO, "units", "ferry", limit=3)] == ["other"]
            await index.close()
            index = await QdrantEdgeIndex.open(tmp_path, HashEmbedder())
        await index.close()

    anyio.run(main)


@pytest.mark.parametrize("crash", ["while copying", "between the renames", "before the old one is gone"])
def test_a_crash_inside_is_tidied_at_the_next_opening(tmp_path: Path, crash: str) -> None:
    async def main() -> None:
        index = await QdrantEdgeIndex.open(tmp_path, HashEmbedder())
        await index.put(ONE, "units", [KEPT])
        await index.close()
        units = tmp_path / "units"
        match crash:
            case "while copying":
                (tmp_path / "units.copy").mkdir()
                (tmp_path / "units.copy" / "half").write_text("half")
            case "between the renames":
                units.rename(tmp_path / "units.copy")
                (tmp_path / "units.old").mkdir()
            case _:
                (tmp_path / "units.old").mkdir()
                (tmp_path / "units.old" / "words").write_text("old")
        index = await QdrantEdgeIndex.open(tmp_path, HashEmbedder())
        assert await index.count(ONE, "units") == 1
        await index.close()

    anyio.run(main)
    assert not list(tmp_path.glob("*.old"))
    assert not list(tmp_path.glob("*.copy"))
