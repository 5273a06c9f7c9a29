import os
import socket
import uuid
from pathlib import Path

import pytest

from pagestore import History
from tiermem.errors import IndexMismatch, IndexUnavailable
from tiermem.index import QdrantIndex
from tiermem.index.interface import Index
from tiermem.index.testing import ANN, BOB, GARDEN, TALK, HashEmbedder, IndexContract, upto

pytestmark = pytest.mark.anyio

SERVER = os.environ.get("TIERMEM_TEST_QDRANT_URL")


class TestQdrantLocalMode(IndexContract):
    async def new_index(self, where: Path) -> Index:
        return await QdrantIndex.open(str(where / "index"), HashEmbedder())


@pytest.mark.skipif(SERVER is None, reason="no server: set TIERMEM_TEST_QDRANT_URL")
class TestQdrantServer(IndexContract):
    async def new_index(self, where: Path) -> Index:
        prefix = f"tiermem-test-{uuid.uuid5(uuid.NAMESPACE_URL, str(where))}"
        return await QdrantIndex.open(str(SERVER), HashEmbedder(), prefix=prefix)


def test_a_server_that_is_not_there_is_unavailable() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(IndexUnavailable, match="could not be used"):
        QdrantIndex(url, HashEmbedder(), seconds=2)


async def test_another_embedder_is_a_mismatch_that_offers_reindex(tmp_path: Path) -> None:
    where = str(tmp_path / "index")
    index = await QdrantIndex.open(where, HashEmbedder())
    await index.put(ANN, "units", GARDEN)
    await index.set_mark(ANN, upto(3))
    await index.close()
    with pytest.raises(IndexMismatch, match=r"hash-0.*hash-1.*`reindex`"):
        await QdrantIndex.open(where, HashEmbedder(seed=1))
    fresh = await QdrantIndex.open(where, HashEmbedder(seed=1), fresh=True)
    assert (await fresh.mark(ANN), await fresh.count(ANN, "units")) == (History(), 0)
    await fresh.close()


async def test_made_fresh_for_some_spaces_it_keeps_all_others(tmp_path: Path) -> None:
    where = str(tmp_path / "index")
    index = await QdrantIndex.open(where, HashEmbedder())
    for space in (ANN, BOB):
        await index.put(space, "units", GARDEN)
        await index.set_mark(space, upto(3))
    await index.close()
    index = await QdrantIndex.open(where, HashEmbedder(), fresh=[ANN])
    assert (await index.mark(ANN), await index.count(ANN, "units")) == (History(), 0)
    assert (await index.mark(BOB), await index.count(BOB, "units")) == (upto(3), len(GARDEN))
    await index.close()


async def test_made_fresh_for_another_embedder_it_deletes_no_points_of_others(tmp_path: Path) -> None:
    where = str(tmp_path / "index")
    index = await QdrantIndex.open(where, HashEmbedder())
    for space in (ANN, BOB):
        await index.put(space, "turns", TALK)
    await index.close()
    with pytest.raises(IndexMismatch, match="other stores have points there"):
        await QdrantIndex.open(where, HashEmbedder(seed=1), fresh=[ANN])
    index = await QdrantIndex.open(where, HashEmbedder())
    assert (await index.count(ANN, "turns"), await index.count(BOB, "turns")) == (len(TALK), len(TALK))
    await index.drop(BOB)
    await index.close()
    index = await QdrantIndex.open(where, HashEmbedder(seed=1), fresh=[ANN])
    assert await index.count(ANN, "turns") == 0
    await index.close()


async def test_marks_whose_pages_were_deleted_are_not_believed(tmp_path: Path) -> None:
    where = str(tmp_path / "index")
    index = await QdrantIndex.open(where, HashEmbedder())
    index._client.delete_collection("tiermem-pages")
    await index.close()
    with pytest.raises(IndexMismatch, match="no pages"):
        await QdrantIndex.open(where, HashEmbedder())


async def test_prefixes_keep_installations_apart(tmp_path: Path) -> None:
    index = await QdrantIndex.open(":memory:", HashEmbedder(), prefix="a")
    assert {collection.name for collection in index._client.get_collections().collections} == {
        "a-units",
        "a-pages",
        "a-turns",
    }
    await index.close()
