"""Segments: rows in a file or a database, whatever ends the process, fills the disk or damages the file."""

import random
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pagestore import History, SpaceId
from pagestore.errors import NotAStore
from tests.index.conftest import QUICK
from tiermem.embedding.hashed import HashEmbedder
from tiermem.errors import IndexFull, IndexMismatch, IndexUnavailable, MemoryClosed, SummaryIndexError
from tiermem.index import segment_file, segments
from tiermem.index.features import IS_EMPTY, ITEM_TYPES, Block, RowFeatures, join_blocks, pack
from tiermem.index.segment_file import SegmentFile
from tiermem.index.segments import LARGEST, SIZES, LoadedRows, SegmentStore, SpaceState
from tiermem.index.table import SegmentTable

ONE, TWO = SpaceId("one"), SpaceId("two")
WIDTH = 16


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "rows.sqlite"


@pytest.fixture
def stored(file: Path) -> Iterator[SegmentFile]:
    opened = SegmentFile(file, WIDTH)
    yield opened
    opened.close()


class OpenSegments(Protocol):
    """Opens the same segments each time, which are closed after the test."""

    def __call__(self, *, read_only: bool = False) -> SegmentStore: ...


@pytest.fixture(params=["file", "table"])
def open_segments(request: pytest.FixtureRequest, file: Path) -> Iterator[OpenSegments]:
    """Segments of each kind: what a test that takes this says is so of both."""
    opened: list[SegmentStore] = []
    url = request.getfixturevalue("postgres").create_database() if request.param == "table" else None

    def open_one(*, read_only: bool = False) -> SegmentStore:
        if url is None:
            one: SegmentStore = SegmentFile(file, WIDTH, read_only=read_only)
        else:
            table = one = SegmentTable(url, HashEmbedder(WIDTH), read_only=read_only)
            table.prepare(fresh=False)
        opened.append(one)
        return one

    yield open_one
    for one in opened:
        one.close()


def block_of(seqs: Sequence[int]) -> Block:
    """Rows with bytes that nothing else has, the same for the same numbers."""
    rows: list[RowFeatures] = []
    vectors: dict[str, list[float]] = {}
    for seq in seqs:
        chance = random.Random(seq)
        texts = tuple(f"{seq}/{n}" for n in range(chance.randint(0, 3)))
        vectors |= {text: [chance.gauss(0, 1) for _ in range(WIDTH)] for text in texts}
        terms = {chance.getrandbits(32): chance.randint(1, 9) for _ in range(chance.randint(0, 6))}
        labels = tuple(chance.getrandbits(32) for _ in range(chance.randint(0, 3)))
        session = chance.getrandbits(64)
        row = RowFeatures(seq=seq, session=session, owner=7, terms=terms, labels=labels, texts=texts)
        rows.append(row)
    return pack(rows, vectors, WIDTH)


def contents(block: Block | None) -> list[bytes]:
    if block is None:
        return []
    return [block.rows.tobytes(), *(getattr(block, name).tobytes() for name in ITEM_TYPES)]


def upto(seq: int) -> History:
    return History(seq=seq, digest=f"h{seq}")


def sizes(stored: SegmentStore, space: SpaceId = ONE) -> list[int]:
    with stored._begin(space) as transaction:
        return [rows for _, rows in stored._list(transaction, space)]


steps = st.lists(
    st.one_of(
        st.tuples(st.just("append"), st.integers(0, 90)),
        st.tuples(st.just("empty"), st.integers(0, 5)),
        st.tuples(st.just("open"), st.just(0)),
        st.tuples(st.just("drop"), st.just(0)),
    ),
    max_size=14,
)


@settings(max_examples=60, deadline=None)
@given(steps=steps, seed=st.integers(0, 99))
def test_what_is_loaded_is_what_was_written(steps: list[tuple[str, int]], seed: int) -> None:
    """By this process, by one that opens the file, and by a reader that loads what is new."""
    chance = random.Random(seed)
    with TemporaryDirectory(dir=QUICK) as folder:
        file = Path(folder) / "rows.sqlite"
        stored, reader, state = SegmentFile(file, WIDTH), SegmentFile(file, WIDTH), SpaceState()
        expected, known, seq = block_of([]), block_of([]), 0
        for step, count in steps:
            numbers = sorted(chance.sample(range(len(expected.rows)), min(count, len(expected.rows))))
            match step:
                case "append":
                    block = block_of(range(seq, seq + count))
                    expected, seq = join_blocks([expected, block]), seq + count
                    assert stored.append(ONE, block, mark=upto(seq)).rows == len(expected.rows)
                case "empty":
                    stored.empty(ONE, numbers)
                    expected = expected.without(numbers)
                case "open":
                    stored.close()
                    stored = SegmentFile(file, WIDTH)
                case _:
                    stored.drop(ONE)
                    expected = block_of([])
            stored.append(TWO, block_of([seq]))
            read = reader.load(ONE, state)
            state = read.state
            parts = [known.select(np.arange(read.start)), *([read.block] if read.block else [])]
            known = join_blocks(parts)
            assert state.rows == len(expected.rows)
            assert contents(known) == contents(expected)
            whole = stored.load(ONE)
            assert contents(whole.block) == (contents(expected) if len(expected.rows) else [])
            assert reader.load(ONE, state).block is None
        stored.close()
        reader.close()


def test_a_reader_loads_only_what_is_new(open_segments: OpenSegments) -> None:
    stored, reader = open_segments(), open_segments(read_only=True)
    assert reader.state(ONE) == SpaceState()
    stored.append(ONE, block_of(range(100)), mark=upto(99))
    first = reader.load(ONE)
    assert (first.state.rows, first.state.mark) == (100, upto(99))
    stored.append(TWO, block_of([1]))
    assert reader.state(ONE) == first.state
    stored.append(ONE, block_of([100]), mark=upto(100))
    new = reader.load(ONE, first.state)
    assert (new.start, contents(new.block)) == (100, contents(block_of([100])))
    stored.empty(ONE, [4])
    changed = reader.load(ONE, new.state)
    assert (changed.start, changed.state.mark) == (0, upto(100))
    assert contents(changed.block) == contents(block_of(range(101)).without([4]))
    stored.drop(ONE)
    assert reader.load(ONE, changed.state) == LoadedRows(state=SpaceState(), start=0, block=None)
    stored.append(ONE, block_of(range(101)))
    assert reader.load(ONE, changed.state).start == 0


def test_small_segments_are_joined(open_segments: OpenSegments) -> None:
    stored, most = open_segments(), 0
    for seq in range(1_200):
        stored.append(ONE, block_of([seq]))
        most = max(most, len(sizes(stored)))
    assert most <= 3 * segments.JOINED
    assert sizes(stored)[:2] == [512, 512]
    assert contents(stored.load(ONE).block) == contents(block_of(range(1_200)))


def test_segments_of_several_sizes_in_turn_are_joined_too(stored: SegmentFile) -> None:
    for seq in range(0, 4_000, 100):
        stored.append(ONE, block_of([seq]))
        stored.append(ONE, block_of(range(seq + 1, seq + 100)))
    assert len(sizes(stored)) <= 3 * segments.JOINED


def test_many_rows_at_once_are_several_segments(open_segments: OpenSegments) -> None:
    stored = open_segments()
    stored.append(ONE, block_of(range(LARGEST + 5_000)))
    stored.append(ONE, block_of([0]))
    assert sizes(stored) == [LARGEST, 5_000, 1]
    for _ in range(LARGEST // SIZES[-1]):
        stored.append(ONE, block_of(range(SIZES[-1] - 1)))
    assert max(sizes(stored)) <= LARGEST


def test_a_mark_alone_is_written_and_nothing_else_is_marked(open_segments: OpenSegments) -> None:
    stored = open_segments()
    stored.append(ONE, None, mark=upto(3))
    assert (stored.state(ONE).mark, stored.state(TWO).mark) == (upto(3), History())
    stored.append(ONE, block_of([1]))
    stored.empty(ONE, [0])
    assert stored.state(ONE).mark == upto(3)
    stored.append(ONE, None, mark=upto(4))
    assert (stored.state(ONE).rows, stored.state(ONE).mark) == (1, upto(4))
    stored.drop(ONE)
    assert stored.state(ONE) == SpaceState()


@pytest.mark.parametrize("rows", [1, 40, 400, 5_000])
@pytest.mark.parametrize("step", ["empty", "drop"])
def test_no_byte_of_what_was_removed_is_left(file: Path, stored: SegmentFile, rows: int, step: str) -> None:
    block = block_of(range(rows))
    stored.append(ONE, block.select(np.arange(rows // 2)))
    stored.append(ONE, block.select(np.arange(rows // 2, rows)))
    chance = random.Random(rows)
    gone = sorted(chance.sample(range(rows), min(rows, 20)))
    planted = [
        part
        for number in gone
        for one in [block.select(np.array([number]))]
        for part in (one.vectors.tobytes(), one.terms.tobytes(), one.rows["session"].tobytes())
        if len(part) >= 8
    ]
    assert any(part in file.read_bytes() for part in planted)
    match step:
        case "empty":
            stored.empty(ONE, gone)
        case _:
            stored.drop(ONE)
    held = b"".join(path.read_bytes() for path in file.parent.iterdir())
    assert not [part for part in planted if part in held]
    if step == "empty":
        left = stored.load(ONE).block
        assert left is not None
        assert (left.rows["flags"][gone] == IS_EMPTY).all()


def test_a_full_disk_is_an_error_and_loses_nothing(stored: SegmentFile) -> None:
    stored.append(ONE, block_of(range(200)), mark=upto(199))
    connection = stored._connection
    assert connection is not None
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(IndexFull, match="full"):
        stored.append(ONE, block_of(range(200, 400)), mark=upto(399))
    assert (stored.state(ONE).rows, stored.state(ONE).mark) == (200, upto(199))
    assert contents(stored.load(ONE).block) == contents(block_of(range(200)))
    connection.execute("PRAGMA max_page_count = 1000000")
    stored.append(ONE, block_of(range(200, 400)), mark=upto(399))
    assert contents(stored.load(ONE).block) == contents(block_of(range(400)))


WRITER = """
import sys
from pathlib import Path
from tests.index.test_segments import ONE, WIDTH, block_of, upto
from tiermem.index.segment_file import SegmentFile

stored, seq = SegmentFile(Path(sys.argv[1]), WIDTH), int(sys.argv[2])
print("open", flush=True)
while True:
    size = 1 + seq % 7 * 11
    stored.append(ONE, block_of(range(seq, seq + size)), mark=upto(seq + size - 1))
    seq += size
    print(seq, flush=True)
"""


@pytest.mark.parametrize("seed", range(2))
def test_a_killed_writer_leaves_whole_rows_and_their_mark(file: Path, seed: int) -> None:
    chance, seq = random.Random(seed), 0
    for _ in range(3):
        command = [sys.executable, "-c", WRITER, str(file), str(seq)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
            assert writer.stdout is not None
            assert writer.stdout.readline() == "open\n"
            time.sleep(chance.random() / 10)
            writer.kill()
            acknowledged = [int(line) for line in writer.stdout if line.endswith("\n")]
        stored = SegmentFile(file, WIDTH)
        state = stored.state(ONE)
        assert state.rows == state.mark.seq + 1
        assert state.rows >= (acknowledged[-1] if acknowledged else seq)
        block = stored.load(ONE).block
        assert contents(block) == (contents(block_of(range(state.rows))) if state.rows else [])
        stored.close()
        seq = state.rows


def test_damage_is_found_or_does_no_harm(file: Path) -> None:
    stored = SegmentFile(file, WIDTH)
    stored.append(ONE, block_of(range(300)), mark=upto(299))
    stored.append(ONE, block_of(range(300, 310)))
    expected = contents(stored.load(ONE).block)
    stored.close()
    whole, chance, found = file.read_bytes(), random.Random(5), 0
    for _ in range(150):
        at, bit = chance.randrange(len(whole)), 1 << chance.randrange(8)
        file.write_bytes(whole[:at] + bytes([whole[at] ^ bit]) + whole[at + 1 :])
        try:
            damaged = SegmentFile(file, WIDTH, read_only=True)
            try:
                loaded = damaged.load(ONE)
            finally:
                damaged.close()
        except SummaryIndexError as error:
            found += isinstance(error, IndexMismatch)
            continue
        if loaded.state != SpaceState():  # its name was damaged
            assert contents(loaded.block) == expected
    assert found > 75


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE segments SET body = substr(body, 1, 40)",
        "UPDATE segments SET body = x''",
        "UPDATE segments SET body = 'text'",
        "UPDATE segments SET body = CAST(body AS TEXT)",
        "UPDATE segments SET body = zeroblob(500)",
        "UPDATE segments SET body = (SELECT body FROM segments WHERE start = 0)",
        "UPDATE segments SET rows = rows + 1",
        "DELETE FROM segments WHERE start = 0",
        "DELETE FROM segments WHERE start = 300",
        "UPDATE spaces SET rows = 'many'",
    ],
)
def test_a_damaged_segment_asks_to_be_rebuilt(file: Path, stored: SegmentFile, change: str) -> None:
    stored.append(ONE, block_of(range(300)))
    stored.append(ONE, block_of(range(300, 302)))
    with sqlite3.connect(file) as connection:
        connection.execute(change)
    connection.close()
    with pytest.raises(IndexMismatch, match=r"damaged.*reindex"):
        stored.load(ONE)


def test_another_schema_or_embedder_asks_to_be_rebuilt(
    file: Path, stored: SegmentFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored.append(ONE, block_of(range(3)))
    stored.close()
    other = SegmentFile(file, WIDTH + 1)
    with pytest.raises(IndexMismatch, match="dimensions"):
        other.load(ONE)
    other.close()
    monkeypatch.setattr(segment_file, "SCHEMA", segments.SCHEMA + 1)
    with pytest.raises(IndexMismatch, match=r"has schema 5.*reindex"):
        SegmentFile(file, WIDTH)
    file.write_bytes(b"no database " * 99)
    with pytest.raises(IndexMismatch, match="damaged"):
        SegmentFile(file, WIDTH)


def test_a_file_that_is_locked_or_missing_is_unavailable(
    file: Path, stored: SegmentFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segment_file, "WAIT", 0.05)
    waiting, other = SegmentFile(file, WIDTH), sqlite3.connect(file, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(IndexUnavailable, match="locked"):
        waiting.append(ONE, block_of([1]))
    other.close()
    assert waiting.append(ONE, block_of([1])).rows == 1
    waiting.close()
    waiting.close()
    with pytest.raises(MemoryClosed):
        waiting.load(ONE)
    for path in (file.parent / "missing.sqlite", file.parent / "none" / "rows.sqlite"):
        with pytest.raises(IndexUnavailable):
            SegmentFile(path, WIDTH, read_only=True)
    with pytest.raises(IndexUnavailable):
        SegmentFile(file.parent / "none" / "rows.sqlite", WIDTH)


def test_nothing_is_written_read_only(open_segments: OpenSegments, file: Path) -> None:
    with pytest.raises((IndexUnavailable, NotAStore)):
        open_segments(read_only=True)
    stored = open_segments()
    state = stored.append(ONE, block_of([1]))
    reader = open_segments(read_only=True)
    for write in (
        lambda: reader.append(ONE, block_of([2])),
        lambda: reader.empty(ONE, [0]),
        lambda: reader.drop(ONE),
    ):
        with pytest.raises(IndexUnavailable, match="read-only"):
            write()
    assert stored.load(ONE).state == state
    assert contents(stored.load(ONE).block) == contents(block_of([1]))
    if isinstance(stored, SegmentFile):
        assert file.stat().st_mode & 0o777 == 0o600
