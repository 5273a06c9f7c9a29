"""The index of a store in PostgreSQL: the contract, several processes, and what is left in its tables."""

import signal
import sys
from pathlib import Path

import anyio
import pytest

from pagestore import History
from tests.postgres import PostgresServer, execute, values_in
from tiermem.embedding.hashed import HashEmbedder
from tiermem.errors import IndexLocked, IndexMismatch, IndexUnavailable
from tiermem.index.features import hash_name, pack, unit_features
from tiermem.index.interface import Compacts, Exclusive, Index, LinksTurns, Shows, SupportsTransactions
from tiermem.index.row_index import RowIndex
from tiermem.index.table import SegmentTable, TableIndex
from tiermem.index.testing import ANN, BOB, GARDEN, TALK, IndexContract, entry, ids, scores_by_id, upto
from tiermem.index.values import COLLECTIONS

pytestmark = pytest.mark.anyio


@pytest.fixture
def url(postgres: PostgresServer) -> str:
    return postgres.create_database()


class TestTableIndex(IndexContract):
    @pytest.fixture(autouse=True)
    def _database(self, url: str) -> None:
        self._url = url

    async def new_index(self, where: Path) -> Index:
        return TableIndex(self._url, HashEmbedder())


async def found_in(index: Index) -> list[object]:
    """Whatever is found of a space, with its scores."""
    hits = [
        hit
        for query in ("the neighbour grows beans", "red bicycle")
        for collection in COLLECTIONS
        for hit in await index.search(ANN, collection, query, limit=50)
    ]
    turns = await index.turns(ANN, "Does Ann fear thunderstorms in the garden?", limit=5)
    return [*hits, *scores_by_id(turns).items(), *sorted(turns.rarity.items()), turns.block.rows.tobytes()]


async def test_it_finds_what_the_index_of_a_process_finds(url: str) -> None:
    table, other, mine = (
        TableIndex(url, HashEmbedder()),
        TableIndex(url, HashEmbedder()),
        RowIndex(HashEmbedder()),
    )
    for index in (table, mine):
        await index.put(ANN, "units", GARDEN)
        await index.put(ANN, "turns", TALK)
        await index.put(BOB, "turns", TALK)
    expected = await found_in(mine)
    assert await found_in(table) == expected
    assert await found_in(other) == expected
    for index in (table, other, mine):
        await index.close()


async def test_it_is_written_in_transactions_by_any_process_and_links_turns(url: str) -> None:
    index = TableIndex(url, HashEmbedder())
    assert isinstance(index, SupportsTransactions)
    assert isinstance(index, Exclusive)
    assert isinstance(index, LinksTurns)
    assert not isinstance(index, Shows | Compacts)
    await index.close()


async def test_what_a_process_puts_is_found_by_others_together_at_the_end_or_not_at_all(url: str) -> None:
    index, other = TableIndex(url, HashEmbedder()), TableIndex(url, HashEmbedder())
    assert await other.count(ANN, "units") == 0
    async with index.writing(ANN) as inside:
        await inside.put(ANN, "units", GARDEN)
        await inside.flush()
        await inside.set_mark(ANN, upto(3))
        assert (await inside.mark(ANN), await inside.count(ANN, "units")) == (upto(3), len(GARDEN))
        assert (await index.mark(ANN), await index.count(ANN, "units")) == (History(), len(GARDEN))
        assert (await other.mark(ANN), await other.count(ANN, "units")) == (History(), 0)
    for one in (index, other):
        assert (await one.mark(ANN), await one.count(ANN, "units")) == (upto(3), len(GARDEN))
    with pytest.raises(CutShort):
        await change_and_stop(other)
    for one in (index, other):
        assert (await one.mark(ANN), await one.count(ANN, "units")) == (upto(3), len(GARDEN))
        assert ids(await one.search(ANN, "units", "bicycle", limit=9, mode="words")) == ["u2"]
    await index.close()
    await other.close()


class CutShort(Exception):
    """Ends what a process puts."""


async def change_and_stop(index: TableIndex) -> None:
    async with index.writing(ANN) as inside:
        await inside.put(ANN, "units", [entry("u2", "Ann sold the bicycle"), entry("u9", "a bicycle")])
        await inside.flush()
        await inside.drop(ANN)
        await inside.put(ANN, "units", [entry("u10", "a third bicycle")])
        raise CutShort


async def test_what_others_put_is_read_once_when_the_mark_is_asked_for(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    index, other = TableIndex(url, HashEmbedder()), TableIndex(url, HashEmbedder())
    await index.put(ANN, "units", GARDEN[:2])
    assert await other.count(ANN, "units") == 2
    await index.put(ANN, "units", GARDEN)
    await index.set_mark(ANN, upto(3))
    assert await other.mark(ANN) == upto(3)
    with monkeypatch.context() as patched:
        patched.setattr(SegmentTable, "load", None)
        assert await other.count(ANN, "units") == len(GARDEN)
        assert ids(await other.search(ANN, "units", "thunderstorms", limit=1)) == ["u4"]
    await index.close()
    await other.close()


async def test_several_processes_write_a_space_in_turn_and_find_all_of_it(url: str) -> None:
    """Each finds what others put, replaced and removed, also where it only set a mark between."""
    first, second = TableIndex(url, HashEmbedder()), TableIndex(url, HashEmbedder())
    expected = RowIndex(HashEmbedder())
    steps = [
        ("put", [GARDEN[0], GARDEN[1]]),
        ("put", [GARDEN[2]]),
        ("mark", []),
        ("put", [GARDEN[3], entry("u1", "Ann planted beans")]),
        ("remove", [GARDEN[1]]),
        ("mark", []),
        ("drop", []),
        ("put", [*GARDEN]),
        ("remove", [GARDEN[2], GARDEN[3]]),
        ("put", [entry("u5", "the neighbour grows tomatoes")]),
    ]
    for number, (step, entries) in enumerate(steps):
        for index in ((first, second)[number % 2], expected):
            match step:
                case "put":
                    await index.put(ANN, "units", entries)
                case "remove":
                    await index.remove(ANN, "units", [one.id for one in entries])
                case "drop":
                    await index.drop(ANN)
                case _:
                    await index.set_mark(ANN, upto(number))
        for index in (first, second):
            assert await index.mark(ANN) == await expected.mark(ANN)
            assert await found_in(index) == await found_in(expected), (number, step)
            assert await index.count(ANN, "units") == await expected.count(ANN, "units")
    for index in (first, second, expected):
        await index.close()


async def test_one_process_at_a_time_writes_a_space(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    index, other = TableIndex(url, HashEmbedder()), TableIndex(url, HashEmbedder())
    steps: list[str] = []

    async def write_too() -> None:
        async with other.writing(ANN):
            steps.append("second")

    async with anyio.create_task_group() as tasks, index.writing(ANN), other.writing(BOB):
        tasks.start_soon(write_too)
        await anyio.sleep(0.2)
        steps.append("first")
    assert steps == ["first", "second"]
    monkeypatch.setattr("tiermem.storage.postgres.database._LOCK_WAIT", "100ms")
    async with index.writing(ANN):
        with pytest.raises(IndexLocked, match="another process is writing"):
            async with other.writing(ANN):
                raise AssertionError("both write")
    await index.close()
    await other.close()


async def test_a_killed_process_leaves_nothing_and_the_lock_is_free(url: str) -> None:
    index = TableIndex(url, HashEmbedder())
    put = (
        "import anyio, os, signal, sys\n"
        "from tests.index.test_table import ANN, GARDEN, HashEmbedder, TableIndex, upto\n"
        "async def put():\n"
        "    async with TableIndex(sys.argv[1], HashEmbedder()).writing(ANN) as inside:\n"
        "        await inside.put(ANN, 'units', GARDEN)\n"
        "        await inside.set_mark(ANN, upto(3))\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
        "anyio.run(put)\n"
    )
    killed = await anyio.run_process([sys.executable, "-c", put, url], check=False)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    async with index.writing(ANN) as inside:
        assert (await inside.mark(ANN), await inside.count(ANN, "units")) == (History(), 0)
    await index.close()


async def test_of_what_was_removed_no_table_holds_a_byte(url: str) -> None:
    """Only its flags and, of a turn, its number; dead rows are PostgreSQL's."""
    index, embedder = TableIndex(url, HashEmbedder()), HashEmbedder()
    (vector,) = await embedder.embed([GARDEN[1].text])
    block = pack([unit_features(GARDEN[1])], {GARDEN[1].text: vector}, embedder.dimensions)
    traces = [block.vectors.tobytes(), block.terms.tobytes(), block.id.tobytes()]
    session = hash_name(TALK[-1].session).to_bytes(8, "little")
    await index.put(ANN, "units", GARDEN)
    await index.put(ANN, "turns", TALK)
    await index.put(BOB, "turns", TALK[:-1])
    await index.close()
    index = TableIndex(url, embedder)
    assert all(held_in(url, trace) for trace in (*traces, session))
    await index.remove(ANN, "units", [one.id for one in GARDEN[1:]])  # two are of the same session
    await index.remove(ANN, "turns", [TALK[-1].id])
    assert not any(held_in(url, trace) for trace in (*traces, session))
    await index.drop(BOB)
    assert not held_in(url, b"bob")
    assert held_in(url, b"ann")
    await index.close()


def held_in(url: str, part: bytes) -> bool:
    return any(part in value for _, _, value in values_in(url))


async def test_another_embedder_is_a_mismatch_that_offers_reindex(url: str) -> None:
    index = TableIndex(url, HashEmbedder())
    await index.put(ANN, "units", GARDEN)
    await index.set_mark(ANN, upto(3))
    with pytest.raises(IndexMismatch, match=r"hash-0.*hash-1.*`reindex`"):
        TableIndex(url, HashEmbedder(seed=1))
    fresh = TableIndex(url, HashEmbedder(seed=1), fresh=True)
    assert (await fresh.mark(ANN), await fresh.count(ANN, "units")) == (History(), 0)
    assert (await index.mark(ANN), await index.count(ANN, "units")) == (History(), 0)
    await fresh.put(ANN, "units", GARDEN)
    with pytest.raises(IndexMismatch, match=r"hash-1.*hash-0"):
        await index.mark(ANN)
    await fresh.close()
    await index.close()


async def test_a_damaged_space_can_be_dropped_and_put_again(url: str) -> None:
    index = TableIndex(url, HashEmbedder())
    await index.put(ANN, "units", GARDEN)
    execute(url, "UPDATE tiermem_rows.segments SET body = substr(body, 1, 40)")
    other = TableIndex(url, HashEmbedder())
    for call in (other.count(ANN, "units"), other.put(ANN, "units", GARDEN)):
        with pytest.raises(IndexMismatch, match=r"damaged.*`reindex`"):
            await call
    async with other.writing(ANN) as inside:
        await inside.drop(ANN)
        await inside.put(ANN, "units", GARDEN[:1])
    for one in (index, other):
        assert (await one.mark(ANN), await one.count(ANN, "units")) == (History(), 1)
    await index.close()
    await other.close()


async def test_a_read_only_opener_makes_and_writes_nothing(url: str) -> None:
    TableIndex(url, HashEmbedder()).let_go()
    execute(url, "DROP SCHEMA tiermem_rows CASCADE")
    with pytest.raises(IndexUnavailable, match="there is no index"):
        TableIndex(url, HashEmbedder(), read_only=True)
    assert execute(url, "SELECT FROM pg_namespace WHERE nspname = 'tiermem_rows'") == []
    index = TableIndex(url, HashEmbedder())
    await index.put(ANN, "units", GARDEN)
    reader = TableIndex(url, HashEmbedder(), read_only=True)
    assert await reader.count(ANN, "units") == len(GARDEN)
    with pytest.raises(IndexUnavailable, match="read-only"):
        await reader.put(ANN, "units", GARDEN)
    await index.close()
    await reader.close()
