"""The index of a process: the contract of every index, but for what outlives it, and the engine's scores."""

from pathlib import Path

import pytest

from pagestore import History, SessionId, SpaceId
from tiermem.embedding.hashed import HashEmbedder
from tiermem.index.interface import Index
from tiermem.index.qdrant import QdrantIndex
from tiermem.index.row_index import RowIndex
from tiermem.index.testing import ANN, GARDEN, TALK, IndexContract, entry, same, scores_by_id, upto
from tiermem.index.values import Entry, Mode

pytestmark = pytest.mark.anyio


class TestRowIndex(IndexContract):
    async def new_index(self, where: Path) -> Index:
        return RowIndex(HashEmbedder())

    async def test_what_was_stored_is_there_after_reopening(self, tmp_path: Path) -> None:
        """The opposite is promised here: nothing outlives the index, and nothing was written."""
        index = await self.new_index(tmp_path)
        await index.put(ANN, "units", GARDEN)
        await index.set_mark(ANN, upto(7))
        assert await index.mark(ANN) == upto(7)
        await index.close()
        again = await self.new_index(tmp_path)
        assert (await again.mark(ANN), await again.count(ANN, "units")) == (History(), 0)
        assert await again.search(ANN, "units", "garden", limit=9) == ()
        await again.close()
        assert list(tmp_path.iterdir()) == []  # noqa: ASYNC240  # nobody waits


async def test_scores_are_those_of_qdrant() -> None:
    mine, engine = RowIndex(HashEmbedder()), QdrantIndex(":memory:", HashEmbedder())
    crowd = [" ".join(f"word{at}" for at in range(n)) for n in range(40)]
    more = [entry(f"m{n}", f"Ann met a neighbour in the garden, by the beans: {crowd[n]}") for n in range(40)]
    for index in (mine, engine):
        await index.put(ANN, "units", [*GARDEN, *more])
        await index.put(ANN, "turns", TALK)
    for query in ("the neighbour grows beans", "red bicycle in the garden", "thunderstorms"):
        for mode in ("hybrid", "dense", "words"):
            few, many = [
                [await index.search(ANN, "units", query, limit=limit, mode=mode) for index in (mine, engine)]
                for limit in (7, 60)
            ]
            same(*many)
            # Which of equals are cut off is left to the engine.
            assert [hit.score for hit in few[0]] == pytest.approx([hit.score for hit in few[1]], abs=1e-4)
    asked = [await index.turns(ANN, "Does Ann fear the thunderstorms?", limit=3) for index in (mine, engine)]
    assert asked[0].named == asked[1].named == {"ann"}
    assert dict(asked[0].rarity) == pytest.approx(dict(asked[1].rarity), abs=1e-4)
    left, right = map(scores_by_id, asked)
    assert left.keys() == right.keys()
    for id_, scores in left.items():
        assert scores == pytest.approx(right[id_], abs=1e-4)
    await mine.close()
    await engine.close()


@pytest.mark.anyio
@pytest.mark.parametrize("mode", ["dense", "words", "hybrid"])
async def test_no_more_is_found_than_was_asked_for(mode: Mode) -> None:
    index = RowIndex(HashEmbedder())
    entries = [Entry(id=f"u{n}", session=SessionId("s"), text=f"the red bicycle {n}") for n in range(9)]
    await index.put(SpaceId("space"), "units", entries)
    for limit in (1, 2, 5):
        assert len(await index.search(SpaceId("space"), "units", "bicycle", limit=limit, mode=mode)) == limit
