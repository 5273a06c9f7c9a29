"""HTM-EAR's score of pages, and a memory that is opened with it as its reranker."""

import pytest

import tiermem
from eval.research.ear.entity_score import EntityScore, entity_scores
from pagestore import Page, Turn
from tests.reading.world import World
from tests.text.dialogue import page_of
from tiermem.reading.rerank import FoundPage

pytestmark = pytest.mark.anyio


def page(*texts: str) -> Page:
    return page_of([Turn(speaker="Ann", text=text) for text in texts])


def found(text: str, similarity: float | None = 0.5, importance: float = 0.5) -> FoundPage:
    return FoundPage(page=page(text), similarity=similarity, importance=importance)


@pytest.mark.parametrize(
    ("asked", "one", "score"),
    [
        ("what was it?", found("Bob met Clara", 0.5, 0.0), 0.125),
        ("what was it?", found("Bob met Clara", 0.5, 1.0), 0.225),
        ("Did Bob meet Clara?", found("Bob met Clara", 0.5, 0.0), 0.125 + 1.6),
        ("Did Bob meet 3 Japanese?", found("three friends from Japan", 0.0, 0.0), 1.6),
        ("Did Ann meet Bob?", found("I saw him", 1.0, 0.5), 1.0 + 0.8 + 0.05),
        ("Did Ann meet Bob?", found("I saw him", None, 0.0), 0.8),
        ("Did Ann meet Bob?", found("I saw him", -0.9, 0.0), 0.8),
        ("", found("Bob met Clara", 0.5, 0.0), 0.125),
    ],
)
def test_the_score_is_similarity_cubed_shared_entities_and_importance(
    asked: str, one: FoundPage, score: float
) -> None:
    assert entity_scores(asked, [one]) == [pytest.approx(score)]


async def test_a_page_that_names_what_is_asked_is_read_before_a_nearer_one() -> None:
    world = await World.new()
    await world.page("Ann: the dog the dog the dog")
    named = await world.page("Ann: Biscuit is the dog of Clara and somebody else altogether")
    findings = await world.research(
        "the dog Biscuit", reranker=EntityScore(), pages_per_round=1, protected_similarity=2.0
    )
    assert findings.pages_read[0] == named.id


NEAR = "the grey cat of somebody else was seen long ago in another place"
DOGS = "one cat met a dog and then a dog and then yet another dog in the garden"


def test_a_memory_reranks_its_pages_by_the_score() -> None:
    with tiermem.open(":memory:", embedder="hashed", engine="local", reranker=EntityScore()) as memory:
        for number, text in enumerate((NEAR, DOGS, "I saw a horse")):
            memory.add(text, speaker="Ann", session=f"s{number}", said_at="2024-03-01")
        memory.flush()
        pages = memory.search("Where is the grey cat?", kind="pages", limit=2)
    assert [one.text.partition(": ")[2].strip() for one in pages] == [NEAR, DOGS]
