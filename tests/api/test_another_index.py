"""A store beside an index that is not its own: another store's folder, another past, a server for several."""

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest

import tiermem
from pagestore import History, Store
from tests.api.conftest import OpenMemory
from tiermem.embedding.hashed import HashEmbedder
from tiermem.errors import IndexUnavailable
from tiermem.index import qdrant
from tiermem.index.qdrant import QdrantIndex
from tiermem.ledger import indexed_as

pytestmark = pytest.mark.local_only("files of one store are put into another")

HERONS = [f"On day {n} Ann counted {n + 1000} herons near the mill." for n in range(12)]
STORKS = [f"On day {n} Ann counted {n + 5000} storks near the tower." for n in range(30)]
ASKED = ("How many herons did Ann count on day 3?", "near the mill", "storks near the tower")


def tell(memory: tiermem.Memory, texts: Sequence[str], *, flush: bool = True) -> None:
    for text in texts:
        memory.add({"speaker": "Ann", "text": text})
    if flush:
        memory.flush()


def hits(memory: tiermem.Memory) -> list[Any]:
    found = [memory.search(query, kind=kind) for query in ASKED for kind in ("units", "pages", "turns")]
    return [[(hit.text, round(hit.score, 4)) for hit in one] for one in found]


def right(memory: tiermem.Memory) -> None:
    """The answer of the log, and what an index made anew finds."""
    answer = memory.ask(ASKED[0])
    assert "1003" in answer.text
    memory.index_pending()
    assert memory.ask(ASKED[0]).trace.degradations == ()
    before = hits(memory)
    memory.reindex()
    assert hits(memory) == before


@pytest.mark.parametrize("theirs", [STORKS[:4], STORKS], ids=["shorter", "longer"])
def test_the_index_of_another_store_is_made_anew(
    open_memory: OpenMemory, tmp_path: Path, theirs: list[str]
) -> None:
    for name, texts in (("store", HERONS), ("other", theirs)):
        with open_memory(path=tmp_path / name) as memory:
            tell(memory, texts)
    shutil.rmtree(tmp_path / "store" / "index")
    shutil.copytree(tmp_path / "other" / "index", tmp_path / "store" / "index")
    with open_memory() as memory:
        right(memory)


@pytest.mark.parametrize("flush", [True, False], ids=["sealed", "open"])
def test_the_index_of_another_past_is_made_anew(
    open_memory: OpenMemory, tmp_path: Path, *, flush: bool
) -> None:
    with open_memory() as memory:
        tell(memory, HERONS[:2])
    with open_memory():
        pass  # opened last, so that the copy ends with that
    shutil.copytree(tmp_path / "store", tmp_path / "backup")
    with open_memory() as memory:
        tell(memory, STORKS[:10], flush=flush)
    shutil.rmtree(tmp_path / "backup" / "index")
    shutil.copytree(tmp_path / "store" / "index", tmp_path / "backup" / "index")
    with open_memory(path=tmp_path / "backup") as memory:
        tell(memory, HERONS[2:], flush=flush)
        right(memory)


class Never(HashEmbedder):
    """An embedder that is out of use."""

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        raise IndexUnavailable("not now")


def test_while_it_cannot_be_made_anew_answers_are_right_and_say_so(
    open_memory: OpenMemory, tmp_path: Path
) -> None:
    for name, texts in (("store", HERONS), ("other", STORKS)):
        with open_memory(path=tmp_path / name) as memory:
            tell(memory, texts)
    shutil.rmtree(tmp_path / "store" / "index")
    shutil.copytree(tmp_path / "other" / "index", tmp_path / "store" / "index")
    with open_memory(embedder=Never()) as memory:
        answer = memory.ask(ASKED[0])
        assert "1003" in answer.text
        assert answer.trace.degradations
        assert memory.stats().problems


@pytest.fixture
def shared(tmp_path: Path) -> Iterator[QdrantIndex]:
    """The client's local mode, in place of a server."""
    index = QdrantIndex(str(tmp_path / "server"), HashEmbedder())
    yield index
    anyio.run(index.close)


def test_stores_that_share_a_server_answer_from_their_own(
    open_memory: OpenMemory, tmp_path: Path, shared: QdrantIndex
) -> None:
    ours, theirs = (open_memory(path=tmp_path / name, index=shared) for name in ("ours", "theirs"))
    tell(ours, HERONS)
    tell(theirs, STORKS)
    for _ in range(2):
        right(ours)
        assert "5003" in theirs.ask("How many storks did Ann count on day 3?").text
        assert "herons" not in str(theirs.search("herons near the mill", limit=99))
        theirs.reindex()


def test_reindexing_a_store_on_a_server_leaves_others_as_they_are(
    open_memory: OpenMemory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def in_a_folder(_: str, *given: Any, **options: Any) -> QdrantIndex:
        return QdrantIndex(str(tmp_path / "server"), *given, **options)

    monkeypatch.setattr(qdrant, "QdrantIndex", in_a_folder)
    for name, texts in (("ours", HERONS), ("theirs", STORKS)):
        for space in ("default", "Another One"):
            with open_memory(path=tmp_path / name, space=space, index="http://server") as memory:
                tell(memory, texts)
    held = {name: len(marks_of(tmp_path / name, tmp_path / "server")) for name in ("ours", "theirs")}
    assert held == {"ours": 2, "theirs": 2}
    with open_memory(path=tmp_path / "ours", index="http://server", reindex=True) as memory:
        right(memory)
    held = {name: len(marks_of(tmp_path / name, tmp_path / "server")) for name in ("ours", "theirs")}
    assert held == {"ours": 1, "theirs": 2}


def marks_of(store: Path, server: Path) -> list[History]:
    """What an index says it holds of the spaces of a store."""

    async def marks() -> list[History]:
        index = QdrantIndex(str(server), HashEmbedder())
        opened = Store(store, read_only=True)
        names = [indexed_as(space, str(opened.identity(space))) for space in opened.spaces()]
        found = [await index.mark(name) for name in names]
        await index.close()
        return [mark for mark in found if mark != History()]

    return anyio.run(marks)


def test_a_store_restored_beside_a_server_says_so_and_answers_from_its_log(
    open_memory: OpenMemory, tmp_path: Path, shared: QdrantIndex
) -> None:
    with open_memory(index=shared) as memory:
        tell(memory, HERONS[:2])
    shutil.copytree(tmp_path / "store", tmp_path / "backup")
    with open_memory(index=shared) as memory:
        tell(memory, STORKS)
        before = hits(memory)
    with open_memory(path=tmp_path / "backup", index=shared) as restored:
        tell(restored, HERONS[2:], flush=False)
        assert any("another history" in problem for problem in restored.flush().problems)
        answer = restored.ask(ASKED[0])
        assert "1003" in answer.text
        assert any("another history" in one.reason for one in answer.trace.degradations)
    with open_memory(index=shared) as memory:
        assert hits(memory) == before
    with open_memory(path=tmp_path / "backup", index=shared) as restored:
        restored.reindex()
        right(restored)
