import gc
import os
import socket
import threading
import traceback
import uuid
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from warnings import catch_warnings

import pytest

from pagestore import History
from tiermem.embedding.hashed import HashEmbedder
from tiermem.errors import IndexMismatch, IndexUnavailable
from tiermem.index import encoding
from tiermem.index.interface import Index
from tiermem.index.qdrant import QdrantIndex
from tiermem.index.testing import ANN, BOB, GARDEN, TALK, IndexContract, upto

SERVER = os.environ.get("TIERMEM_TEST_QDRANT_URL")

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.filterwarnings("ignore:unclosed database in <sqlite3.Connection:ResourceWarning"),
]
"""The client's local mode drops a collection that is deleted without closing its file, and has no public way
to; Python warns of that from 3.13 on. A server has no such file.
"""


@pytest.fixture(scope="module", autouse=True)
def _none_is_left_to_other_tests() -> Iterator[None]:
    yield
    with catch_warnings(action="ignore", category=ResourceWarning):
        gc.collect()


class TestQdrantLocalMode(IndexContract):
    rounding = 1e-6

    async def new_index(self, where: Path) -> Index:
        return QdrantIndex(str(where / "index"), HashEmbedder())


@pytest.mark.skipif(SERVER is None, reason="no server: set TIERMEM_TEST_QDRANT_URL")
class TestQdrantServer(IndexContract):
    rounding = 1e-6

    async def new_index(self, where: Path) -> Index:
        prefix = f"tiermem-test-{uuid.uuid5(uuid.NAMESPACE_URL, str(where))}"
        return QdrantIndex(str(SERVER), HashEmbedder(), prefix=prefix)


def test_a_server_that_is_not_there_is_unavailable() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(IndexUnavailable, match="could not be used"):
        QdrantIndex(url, HashEmbedder(), seconds=60)


class _Echo(BaseHTTPRequestHandler):
    """A server that refuses, or sends away, and repeats the headers it was sent."""

    code = 401

    def do_GET(self) -> None:
        self.send_response(self.code)
        self.send_header("Location", "http://localhost:9/" + self.headers["api-key"])
        self.end_headers()
        self.wfile.write(str(self.headers).encode())

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it so
        """Silence."""


@pytest.mark.filterwarnings("ignore:Api key is used with an insecure connection")
@pytest.mark.parametrize("code", [401, 500, 307])
def test_a_server_that_repeats_its_key_has_it_in_no_error_and_sends_nobody_elsewhere(
    code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "qdrant-0123456789abcdef"
    monkeypatch.setattr(_Echo, "code", code)
    with HTTPServer(("127.0.0.1", 0), _Echo) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        url = f"http://ann:pa55word@127.0.0.1:{server.server_port}"
        with pytest.raises(IndexUnavailable, match=str(code)) as raised:
            QdrantIndex(url, HashEmbedder(), api_key=key, seconds=60)
        server.shutdown()
        thread.join()
    shown = "".join(traceback.format_exception(raised.value))
    assert "127.0.0.1" in shown
    assert not any(key[start : start + 8] in shown for start in range(len(key) - 7))
    assert "pa55word" not in shown


async def test_another_embedder_is_a_mismatch_that_offers_reindex(tmp_path: Path) -> None:
    where = str(tmp_path / "index")
    index = QdrantIndex(where, HashEmbedder())
    await index.put(ANN, "units", GARDEN)
    await index.set_mark(ANN, upto(3))
    await index.close()
    with pytest.raises(IndexMismatch, match=r"hash-0.*hash-1.*`reindex`"):
        QdrantIndex(where, HashEmbedder(seed=1))
    fresh = QdrantIndex(where, HashEmbedder(seed=1), fresh=[ANN])
    assert (await fresh.mark(ANN), await fresh.count(ANN, "units")) == (History(), 0)
    await fresh.close()


async def test_made_fresh_for_some_spaces_it_keeps_all_others(tmp_path: Path) -> None:
    where = str(tmp_path / "index")
    index = QdrantIndex(where, HashEmbedder())
    for space in (ANN, BOB):
        await index.put(space, "units", GARDEN)
        await index.set_mark(space, upto(3))
    await index.close()
    index = QdrantIndex(where, HashEmbedder(), fresh=[ANN])
    assert (await index.mark(ANN), await index.count(ANN, "units")) == (History(), 0)
    assert (await index.mark(BOB), await index.count(BOB, "units")) == (upto(3), len(GARDEN))
    await index.close()


async def test_made_fresh_for_another_embedder_it_deletes_no_points_of_others(tmp_path: Path) -> None:
    where = str(tmp_path / "index")
    index = QdrantIndex(where, HashEmbedder())
    for space in (ANN, BOB):
        await index.put(space, "turns", TALK)
    await index.close()
    with pytest.raises(IndexMismatch, match="other stores have points there"):
        QdrantIndex(where, HashEmbedder(seed=1), fresh=[ANN])
    index = QdrantIndex(where, HashEmbedder())
    assert (await index.count(ANN, "turns"), await index.count(BOB, "turns")) == (len(TALK), len(TALK))
    await index.drop(BOB)
    await index.close()
    index = QdrantIndex(where, HashEmbedder(seed=1), fresh=[ANN])
    assert await index.count(ANN, "turns") == 0
    await index.close()


async def test_marks_whose_turns_were_deleted_are_not_believed(tmp_path: Path) -> None:
    where = str(tmp_path / "index")
    index = QdrantIndex(where, HashEmbedder())
    index._client.delete_collection("tiermem-turns")
    await index.close()
    with pytest.raises(IndexMismatch, match="no turns"):
        QdrantIndex(where, HashEmbedder())


async def test_collections_of_another_schema_are_made_again_where_all_is_put_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = str(tmp_path / "index")
    with monkeypatch.context() as older:
        older.setattr(encoding, "SCHEMA", 7)
        index = QdrantIndex(where, HashEmbedder())
        await index.put(ANN, "turns", TALK)
        await index.close()
    with pytest.raises(IndexMismatch, match="`reindex`"):
        QdrantIndex(where, HashEmbedder())
    index = QdrantIndex(where, HashEmbedder(), fresh=[ANN])
    assert await index.count(ANN, "turns") == 0
    await index.close()


async def test_prefixes_keep_installations_apart(tmp_path: Path) -> None:
    index = QdrantIndex(":memory:", HashEmbedder(), prefix="a")
    assert {collection.name for collection in index._client.get_collections().collections} == {
        "a-units",
        "a-turns",
    }
    await index.close()
