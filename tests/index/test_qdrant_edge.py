import itertools
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pagestore import History, SessionId, SpaceId
from tests.index.conftest import QUICK
from tiermem.embedding.hashed import HashEmbedder
from tiermem.errors import IndexLocked, IndexMismatch, IndexUnavailable
from tiermem.index.embedded import open_embedded
from tiermem.index.engine import COLLECTIONS
from tiermem.index.interface import Collection, Entry, Index, Mode
from tiermem.index.qdrant_edge import QdrantEdgeIndex
from tiermem.index.testing import ANN, GARDEN, IndexContract, entry, ids, upto

pytestmark = pytest.mark.anyio


class TestQdrantEdgeIndex(IndexContract):
    async def new_index(self, where: Path) -> Index:
        return QdrantEdgeIndex(where / "index", HashEmbedder())


async def test_a_second_opener_is_told_who_owns_the_directory_and_what_to_do(tmp_path: Path) -> None:
    index = QdrantEdgeIndex(tmp_path / "index", HashEmbedder())
    with pytest.raises(IndexLocked, match=rf"pid {os.getpid()}.*Qdrant server"):
        QdrantEdgeIndex(tmp_path / "index", HashEmbedder())
    await index.put(ANN, "units", GARDEN)
    await index.close()
    again = QdrantEdgeIndex(tmp_path / "index", HashEmbedder())
    assert await again.count(ANN, "units") == len(GARDEN)
    await again.close()


async def test_another_process_is_named_by_its_pid_and_its_death_frees_the_directory(tmp_path: Path) -> None:
    child = _child(tmp_path / "index")
    assert child.stdout is not None
    child.stdout.readline()
    with pytest.raises(IndexLocked, match=f"process {child.pid} on"):
        QdrantEdgeIndex(tmp_path / "index", HashEmbedder())
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()
    index = QdrantEdgeIndex(tmp_path / "index", HashEmbedder())
    await index.close()


WRITER = """
import sys, anyio
from tiermem.index.embedded import open_embedded
from tiermem.index.qdrant_edge import QdrantEdgeIndex
from tiermem.index.engine import COLLECTIONS
from tiermem.embedding.hashed import HashEmbedder
from tiermem.index.testing import ANN, entry, upto
import qdrant_edge

async def main():
    print("ready", flush=True)
    index = QdrantEdgeIndex(sys.argv[1], HashEmbedder())
    start = (await index.mark(ANN)).seq + 1
    print("open", flush=True)
    for n in range(start, start + 100_000):
        await index.put(ANN, "units", [entry(f"u{n}-{i}", f"the note {n} of kind {i}") for i in range(3)])
        await index.put(ANN, "pages", [entry(f"p{n}", f"the page {n}")])
        await index.set_mark(ANN, upto(n))
        print(n, flush=True)

anyio.run(main)
"""


def _child(where: Path) -> subprocess.Popen[str]:
    child = subprocess.Popen([sys.executable, "-c", WRITER, str(where)], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    return child


def _kill_while_writing(where: Path, *, after: int) -> int:
    """The last mark the writer acknowledged before it was killed."""
    with _child(where) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "open\n"
        marks = [int(child.stdout.readline()) for _ in range(after)]
        child.kill()
        # What was in the pipe when it died was acknowledged too; the last line may be torn.
        rest = [int(line) for line in child.stdout.read().split("\n")[:-1]]
    return (marks + rest)[-1]


async def test_after_kill_9_the_mark_never_claims_more_than_the_index_holds(tmp_path: Path) -> None:
    where = tmp_path / "index"
    for after in (1, 2, 5, 9, 17):
        acknowledged = _kill_while_writing(where, after=after)
        index = QdrantEdgeIndex(where, HashEmbedder())
        mark = (await index.mark(ANN)).seq
        assert mark >= acknowledged
        for n in range(mark + 1):
            assert ids(await index.search(ANN, "pages", f"page {n}", limit=1))[0] == f"p{n}"
        units = await index.search(ANN, "units", "note", limit=3 * mark + 50, mode="words")
        assert {f"u{n}-{i}" for n in range(mark + 1) for i in range(3)} <= set(ids(units))
        assert len(units) == await index.count(ANN, "units")
        await index.close()


async def test_killed_while_it_is_made_the_index_opens_again(tmp_path: Path) -> None:
    for count in (0, 3, 8, 12, 18, 32):  # of files; a new index has 38
        where = tmp_path / str(count)
        with _child(where) as child, anyio.fail_after(60):
            while sum(len(names) for *_, names in os.walk(where)) < count:  # noqa: ASYNC110  # it tells nobody
                await anyio.sleep(0.0005)
            assert child.poll() is None
            child.kill()
        index = QdrantEdgeIndex(where, HashEmbedder())
        assert (await index.mark(ANN)).seq >= -1
        await index.close()


async def test_another_embedder_is_a_mismatch_that_offers_reindex(tmp_path: Path) -> None:
    index = QdrantEdgeIndex(tmp_path, HashEmbedder())
    await index.put(ANN, "units", GARDEN)
    await index.set_mark(ANN, upto(3))
    await index.close()
    for other in (HashEmbedder(seed=1), HashEmbedder(64)):
        with pytest.raises(IndexMismatch, match=r"'hash-0' \(128 dimensions.*`reindex`"):
            QdrantEdgeIndex(tmp_path, other)
    fresh = open_embedded(tmp_path, HashEmbedder(64), fresh=True)
    assert (await fresh.mark(ANN), await fresh.count(ANN, "units")) == (History(), 0)
    await fresh.close()


async def test_an_older_schema_is_a_mismatch(tmp_path: Path) -> None:
    await QdrantEdgeIndex(tmp_path, HashEmbedder()).close()
    file = tmp_path / "index.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"schema": 0}))
    with pytest.raises(IndexMismatch, match="schema 0"):
        QdrantEdgeIndex(tmp_path, HashEmbedder())


async def _broken(where: Path, damage: str) -> None:
    index = QdrantEdgeIndex(where, HashEmbedder())
    await index.put(ANN, "units", GARDEN)
    await index.set_mark(ANN, upto(3))
    await index.close()
    match damage:
        case "no pages":
            _remove(where / "pages")
        case "no segments":
            _remove(where / "units" / "segments")
        case "no description":
            (where / "index.json").unlink()
        case "torn description":
            (where / "index.json").write_text('{"schema": 1, "emb')
        case _:
            (where / "units" / "edge_config.json").write_text("garbage")


def _remove(directory: Path) -> None:
    for path in sorted(directory.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    directory.rmdir()


@pytest.mark.parametrize(
    "damage", ["no pages", "no segments", "no description", "torn description", "garbage in a shard"]
)
async def test_a_damaged_index_is_not_believed_and_can_be_made_anew(tmp_path: Path, damage: str) -> None:
    await _broken(tmp_path, damage)
    index: Index
    try:
        index = QdrantEdgeIndex(tmp_path, HashEmbedder())
    except IndexMismatch as error:
        assert "`reindex`" in str(error)  # noqa: PT017  # the other way out is below
        index = open_embedded(tmp_path, HashEmbedder(), fresh=True)
    assert (await index.mark(ANN), await index.count(ANN, "units")) == (History(), 0)
    await index.close()


async def test_without_its_units_the_index_has_no_mark(tmp_path: Path) -> None:
    index = QdrantEdgeIndex(tmp_path, HashEmbedder())
    await index.put(ANN, "pages", [entry("p1", "a page")])
    await index.set_mark(ANN, upto(3))
    await index.close()
    _remove(tmp_path / "units")
    index = QdrantEdgeIndex(tmp_path, HashEmbedder())
    assert await index.mark(ANN) == History()
    await index.close()


async def test_a_place_that_cannot_hold_an_index_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a directory")
    with pytest.raises(IndexUnavailable, match="cannot use"):
        QdrantEdgeIndex(tmp_path / "file" / "index", HashEmbedder())


async def test_room_of_removed_entries_is_taken_back_and_nothing_else_goes(tmp_path: Path) -> None:
    index = QdrantEdgeIndex(tmp_path, HashEmbedder(16))
    many = [entry(f"u{n}", f"note {n}") for n in range(3000)]
    await index.put(ANN, "units", many)
    await index.remove(ANN, "units", [each.id for each in many[:2000]])
    await index.flush()
    assert await index.count(ANN, "units") == 1000
    assert ids(await index.search(ANN, "units", "note 2500", limit=1)) == ["u2500"]
    assert await index.search(ANN, "units", "1500", limit=1, mode="words") == ()
    await index.close()


names = st.sampled_from(["ann", "bob", "Ann", "ann ", "", "a/b", "a%2Fb", "\ud83d\ude00", "😀", "null"])
texts = st.sampled_from(["the red bicycle", "a garden of tomatoes", "thunderstorms at night"])
puts = st.lists(st.tuples(names, st.sampled_from(COLLECTIONS), st.integers(0, 5), texts), max_size=12)


runs = itertools.count()


@pytest.fixture(scope="module")
def crowded() -> Iterator[QdrantEdgeIndex]:
    """One index for all examples of a property; each example names its spaces after its run."""
    with tempfile.TemporaryDirectory(dir=QUICK) as directory:
        index = QdrantEdgeIndex(directory, HashEmbedder())
        yield index
        anyio.run(index.close)


@given(puts=puts)
@settings(max_examples=25)
def test_no_space_ever_sees_another(
    crowded: QdrantEdgeIndex, puts: list[tuple[str, Collection, int, str]]
) -> None:
    """The same ids and the same words in many spaces: each call with one space returns only its own."""

    async def scenario(run: str) -> None:
        stored: dict[tuple[str, str], dict[str, str]] = {}
        for name, collection, number, text in puts:
            stored.setdefault((name, collection), {})[f"u{number}"] = text
            made = Entry(id=f"u{number}", session=SessionId(name), text=text)
            await crowded.put(SpaceId(run + name), collection, [made])
        for name, collection in {(name, other) for name, *_ in puts for other in COLLECTIONS}:
            own = stored.get((name, collection), {})
            assert await crowded.count(SpaceId(run + name), collection) == len(own)
            await _only_own(crowded, SpaceId(run + name), collection, own)

    anyio.run(scenario, f"{next(runs)} ")


async def _only_own(index: Index, space: SpaceId, collection: Collection, own: dict[str, str]) -> None:
    modes: tuple[Mode, ...] = ("hybrid", "words") if collection == "pages" else ("hybrid", "dense", "words")
    for mode in modes:
        for query in ("the red bicycle", "garden", "thunderstorms"):
            hits = await index.search(space, collection, query, limit=99, mode=mode, inactive=True)
            assert set(ids(hits)) <= own.keys()
            wanted = {id_ for id_, text in own.items() if query in text}
            assert wanted <= set(ids(hits))
            assert set(ids(hits)[: len(wanted)]) == wanted
