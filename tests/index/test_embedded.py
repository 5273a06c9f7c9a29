"""The embedded index: one file, several processes, nothing mapped, nothing left behind."""

import itertools
import json
import sqlite3
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pagestore import History, SessionId, SpaceId
from tests.index.conftest import QUICK
from tests.torture import full
from tiermem.api.leftovers import _written
from tiermem.embedding.hashed import HashEmbedder
from tiermem.errors import IndexFull, IndexLocked, IndexMismatch, IndexUnavailable
from tiermem.index.embedded import look_at_embedded, open_embedded
from tiermem.index.features import pack, unit_features
from tiermem.index.folder import FILE
from tiermem.index.interface import Compacts, Exclusive, Index, Shows
from tiermem.index.qdrant import QdrantIndex
from tiermem.index.row_index import RowIndex
from tiermem.index.segment_file import SegmentFile
from tiermem.index.segments import SpaceState
from tiermem.index.testing import (
    ANN,
    BOB,
    GARDEN,
    TALK,
    IndexContract,
    entry,
    ids,
    same,
    scores_by_id,
    turn,
    upto,
)
from tiermem.index.values import COLLECTIONS, Collection, Entry, Mode

ONE, TWO, S1 = SpaceId("one"), SpaceId("two"), SessionId("s1")
KEPT = Entry(id="kept", session=S1, text="The ferry leaves at nine.")
SECRET = Entry(id="secret-id", session=S1, text="The vault code of the blue house.")
OTHER = Entry(id="other", session=S1, text="A ferry of another space.")


def files_with(path: Path, needles: list[bytes]) -> list[str]:
    return [
        str(file.relative_to(path))
        for file in sorted(path.rglob("*"))
        if file.is_file() and (held := b"".join(_written(file))) and any(needle in held for needle in needles)
    ]


def connection_of(index: RowIndex) -> sqlite3.Connection:
    """The connection to the file of an index."""
    assert isinstance(index._segments, SegmentFile)
    assert index._segments._connection is not None
    return index._segments._connection


class TestEmbeddedIndex(IndexContract):
    async def new_index(self, where: Path) -> Index:
        return open_embedded(where / "index", HashEmbedder())


async def found_in(index: Index) -> list[tuple[str, float]]:
    """Whatever is found of a space, with its scores."""
    hits = [
        hit
        for query in ("the neighbour grows beans", "red bicycle")
        for collection in COLLECTIONS
        for hit in await index.search(ANN, collection, query, limit=50)
    ]
    turns = await index.turns(ANN, "Does Ann fear thunderstorms in the garden?", limit=5)
    scores = [(id_, score) for id_, scores in scores_by_id(turns).items() for score in scores]
    return [*((hit.id, hit.score) for hit in hits), *scores, *sorted(turns.rarity.items())]


@pytest.mark.anyio
async def test_scores_are_those_of_qdrant_and_of_the_index_of_a_process(tmp_path: Path) -> None:
    file, qdrant = open_embedded(tmp_path, HashEmbedder()), QdrantIndex(":memory:", HashEmbedder())
    indexes: Sequence[Index] = (file, qdrant, RowIndex(HashEmbedder()))
    for index in indexes:
        await index.put(ANN, "units", GARDEN)
        await index.put(ANN, "turns", TALK)
        await index.put(BOB, "turns", TALK)
    mine, theirs, in_process = [await found_in(index) for index in indexes]
    assert mine == in_process
    assert sorted(name for name, _ in mine) == sorted(name for name, _ in theirs)
    assert sorted(score for _, score in mine) == pytest.approx(sorted(score for _, score in theirs), abs=1e-4)
    for index in indexes:
        await index.close()


changes = st.lists(
    st.tuples(st.sampled_from(["put", "remove", "mark", "reopen", "drop"]), st.integers(0, 7)), max_size=24
)
said = ("the red bicycle", "a garden of beans", "beans", "the neighbour", "thunderstorms", "grows", "", "a")


@given(changes=changes)
@settings(max_examples=40)
def test_whatever_was_put_and_removed_it_is_found_as_if_put_at_once(changes: list[tuple[str, int]]) -> None:
    """Entries in arrays that grow and close up, written and read again, score as those laid out anew."""

    async def scenario(where: Path) -> None:
        index, there = open_embedded(where, HashEmbedder(16)), dict[str, Entry]()
        for step, (change, number) in enumerate(changes):
            name = str(number)
            match change:
                case "put":
                    there[name] = turn(name, said[(number + step) % len(said)], near=(str(number ^ 1),))
                    await index.put(ANN, "turns", [there[name]])
                case "remove":
                    there.pop(name, None)
                    await index.remove(ANN, "turns", [name])
                case "mark":
                    await index.set_mark(ANN, upto(step))
                case "drop":
                    there.clear()
                    await index.drop(ANN)
                case _:
                    await index.close()
                    index = open_embedded(where, HashEmbedder(16))
        fresh = RowIndex(HashEmbedder(16))
        await fresh.put(ANN, "turns", list(there.values()))
        assert await index.count(ANN, "turns") == len(there)
        assert await found_in(index) == await found_in(fresh)
        await index.close()

    with tempfile.TemporaryDirectory(dir=QUICK) as place:
        anyio.run(scenario, Path(place) / "index")


async def numbers_of(one: Entry) -> list[bytes]:
    """The vectors of an entry, its terms, its id, and the row, as the file holds them."""
    features = unit_features(one)
    (vector,) = await HashEmbedder(8).embed(features.texts)
    block = pack([features], {one.text: vector}, 8)
    return [block.vectors.tobytes(), block.terms.tobytes(), block.id.tobytes(), block.rows.tobytes()]


@pytest.mark.anyio
async def test_nothing_that_was_removed_is_left_in_any_file(tmp_path: Path) -> None:
    index = open_embedded(tmp_path, HashEmbedder(8))
    assert isinstance(index, Compacts)
    assert isinstance(index, Exclusive)
    crowd = [Entry(id=f"c{n}", session=SECRET.session, text=f"note {n}") for n in range(300)]
    await index.put(ONE, "units", [*crowd[:150], KEPT, SECRET, *crowd[150:]])
    await index.put(TWO, "units", [OTHER])
    await index.set_mark(ONE, upto(7))
    traces = await numbers_of(SECRET)
    assert all(files_with(tmp_path, [trace]) for trace in traces)
    await index.remove(ONE, "units", [SECRET.id])
    await index.compact()
    assert files_with(tmp_path, traces) == []
    assert all(files_with(tmp_path, [trace]) for trace in await numbers_of(KEPT))
    await index.drop(TWO)
    await index.compact()
    assert files_with(tmp_path, [b"units two", *await numbers_of(OTHER)]) == []
    assert await index.mark(ONE) == upto(7)
    assert ids(await index.search(ONE, "units", "ferry", limit=3))[0] == "kept"
    await index.close()


@pytest.mark.anyio
async def test_on_a_full_disk_what_is_new_is_found_and_not_written_until_there_is_room(
    tmp_path: Path,
) -> None:
    index = open_embedded(tmp_path, HashEmbedder())
    await index.put(ANN, "units", GARDEN[:2])
    await index.set_mark(ANN, upto(1))
    (pages,) = connection_of(index).execute("PRAGMA page_count").fetchone()
    connection_of(index).execute(f"PRAGMA max_page_count = {pages}")
    crowd = [entry(f"u{n + 9}", f"the note {n} on beans") for n in range(40)]
    await index.put(ANN, "units", [*GARDEN, *crowd])
    for _ in range(2):
        with pytest.raises(IndexFull, match="full"):
            await index.set_mark(ANN, upto(2))
        assert await index.mark(ANN) == upto(1)
        assert ids(await index.search(ANN, "units", "thunderstorms", limit=1)) == ["u4"]
    connection_of(index).execute("PRAGMA max_page_count = 1000000")
    await index.set_mark(ANN, upto(2))
    await index.close()
    index = open_embedded(tmp_path, HashEmbedder())
    assert (await index.mark(ANN), await index.count(ANN, "units")) == (upto(2), 44)
    await index.close()


@pytest.mark.anyio
async def test_closed_on_a_full_disk_it_holds_what_its_mark_says(tmp_path: Path) -> None:
    index = open_embedded(tmp_path, HashEmbedder())
    await index.put(ANN, "units", GARDEN[:2])
    await index.set_mark(ANN, upto(1))
    connection_of(index).execute("PRAGMA max_page_count = 1")
    await index.put(ANN, "units", [entry(f"u{n + 9}", "beans " * n) for n in range(400)])
    await index.close()
    index = open_embedded(tmp_path, HashEmbedder())
    assert (await index.mark(ANN), await index.count(ANN, "units")) == (upto(1), 2)
    await index.close()


@pytest.mark.anyio
@pytest.mark.parametrize("damage", ["garbage", "torn", "cut short", "no bytes", "no tables"])
async def test_a_damaged_file_is_not_believed_and_can_be_made_anew(tmp_path: Path, damage: str) -> None:
    index = open_embedded(tmp_path, HashEmbedder())
    await index.put(ANN, "units", [*GARDEN, *(entry(f"x{n}", f"note {n}") for n in range(60))])
    await index.set_mark(ANN, upto(3))
    await index.close()
    file = tmp_path / FILE
    match damage:
        case "garbage":
            file.write_bytes(b"no file of this kind" * 400)
        case "torn":
            file.write_bytes(file.read_bytes()[: 16 * 1024] + b"\xff" * 20_000)
        case "cut short":
            _run(file, "UPDATE segments SET body = substr(body, 1, 7)")
        case "no bytes":
            _run(file, "UPDATE segments SET body = '{'")
        case _:
            _run(file, "DROP TABLE segments")

    async def used() -> None:
        index = open_embedded(tmp_path, HashEmbedder())
        try:
            await index.search(ANN, "units", "tomatoes", limit=3)
        finally:
            await index.close()

    with pytest.raises(IndexMismatch, match=r"damaged.*`reindex`"):
        await used()
    index = open_embedded(tmp_path, HashEmbedder(), fresh=True)
    assert (await index.mark(ANN), await index.count(ANN, "units")) == (History(), 0)
    await index.close()


def _run(file: Path, statement: str) -> None:
    connection = sqlite3.connect(file)
    connection.execute(statement)
    connection.commit()
    connection.close()


@pytest.mark.anyio
async def test_of_another_embedder_it_is_a_mismatch_that_offers_reindex(tmp_path: Path) -> None:
    await open_embedded(tmp_path, HashEmbedder()).close()
    for other in (HashEmbedder(seed=1), HashEmbedder(64)):
        for read_only in (True, False):
            with pytest.raises(IndexMismatch, match=r"'hash-0' \(128 dimensions.*`reindex`"):
                (look_at_embedded if read_only else open_embedded)(tmp_path, other)


@pytest.mark.anyio
async def test_of_another_schema_it_is_made_again_and_has_no_mark(tmp_path: Path) -> None:
    index = open_embedded(tmp_path, HashEmbedder())
    await index.put(ONE, "units", [SECRET])
    await index.set_mark(ONE, upto(7))
    await index.close()
    description = tmp_path / "index.json"
    described = json.loads(description.read_text())
    description.write_text(json.dumps({**described, "schema": described["schema"] - 1}))
    index = open_embedded(tmp_path, HashEmbedder())
    assert (await index.mark(ONE), await index.count(ONE, "units")) == (History(), 0)
    await index.close()
    assert json.loads(description.read_text()) == described
    assert files_with(tmp_path, [b"secret-id"]) == []


@pytest.mark.anyio
async def test_of_another_form_it_is_a_mismatch_that_offers_reindex(tmp_path: Path) -> None:
    await open_embedded(tmp_path, HashEmbedder()).close()
    file = tmp_path / "index.json"
    described = json.loads(file.read_text())
    assert described.pop("form") == "rows"
    file.write_text(json.dumps(described))
    for read_only in (True, False):
        with pytest.raises(IndexMismatch, match=r"'hash-0'.*`reindex`"):
            (look_at_embedded if read_only else open_embedded)(tmp_path, HashEmbedder())
    await open_embedded(tmp_path, HashEmbedder(), fresh=True).close()
    await open_embedded(tmp_path, HashEmbedder()).close()


@pytest.mark.anyio
@pytest.mark.parametrize("made_by", ["this version", "an earlier version"])
async def test_files_are_their_owners_alone_and_are_few(tmp_path: Path, made_by: str) -> None:
    folder = tmp_path / "index"
    if made_by == "an earlier version":
        await open_embedded(folder, HashEmbedder()).close()
        folder.chmod(0o755)
        for file in folder.iterdir():
            file.chmod(0o644)
        await look_at_embedded(folder, HashEmbedder()).close()
        assert stat.S_IMODE(folder.stat().st_mode) == 0o755
    index = open_embedded(folder, HashEmbedder())
    await index.put(ANN, "units", GARDEN)
    await index.compact()
    found = {file.name: stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()}
    assert found.keys() <= {"LOCK", "index.json", FILE, f"{FILE}-journal"}
    assert set(found.values()) == {0o600}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    await index.close()


@pytest.mark.anyio
@pytest.mark.parametrize("name", [FILE, f"{FILE}-journal"])
async def test_a_file_that_is_a_link_is_not_followed(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "index"
    await open_embedded(folder, HashEmbedder()).close()
    (folder / name).rename(tmp_path / "theirs")
    (folder / name).symlink_to(tmp_path / "theirs")
    before = (tmp_path / "theirs").read_bytes()
    for read_only in (True, False):
        with pytest.raises(IndexMismatch, match="a link is not followed"):
            (look_at_embedded if read_only else open_embedded)(folder, HashEmbedder())
    assert (tmp_path / "theirs").read_bytes() == before


@pytest.mark.anyio
async def test_the_mode_of_what_a_link_leads_to_stays_as_it_is(tmp_path: Path) -> None:
    folder, theirs = tmp_path / "index", tmp_path / "theirs"
    folder.mkdir()
    theirs.write_text("notes")
    theirs.chmod(0o644)
    (folder / "notes").symlink_to(theirs)
    await open_embedded(folder, HashEmbedder()).close()
    assert stat.S_IMODE(theirs.stat().st_mode) == 0o644


@pytest.mark.anyio
async def test_an_entry_that_was_removed_is_not_found_before_the_file_is_written(tmp_path: Path) -> None:
    index = open_embedded(tmp_path, HashEmbedder())
    await index.put(ANN, "units", GARDEN)
    await index.close()
    index = open_embedded(tmp_path, HashEmbedder())
    await index.remove(ANN, "units", [GARDEN[0].id])
    assert await index.count(ANN, "units") == len(GARDEN) - 1
    await index.close()


@pytest.mark.anyio
async def test_what_is_put_while_another_space_is_dropped_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = open_embedded(tmp_path, HashEmbedder())
    await index.put(ANN, "units", GARDEN)
    drop = SegmentFile.drop
    putting = threading.Thread(target=lambda: anyio.run(index.put, BOB, "units", GARDEN[:1]))

    def put_and_drop(self: SegmentFile, space: SpaceId) -> None:
        if putting.ident is None:
            putting.start()
        drop(self, space)

    monkeypatch.setattr(SegmentFile, "drop", put_and_drop)
    await index.drop(ANN)
    await anyio.to_thread.run_sync(putting.join)
    await index.close()
    index = open_embedded(tmp_path, HashEmbedder())
    assert await index.count(BOB, "units") == 1
    await index.close()


@pytest.mark.anyio
async def test_a_reader_finds_what_another_writes_meanwhile_and_writes_nothing(tmp_path: Path) -> None:
    with pytest.raises(IndexUnavailable, match="no index at"):
        look_at_embedded(tmp_path / "index", HashEmbedder())
    assert not (tmp_path / "index").exists()
    writer = open_embedded(tmp_path / "index", HashEmbedder())
    reader = look_at_embedded(tmp_path / "index", HashEmbedder())
    assert await reader.search(ANN, "units", "tomatoes", limit=3) == ()
    for seq, one in enumerate(GARDEN):
        await writer.put(ANN, "units", [one])
        await writer.set_mark(ANN, upto(seq))
        assert await reader.mark(ANN) == upto(seq)
        same(*[await index.search(ANN, "units", one.text, limit=9) for index in (writer, reader)])
    for refused in (
        reader.put(ANN, "units", GARDEN),
        reader.remove(ANN, "units", ["u1"]),
        reader.set_mark(ANN, upto(9)),
        reader.drop(ANN),
    ):
        with pytest.raises(IndexUnavailable, match="read-only"):
            await refused
    await writer.close()
    await open_embedded(tmp_path / "index", HashEmbedder(), fresh=True).close()
    with pytest.raises(IndexUnavailable, match="made again by another process"):
        await reader.search(ANN, "units", "tomatoes", limit=3)
    await reader.close()


@pytest.mark.anyio
async def test_what_another_process_wrote_of_a_space_is_read_again(tmp_path: Path) -> None:
    """A space changes hands: each process has read it, and neither takes what it read for all there is."""
    one, other = [open_embedded(tmp_path, HashEmbedder()) for _ in range(2)]
    for turn_of, index in enumerate((one, other) * 3):
        assert await index.count(ANN, "units") == turn_of
        await index.put(ANN, "units", [entry(f"u{turn_of}", f"the note {turn_of}")])
        await index.set_mark(ANN, upto(turn_of))
    for index in (one, other):
        assert len(await index.search(ANN, "units", "note", limit=9, mode="words")) == 6
        await index.close()


@pytest.mark.anyio
async def test_an_index_that_others_have_open_is_not_made_anew_under_their_hands(tmp_path: Path) -> None:
    index = open_embedded(tmp_path, HashEmbedder())
    await index.put(ANN, "units", GARDEN)
    with pytest.raises(IndexLocked, match="open in another memory"):
        open_embedded(tmp_path, HashEmbedder(), fresh=True)
    await index.set_mark(ANN, upto(1))
    assert await index.count(ANN, "units") == len(GARDEN)
    await index.close()


WRITER = """
import sys, anyio
from pathlib import Path
from typing import Any
from pagestore import SpaceId
from tiermem.index.embedded import look_at_embedded, open_embedded
from tiermem.index.row_index import RowIndex
from tiermem.index.segment_file import SegmentFile
from tiermem.index.segments import SpaceState
from tiermem.embedding.hashed import HashEmbedder
from tiermem.index.testing import entry, upto

async def main():
    index = open_embedded(Path(sys.argv[1]), HashEmbedder())
    space = SpaceId(sys.argv[2])
    print("open", flush=True)
    for n in range(int(sys.argv[3])):
        await index.put(space, "units", [entry(f"u{n}", f"the note {n} of {space}")])
        await index.set_mark(space, upto(n))
    await index.close()

anyio.run(main)
"""


def test_processes_write_spaces_of_their_own_at_once_and_one_reads(tmp_path: Path) -> None:
    spaces = [SpaceId(name) for name in ("ann", "bob")]
    commands = [[sys.executable, "-c", WRITER, str(tmp_path), space, "20"] for space in spaces]
    writers = [subprocess.Popen(command, stdout=subprocess.PIPE) for command in commands]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"open\n"

    async def read() -> None:
        reader = look_at_embedded(tmp_path, HashEmbedder())
        while any(writer.poll() is None for writer in writers):
            for space in spaces:
                mark = await reader.mark(space)
                there = await reader.search(space, "units", "note", limit=99, mode="words")
                assert {f"u{n}" for n in range(mark.seq + 1)} <= set(ids(there))
        for space in spaces:
            assert (await reader.mark(space), await reader.count(space, "units")) == (upto(19), 20)
        await reader.close()

    anyio.run(read)
    for writer in writers:
        writer.communicate()
    assert [writer.returncode for writer in writers] == [0, 0]


LOOK = """
import sys, anyio
from pathlib import Path
from typing import Any
from tiermem.index.embedded import look_at_embedded, open_embedded
from tiermem.index.row_index import RowIndex
from tiermem.index.segment_file import SegmentFile
from tiermem.index.segments import SpaceState
from tiermem.embedding.hashed import HashEmbedder
from tiermem.index.testing import ANN

async def main():
    index = look_at_embedded(Path(sys.argv[1]), HashEmbedder())
    print([hit.id for hit in await index.search(ANN, "units", "red bicycle", limit=1)])

anyio.run(main)
"""


@pytest.mark.skipif(not full.can_mount(), reason="this machine lets nobody mount a file system")
def test_a_file_system_that_cannot_be_written_can_be_read(tmp_path: Path) -> None:
    async def write() -> None:
        index = open_embedded(tmp_path / "index", HashEmbedder())
        await index.put(ANN, "units", GARDEN)
        await index.close()

    anyio.run(write)
    script = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && ! touch "$0/x" 2>&- && exec "$@"'
    command = ["sh", "-c", script, str(tmp_path), sys.executable, "-c", LOOK, str(tmp_path / "index")]
    ran = subprocess.run(
        ["unshare", "--map-root-user", "--mount", *command], capture_output=True, text=True, check=False
    )
    assert (ran.stdout, ran.returncode) == ("['u2']\n", 0), ran.stderr


def changing(
    method: str,
    index: RowIndex,
    put: dict[str, str],
    removed: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[..., object]:
    """A method of the file that is called while entries are put and removed."""
    real = getattr(SegmentFile, method)

    def change_and_call(*args: object, **kwargs: object) -> object:
        monkeypatch.undo()
        anyio.from_thread.run(index.put, ANN, "units", [entry(name, text) for name, text in put.items()])
        anyio.from_thread.run(index.remove, ANN, "units", removed)
        return real(*args, **kwargs)

    return change_and_call


@pytest.mark.anyio
async def test_searching_waits_for_no_disk_while_this_process_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = open_embedded(tmp_path, HashEmbedder())
    await index.put(ANN, "units", GARDEN[:2])
    await index.set_mark(ANN, upto(1))
    assert len(await index.search(ANN, "units", "tomatoes", limit=9)) == 2
    await index.put(ANN, "units", [*GARDEN])
    index.show(ANN, upto(2))
    writing, written = threading.Event(), threading.Event()

    append = SegmentFile.append

    def wait(self: SegmentFile, *args: Any, **kwargs: Any) -> SpaceState:
        writing.set()
        assert written.wait(100)
        return append(self, *args, **kwargs)

    monkeypatch.setattr(SegmentFile, "append", wait)
    thread = threading.Thread(target=index._write_all)
    thread.start()
    try:
        assert await anyio.to_thread.run_sync(writing.wait, 60)
        with anyio.fail_after(60):
            assert len(await index.search(ANN, "units", "tomatoes", limit=9)) == len(GARDEN)
            assert await index.mark(ANN) == upto(2)
            await index.put(ANN, "units", [entry("u9", "the note on tomatoes")])
            assert await index.count(ANN, "units") == len(GARDEN) + 1
    finally:
        written.set()
        thread.join()
        monkeypatch.undo()
    await index.set_mark(ANN, upto(3))
    await index.close()
    index = open_embedded(tmp_path, HashEmbedder())
    assert (await index.mark(ANN), await index.count(ANN, "units")) == (upto(3), len(GARDEN) + 1)
    await index.close()


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("written", "put", "removed"),
    [
        ({"u1": "the old barn"}, {"u1": "the new harbour"}, ()),
        ({"u1": "the old barn"}, {"u2": "the new harbour"}, ()),
        ({"u1": "the old barn"}, {}, ("u1",)),
        ({}, {}, ("kept",)),
        ({"u1": None, "kept": None}, {"kept": "the new harbour"}, ()),
        ({"kept": "the old barn"}, {}, ("kept",)),
    ],
    ids=["changed", "new", "removed", "removed that was stored", "put that was removed", "removed again"],
)
async def test_what_is_put_or_removed_during_a_write_is_written_with_the_next_one(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    written: dict[str, str | None],
    put: dict[str, str],
    removed: tuple[str, ...],
) -> None:
    """`written` are entries that the write takes: put, or removed where they have no text."""
    index = open_embedded(tmp_path, HashEmbedder())
    await index.put(ANN, "units", [entry("kept", "the mill")])
    await index.set_mark(ANN, upto(1))
    await index.put(ANN, "units", [entry(name, text) for name, text in written.items() if text is not None])
    await index.remove(ANN, "units", [name for name, text in written.items() if text is None])
    for method in ("append", "empty"):
        monkeypatch.setattr(SegmentFile, method, changing(method, index, put, removed, monkeypatch))
    await index.flush()
    await index.set_mark(ANN, upto(2))
    await index.close()
    index = open_embedded(tmp_path, HashEmbedder())
    left = {"kept": "the mill", **written, **put}
    texts = {name: text for name, text in left.items() if text is not None and name not in removed}
    assert await index.count(ANN, "units") == len(texts)
    for name, text in texts.items():
        (best,) = await index.search(ANN, "units", text, limit=1, mode="words")
        assert best.id == name
    await index.close()


@pytest.mark.anyio
async def test_what_is_shown_is_marked_until_it_is_dropped_or_the_process_ends(tmp_path: Path) -> None:
    index = open_embedded(tmp_path, HashEmbedder())
    assert isinstance(index, Shows)
    for dropped in (True, False):
        await index.put(ANN, "units", GARDEN)
        await index.set_mark(ANN, upto(1))
        index.show(ANN, upto(2))
        assert await index.mark(ANN) == upto(2)
        other = look_at_embedded(tmp_path, HashEmbedder())
        assert await other.mark(ANN) == upto(1)
        await other.close()
        await (index.drop(ANN) if dropped else index.set_mark(ANN, History()))
        assert await index.mark(ANN) == History()
    await index.put(ANN, "units", GARDEN[:1])
    await index.set_mark(ANN, upto(1))
    index.show(ANN, upto(2))
    elsewhere = open_embedded(tmp_path, HashEmbedder())
    await elsewhere.put(ANN, "units", GARDEN)
    await elsewhere.set_mark(ANN, upto(5))
    index.show(ANN, None)
    assert (await index.mark(ANN), await index.count(ANN, "units")) == (upto(5), len(GARDEN))
    await elsewhere.close()
    await index.close()


names = st.sampled_from(["ann", "bob", "Ann", "ann ", "", "a/b", "a%2Fb", "\ud83d\ude00", "😀", "null"])
texts = st.sampled_from(["the red bicycle", "a garden of tomatoes", "thunderstorms at night"])
puts = st.lists(st.tuples(names, st.sampled_from(COLLECTIONS), st.integers(0, 5), texts), max_size=12)


runs = itertools.count()


@pytest.fixture(scope="module")
def crowded() -> Iterator[RowIndex]:
    """One index for all examples of a property; each example names its spaces after its run."""
    with tempfile.TemporaryDirectory(dir=QUICK) as directory:
        index = open_embedded(Path(directory), HashEmbedder())
        yield index
        anyio.run(index.close)


@given(puts=puts)
@settings(max_examples=25)
def test_no_space_ever_sees_another(crowded: RowIndex, puts: list[tuple[str, Collection, int, str]]) -> None:
    """The same ids and the same words in many spaces: each call with one space returns only its own."""

    async def scenario(run: str) -> None:
        stored: dict[tuple[str, str], dict[str, str]] = {}
        for name, collection, number, text in puts:
            stored.setdefault((name, collection), {})[str(number)] = text
            made = turn(str(number), text, session=SessionId(name))
            await crowded.put(SpaceId(run + name), collection, [made])
        for name, collection in {(name, other) for name, *_ in puts for other in COLLECTIONS}:
            own = stored.get((name, collection), {})
            assert await crowded.count(SpaceId(run + name), collection) == len(own)
            await _only_own(crowded, SpaceId(run + name), collection, own)

    anyio.run(scenario, f"{next(runs)} ")


async def _only_own(index: Index, space: SpaceId, collection: Collection, own: dict[str, str]) -> None:
    modes: tuple[Mode, ...] = ("hybrid", "dense", "words")
    for mode in modes:
        for query in ("the red bicycle", "garden", "thunderstorms"):
            hits = await index.search(space, collection, query, limit=99, mode=mode, inactive=True)
            assert set(ids(hits)) <= own.keys()
            wanted = {id_ for id_, text in own.items() if query in text}
            assert wanted <= set(ids(hits))
            assert set(ids(hits)[: len(wanted)]) == wanted
