"""An index in PostgreSQL: the contract, and what else there may be in its database."""

import random
import re
import signal
import sys
import uuid
from dataclasses import replace
from datetime import date
from pathlib import Path
from statistics import fmean
from typing import Any

import anyio
import pytest

from pagestore import History
from tests.postgres import PostgresServer, execute
from tiermem.embedding.hashed import HashEmbedder
from tiermem.errors import IndexLocked, IndexMismatch, IndexUnavailable
from tiermem.index import postgres
from tiermem.index.candidates import Candidates
from tiermem.index.interface import Index
from tiermem.index.postgres import PostgresIndex
from tiermem.index.row_index import RowIndex
from tiermem.index.testing import (
    ANN,
    BOB,
    GARDEN,
    MINE,
    MONDAY,
    OTHER,
    IndexContract,
    entry,
    random_entries,
    same,
    scores_by_id,
    turn_ids,
    upto,
)
from tiermem.index.values import COLLECTIONS, Hit, Mode, Timeframe

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def server_url(postgres: PostgresServer) -> str:
    return postgres.create_database()


@pytest.fixture
def url(server_url: str) -> str:
    """A database without an index."""
    execute(server_url, "DROP SCHEMA IF EXISTS tiermem_index CASCADE")
    return server_url


class TestPostgresIndex(IndexContract):
    rounding = 1e-6

    @pytest.fixture(autouse=True)
    def _database(self, url: str) -> None:
        self._url = url

    async def new_index(self, where: Path) -> Index:
        return PostgresIndex(self._url, HashEmbedder())


async def test_another_embedder_is_a_mismatch_that_offers_reindex(url: str) -> None:
    index = PostgresIndex(url, HashEmbedder())
    await index.put(ANN, "units", GARDEN)
    await index.set_mark(ANN, upto(3))
    await index.close()
    with pytest.raises(IndexMismatch, match=r"hash-0.*hash-1.*`reindex`"):
        PostgresIndex(url, HashEmbedder(seed=1))
    fresh = PostgresIndex(url, HashEmbedder(seed=1), fresh=[ANN])
    assert (await fresh.mark(ANN), await fresh.count(ANN, "units")) == (History(), 0)
    await fresh.close()


async def test_tables_that_hold_other_spaces_are_not_made_again(url: str) -> None:
    index = PostgresIndex(url, HashEmbedder())
    await index.put(BOB, "units", GARDEN)
    await index.close()
    with pytest.raises(IndexMismatch, match="it holds other spaces"):
        PostgresIndex(url, HashEmbedder(seed=1), fresh=[ANN])


async def test_what_is_made_again_forgets_the_named_spaces_alone(url: str) -> None:
    index = PostgresIndex(url, HashEmbedder())
    for space in (ANN, BOB):
        await index.put(space, "units", GARDEN)
        await index.set_mark(space, upto(3))
    await index.close()
    fresh = PostgresIndex(url, HashEmbedder(), fresh=[ANN])
    assert [await fresh.count(space, "units") for space in (ANN, BOB)] == [0, len(GARDEN)]
    assert [await fresh.mark(space) for space in (ANN, BOB)] == [History(), upto(3)]
    await fresh.close()


async def test_a_read_only_opener_makes_nothing(url: str) -> None:
    PostgresIndex(url, HashEmbedder())._close()
    execute(url, "DROP SCHEMA tiermem_index CASCADE")
    with pytest.raises(IndexUnavailable, match="there is no index"):
        PostgresIndex(url, HashEmbedder(), read_only=True)
    assert execute(url, "SELECT FROM pg_namespace WHERE nspname = 'tiermem_index'") == []


def test_a_server_without_pgvector_says_what_to_do(postgres: PostgresServer) -> None:
    url = postgres.create_database()
    role = f"plain_{uuid.uuid4().hex[:8]}"
    postgres.execute(f"CREATE ROLE {role} LOGIN")
    (database,) = re.findall(r"/(test_\w+)", url)
    postgres.execute(f"GRANT CREATE ON DATABASE {database} TO {role}")
    with pytest.raises(IndexUnavailable, match="CREATE EXTENSION vector"):
        PostgresIndex(url.replace("://postgres", f"://{role}"), HashEmbedder())


async def test_what_is_removed_leaves_no_row(url: str) -> None:
    index = PostgresIndex(url, HashEmbedder())
    await index.put(ANN, "units", GARDEN)
    await index.remove(ANN, "units", [one.id for one in GARDEN])
    await index.close()
    for table in ("points", "terms", "vectors"):
        assert execute(url, f"SELECT FROM tiermem_index.{table}") == []


@pytest.mark.parametrize("by", ["session", "time", "inactive"])
async def test_words_are_found_under_a_filter_as_in_an_index_in_memory(url: str, by: str) -> None:
    given: dict[str, dict[str, Any]] = {
        "session": {"session": MONDAY},
        "time": {"within": Timeframe(periods=((date(2023, 5, 1), date(2023, 5, 9)),))},
        "inactive": {"inactive": True},
    }
    entries = random_entries(random.Random(3), 1_000, 150, ("", MINE, OTHER))
    entries = [replace(one, active=at % 5 > 0) for at, one in enumerate(entries)]
    found: list[tuple[Hit, ...]] = []
    for index in (PostgresIndex(url, HashEmbedder()), RowIndex(HashEmbedder())):
        await index.put(ANN, "units", entries)
        query = "a garden harbour"
        found.append(await index.search(ANN, "units", query, limit=20, mode="words", **given[by]))
        everything = await index.search(ANN, "units", query, limit=200, mode="words")
        assert found[-1]
        assert found[-1] != everything[:20]
        await index.close()
    same(*found)


async def test_what_a_process_puts_is_found_together_at_the_end_or_not_at_all(
    url: str,
) -> None:
    index, other = PostgresIndex(url, HashEmbedder()), PostgresIndex(url, HashEmbedder())
    async with index.writing(ANN) as inside:
        await inside.put(ANN, "units", GARDEN)
        await inside.set_mark(ANN, upto(3))
        assert (await inside.count(ANN, "units"), await inside.mark(ANN)) == (len(GARDEN), upto(3))
        for outside in (index, other):
            assert (await outside.count(ANN, "units"), await outside.mark(ANN)) == (0, History())
    assert (await other.count(ANN, "units"), await other.mark(ANN)) == (len(GARDEN), upto(3))
    with pytest.raises(CutShort):
        await drop_cut_short(other)
    assert (await index.count(ANN, "units"), await index.mark(ANN)) == (len(GARDEN), upto(3))
    await index.close()
    await other.close()


class CutShort(Exception):
    """Ends what a process puts."""


async def drop_cut_short(index: PostgresIndex) -> None:
    async with index.writing(ANN) as inside:
        await inside.drop(ANN)
        raise CutShort


async def test_one_process_at_a_time_writes_a_space(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    index, other = PostgresIndex(url, HashEmbedder()), PostgresIndex(url, HashEmbedder())
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
    index = PostgresIndex(url, HashEmbedder())
    put = (
        "import anyio, os, signal, sys\n"
        "from tests.index.test_postgres import ANN, GARDEN, HashEmbedder, PostgresIndex, upto\n"
        "async def put():\n"
        "    async with PostgresIndex(sys.argv[1], HashEmbedder()).writing(ANN) as inside:\n"
        "        await inside.put(ANN, 'units', GARDEN)\n"
        "        await inside.set_mark(ANN, upto(3))\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
        "anyio.run(put)\n"
    )
    killed = await anyio.run_process([sys.executable, "-c", put, url], check=False)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    async with index.writing(ANN) as inside:
        assert (await inside.count(ANN, "units"), await inside.mark(ANN)) == (0, History())
    await index.close()


async def test_an_index_made_again_for_another_embedder_is_not_used_by_who_has_it_open(url: str) -> None:
    index = PostgresIndex(url, HashEmbedder())
    await index.set_mark(ANN, upto(3))
    await PostgresIndex(url, HashEmbedder(seed=1), fresh=[ANN]).close()
    with pytest.raises(IndexMismatch, match=r"hash-1.*hash-0"):
        await index.mark(ANN)
    await index.close()


@pytest.mark.parametrize("owners", [None, (MINE,)])
async def test_it_finds_what_an_index_in_memory_finds(url: str, owners: tuple[str, ...] | None) -> None:
    entries = random_entries(random.Random(3), 1_000, 150, ("", MINE, OTHER))
    found: list[tuple[list[tuple[Hit, ...]], Candidates]] = []
    modes: tuple[Mode, ...] = ("dense", "words")  # fused ranks jump where two cosines nearly tie
    for index in (PostgresIndex(url, HashEmbedder()), RowIndex(HashEmbedder())):
        for collection in COLLECTIONS:
            await index.put(ANN, collection, entries)
        hits = [
            await index.search(ANN, collection, "a garden harbour", limit=20, mode=mode, owners=owners)
            for collection in COLLECTIONS
            for mode in modes
        ]
        turns = await index.turns(ANN, "Did Ben see the cello in the drawer?", limit=200, owners=owners)
        found.append((hits, turns))
        await index.close()
    for hits_here, hits_there in zip(found[0][0], found[1][0], strict=True):
        same(hits_here, hits_there)
    here, there = found[0][1], found[1][1]
    assert here.named == there.named
    assert here.rarity == pytest.approx(dict(there.rarity))
    assert turn_ids(here) == turn_ids(there)
    assert here.block.rows.tolist() == there.block.rows.tolist()
    for one, other in zip(scores_by_id(here).values(), scores_by_id(there).values(), strict=True):
        assert one == pytest.approx(other, abs=2e-3)  # one has vectors of 8 bits


FILTERS: dict[str, dict[str, Any]] = {
    "none": {},
    "owner": {"owners": (MINE,)},
    "kind": {"collection": "turns"},
    "session": {"session": MONDAY},
}


@pytest.mark.parametrize("by", FILTERS)
async def test_the_nearest_of_many_entries_are_those_of_an_exact_search(
    url: str, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    index = PostgresIndex(url, HashEmbedder())
    entries = random_entries(random.Random(3), 1_000, 600, ("", MINE, OTHER))
    await index.put(ANN, "units", entries)
    await index.put(ANN, "turns", entries)
    await index.put(BOB, "units", random_entries(random.Random(4), 1_000, 600, ("",)))
    given: dict[str, Any] = {"collection": "units", "limit": 10, "mode": "dense"} | FILTERS[by]
    queries = [" ".join(entry.text.split()[:3]) for entry in entries[::20]]
    exact = [await index.search(ANN, query=query, **given) for query in queries]
    monkeypatch.setattr(postgres, "EXACT", 20)
    monkeypatch.setattr(postgres, "_BY_MEANING", "no exact search")
    near = [await index.search(ANN, query=query, **given) for query in queries]
    assert all(exact)
    shares = [
        sum(hit.score >= hits[-1].score - 1e-5 for hit in found) / len(hits)  # many have equal scores
        for found, hits in zip(near, exact, strict=True)
    ]
    assert fmean(shares) >= 0.98
    await index.close()


async def test_what_one_entry_of_many_vectors_hides_from_hnsw_is_found_by_an_exact_search(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = PostgresIndex(url, HashEmbedder())
    long = entry("long", "\n".join("the garden " * 39 + f"{n}" for n in range(64)))
    await index.put(ANN, "units", [long, *GARDEN])
    exact = await index.search(ANN, "units", "the garden", limit=2, mode="dense")
    assert [hit.id for hit in exact] == ["long", "u1"]
    monkeypatch.setattr(postgres, "EXACT", 1)
    assert await index.search(ANN, "units", "the garden", limit=2, mode="dense") == exact
    await index.close()


async def test_what_other_vectors_hide_from_hnsw_is_found_by_an_exact_search(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = PostgresIndex(url, HashEmbedder())
    await index.put(BOB, "units", random_entries(random.Random(4), 1_000, 600, ("",)))
    await index.put(ANN, "units", GARDEN)
    exact = await index.search(ANN, "units", "a garden", limit=2, mode="dense")
    monkeypatch.setattr(postgres, "EXACT", 1)
    monkeypatch.setattr(
        postgres,
        "_NEAREST_SETTINGS",
        postgres._NEAREST_SETTINGS.replace("relaxed_order", "off").replace("'200'", "'1'"),
    )
    assert await index.search(ANN, "units", "a garden", limit=2, mode="dense") == exact
    await index.close()
