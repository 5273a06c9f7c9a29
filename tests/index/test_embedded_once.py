"""A turn is put while its page is open and again when it seals; its words are embedded once."""

import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import anyio
import pytest

from pagestore import SpaceId
from tiermem.embedding.hashed import HashEmbedder
from tiermem.index import base, points
from tiermem.index.qdrant import QdrantIndex
from tiermem.index.testing import turn
from tiermem.index.values import Entry

pytestmark = pytest.mark.anyio

SPACE = SpaceId("ann")
SAID = ["The ferry leaves at twenty to ten.", "My dog Pixel cannot have any chicken.", "It rained all day."]


class Counting(HashEmbedder):
    """An embedder that tells which texts it was given."""

    def __init__(self) -> None:
        super().__init__()
        self.given: list[str] = []

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        self.given += texts
        return await super().embed(texts)


def turns(first: int = 0) -> list[Entry]:
    """The same words, said as turns with numbers from `first` on."""
    return [turn(str(first + number), text) for number, text in enumerate(SAID)]


async def test_words_put_again_are_not_embedded_again() -> None:
    embedder = Counting()
    index = QdrantIndex(":memory:", embedder)
    await index.put(SPACE, "turns", turns())
    once = sorted(embedder.given)
    assert len(set(once)) == len(once)
    await index.put(SPACE, "turns", turns(100))
    assert sorted(embedder.given) == once
    await index.remove(SPACE, "turns", [entry.id for entry in turns()])
    found = await index.turns(SPACE, SAID[1], limit=3)
    assert found.seqs[found.meaning.argmax()] == 101
    assert max(found.meaning) == pytest.approx(1.0, abs=0.2)
    await index.close()


async def test_a_space_that_was_dropped_leaves_no_vectors() -> None:
    embedder = Counting()
    index = QdrantIndex(":memory:", embedder)
    await index.put(SPACE, "turns", turns())
    once = len(embedder.given)
    await index.drop(SPACE)
    await index.put(SPACE, "turns", turns())
    assert len(embedder.given) == 2 * once
    await index.close()


async def test_words_of_another_owner_are_embedded_by_themselves() -> None:
    embedder = Counting()
    index = QdrantIndex(":memory:", embedder)
    await index.put(SPACE, "turns", turns(100))
    once = len(embedder.given)
    theirs = [replace(entry, owner="other") for entry in turns(200)]
    await index.put(SPACE, "turns", [*turns(300), *theirs])
    assert len(embedder.given) == 2 * once


async def test_only_the_newest_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(points, "KEPT", 2)
    embedder = Counting()
    index = QdrantIndex(":memory:", embedder)
    await index.put(SPACE, "turns", turns())
    once = len(set(embedder.given))
    assert once > 2
    embedder.given.clear()
    await index.put(SPACE, "turns", turns(100))
    assert len(embedder.given) == once - 2
    await index.close()


class Instant(HashEmbedder):
    """An embedder that takes no time."""

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        return [[float(len(text))] for text in texts]


def test_memories_with_event_loops_of_their_own_share_what_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(points, "KEPT", 1)
    monkeypatch.setattr(base, "RECENT", 1)
    index = QdrantIndex(":memory:", Instant())

    async def use() -> None:
        for n in range(1_500):
            texts = ["a" * (n % 3 + 1), "b" * (n % 4 + 1)]
            assert await index._embed_once(SPACE, "", texts) == {text: [float(len(text))] for text in texts}
            assert await index._embed_question(texts[0]) == [float(len(texts[0]))]

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor() as threads:
            for done in [threads.submit(anyio.run, use) for _ in range(3)]:
                done.result()
    finally:
        sys.setswitchinterval(before)
