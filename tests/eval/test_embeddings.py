"""The embedding cache: a text is embedded once, and its vector is the same with and without it."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from eval.embeddings import CachedEmbedder, cache_directory
from tiermem.embedding.hashed import HashEmbedder

pytestmark = pytest.mark.anyio


class Counting(HashEmbedder):
    """Remembers what it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        self.asked += texts
        return await super().embed(texts)


async def test_a_text_is_embedded_once_also_after_reopening(tmp_path: Path) -> None:
    embedder = Counting()
    cache = CachedEmbedder(embedder, tmp_path / "v.sqlite")
    first = await cache.embed(["a boat", "a dog", "a boat"])
    cache.close()
    again = CachedEmbedder(embedder, tmp_path / "v.sqlite")
    assert await again.embed(["a dog", "a boat"]) == [first[1], first[0]]
    assert embedder.asked == ["a boat", "a dog"]
    again.close()


async def test_vectors_are_the_same_with_a_full_cache_and_without(tmp_path: Path) -> None:
    texts = [f"text number {n} about {n % 7} boats" for n in range(600)] + ["", "\ud800 lone"]
    cold = CachedEmbedder(Counting(), tmp_path / "v.sqlite")
    warm_before = await cold.embed(texts)
    assert await cold.embed(texts) == warm_before
    other = CachedEmbedder(Counting(), tmp_path / "other.sqlite")
    assert await other.embed(list(reversed(texts))) == list(reversed(warm_before))
    for cache in (cold, other):
        cache.close()


async def test_vectors_of_another_embedder_are_not_taken_for_its_own(tmp_path: Path) -> None:
    first = CachedEmbedder(HashEmbedder(seed=0), tmp_path / "v.sqlite")
    second = CachedEmbedder(HashEmbedder(seed=1), tmp_path / "v.sqlite")
    assert await first.embed(["a boat"]) != await second.embed(["a boat"])
    first.close()
    second.close()


def test_the_cache_lies_where_it_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cache_directory(tmp_path) == tmp_path
    monkeypatch.setenv("TIERMEM_CACHE", str(tmp_path))
    assert cache_directory() == tmp_path / "eval"
