"""HTM-EAR's score without a model: similarity, entities in common with the question, importance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from anyio import to_thread

from eval.research.entities import entities, entities_missing
from pagestore import Page
from tiermem.text import Source
from tiermem.text.question import Question

ENTITY, IMPORTANCE = 0.8, 0.1
"""What an entity in common and importance weigh beside the cube of the cosine (HTM-EAR)."""


class FoundPage(Protocol):
    """What the score looks at of a page that a search found."""

    @property
    def page(self) -> Page:
        """The page as it may be seen."""
        ...

    @property
    def similarity(self) -> float | None:
        """The cosine of its nearest turn or unit; `None` where it was found by words alone."""
        ...

    @property
    def importance(self) -> float:
        """That of its most important unit."""
        ...


class EntityScore:
    """The cube of the cosine, 0.8 for each entity of the question that the page holds, 0.1 × importance.

    Entities are names, numbers and dates; a page found by words alone has the cosine 0.
    """

    async def score(self, question: Question, found: Sequence[FoundPage]) -> Sequence[float]:
        """The score of each page, in order; a reranker of `AsyncMemory.open`. Never raises `ModelError`."""
        return await to_thread.run_sync(entity_scores, question.text, found)


def entity_scores(question: str, found: Sequence[FoundPage]) -> list[float]:
    """The score of each page. Blocking: reads every page."""
    asked = len(entities(question))
    return [
        max(one.similarity or 0.0, 0.0) ** 3
        + ENTITY * (asked - len(entities_missing(question, _page_sources(one))))
        + IMPORTANCE * one.importance
        for one in found
    ]


def _page_sources(found: FoundPage) -> list[Source]:
    turns = (line.turn for line in found.page.lines)
    return [Source(turn.text, turn.said_at, turn.speaker) for turn in turns if turn is not None]
