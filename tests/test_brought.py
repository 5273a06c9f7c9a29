"""Parts that another package brings: in one file, and one line of its entry points for each."""

import shutil
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import tiermem
from tests.brought.tiermem_example import LetterEmbedder, Overlap, PlainIndex
from tiermem.embedding import EMBEDDERS, Embedder
from tiermem.embedding.hashed import HashEmbedder
from tiermem.embedding.testing import EmbedderContract
from tiermem.errors import InvalidInput
from tiermem.index import INDEXES, Index
from tiermem.index.testing import IndexContract
from tiermem.reading.rerank import FoundPage
from tiermem.settings import Settings
from tiermem.text.question import Question

BROUGHT = Path(__file__).with_name("brought")
ALL_THREE: Any = {"embedder": "letters", "index": "plain:kept", "reranker": "overlap"}


@pytest.fixture(autouse=True)
def _installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the package were installed: its files and what is said about it lie on the path."""
    monkeypatch.syspath_prepend(BROUGHT)


class TestLetterEmbedder(EmbedderContract):
    def new_embedder(self) -> Embedder:
        return LetterEmbedder()


class TestPlainIndex(IndexContract):
    async def new_index(self, where: Path) -> Index:
        return PlainIndex(HashEmbedder(), where / "entries.rows")


def test_they_are_chosen_by_name_and_remembered_by_what_they_wrote(tmp_path: Path) -> None:
    store = tmp_path / "memory"
    with tiermem.open(store, **ALL_THREE) as memory:
        memory.add("My dog Biscuit is allergic to chicken.", speaker="Bob")
        memory.flush()
        assert memory.stats().embedder == "letters"
        found = memory.search("What is Biscuit allergic to?", kind="turns")
        assert "chicken" in memory.ask("What is Biscuit allergic to?").text
    assert (store / "index" / "kept.rows").stat().st_size > 0
    assert not (store / "index" / "index.json").exists()
    with tiermem.open(store, **ALL_THREE) as again:
        assert again.search("What is Biscuit allergic to?", kind="turns") == found
        assert not again.stats().problems
    with tiermem.open(store, **ALL_THREE, read_only=True) as looked:
        assert "chicken" in looked.ask("What is Biscuit allergic to?").text
    with tiermem.open(store, **ALL_THREE, reindex=True) as anew:
        assert anew.search("What is Biscuit allergic to?", kind="turns") == found


def test_a_reranker_that_is_chosen_by_name_is_asked_about_the_pages_of_a_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = import_module("tiermem_example")
    judged: list[int] = []

    class Told(Overlap):
        async def score(self, question: Question, found: Sequence[FoundPage]) -> Sequence[float]:
            judged.append(len(found))
            return await super().score(question, found)

    monkeypatch.setattr(module, "Overlap", Told)
    with tiermem.open(tmp_path / "memory", **ALL_THREE, links=False) as memory:
        memory.add("My dog Biscuit is allergic to chicken.", speaker="Bob", session="dogs")
        memory.add("My dog Rex likes tea.", speaker="Bob", session="tea")
        memory.flush()
        memory.search("What is Biscuit allergic to?", kind="pages")
    assert judged, "no page was judged"


def test_a_policy_of_eviction_is_chosen_by_its_name(tmp_path: Path) -> None:
    with tiermem.open(tmp_path / "memory", embedder="hashed") as memory:
        mind = memory.workspace(max_tokens=30, policy="longest")
        mind.add("Tea.", speaker="Ann")
        mind.add("My rescue dog Biscuit is allergic to chicken and to beef.", speaker="Ann")
        left = mind.add("The rent is 1,150 euros from May on.", speaker="Ann").evicted
        assert ["chicken" in item.text for item in left] == [True]
        assert memory.workspace(policy="lru").policy == "lru"
        with pytest.raises(InvalidInput, match="'longest'"):
            memory.workspace(policy="widest")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"embedder": "leters"}, r"'hashed'.*'broken' or 'letters'; did you mean 'letters'"),
        ({"index": "plane"}, "'postgresql://<database with pgvector>' or 'plain'"),
        ({"reranker": "none"}, "reranker: 'none' is not known: give 'learned', .* or 'overlap'"),
    ],
)
def test_a_name_that_is_not_known_is_an_error_that_lists_what_there_is(
    tmp_path: Path, given: Any, told: str
) -> None:
    with pytest.raises(InvalidInput, match=told):
        tiermem.open(tmp_path / "memory", **given)
    assert not (tmp_path / "memory").exists()


def test_what_comes_with_tiermem_keeps_its_name() -> None:
    assert EMBEDDERS.load("minilm").__module__ == "tiermem.embedding.minilm"
    assert EMBEDDERS.names().count("minilm") == 1
    with pytest.raises(InvalidInput, match="'minilm:int8'"):
        Settings(embedder="minilm:int4")


def test_a_part_that_cannot_be_loaded_names_its_package(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="'broken' of the package 'tiermem-example' cannot be loaded"):
        tiermem.open(tmp_path / "memory", embedder="broken")


def test_two_packages_that_bring_one_name_are_told_apart_by_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = shutil.copytree(BROUGHT / "tiermem_example-1.0.dist-info", tmp_path / "other-1.0.dist-info")
    (there / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1.0\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(InvalidInput, match=r"several packages .* 'plain', keep one: 'other', 'tiermem-ex"):
        INDEXES.load("plain")
