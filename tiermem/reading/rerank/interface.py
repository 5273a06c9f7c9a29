"""What a reranker promises: one number for each page that a search found, and where it can, for each turn."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from pagestore import Page
from tiermem.reading.turns import FoundTurn
from tiermem.text.question import Question


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundPage:
    """A page as it may be seen, and what the search and Tier 1 know of it.

    `similarity` is the cosine of its nearest turn or unit, `None` where it was found by words alone;
    `importance` that of its most important unit, .5 where it has none.
    """

    page: Page
    similarity: float | None = None
    importance: float = 0.5


class Reranker(Protocol):
    """Judges how well pages fit a question. May raise `ModelError`; the order then stays as it was."""

    async def score(self, question: Question, found: Sequence[FoundPage]) -> Sequence[float]:
        """One number a page, in order; higher fits better."""
        ...


@runtime_checkable
class RanksTurns(Protocol):
    """A reranker that judges single turns as well. May raise `ModelError`; the order then stays as it was."""

    async def score_turns(self, question: Question, found: Sequence[FoundTurn]) -> Sequence[float]:
        """One number a turn, in the order of the search, which has the best first; higher fits better."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RerankerRequest:
    """What a reranker is opened with: its name as the settings have it, and what it may need."""

    name: str
    closing: AsyncExitStack
    """What is to be done when the memory closes: a reranker that holds on to something adds to it."""
    weights: Path | None = None
    """The directory that the settings name for weights."""
    reader: str = "auto"
    """The reader that the settings name: `auto`, `none`, or its file."""

    @property
    def detail(self) -> str:
        """What is after the first colon of the name."""
        return self.name.partition(":")[2]


OpenReranker = Callable[[RerankerRequest], Awaitable[Reranker]]
"""Opens a reranker for one memory."""
