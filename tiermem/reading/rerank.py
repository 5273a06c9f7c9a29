"""Optional reranking of pages that a search found, with a rule that protects sure finds from it.

No reranker comes with TierMem: packages bring them, and callers give their own.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Protocol

from pagestore import Page
from tiermem.named import Registry


class Reranker(Protocol):
    """Judges how well pages fit a question. May raise `ModelError`; the order then stays as it was."""

    async def score(self, question: str, pages: Sequence[Page]) -> Sequence[float]:
        """One number a page, in order; higher fits better."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RerankerRequest:
    """What a reranker is opened with: its name as the settings have it."""

    name: str
    closing: AsyncExitStack
    """What is to be done when the memory closes: a reranker that holds on to something adds to it."""


OpenReranker = Callable[[RerankerRequest], Awaitable[Reranker]]
"""Opens a reranker for one memory."""

RERANKERS: Registry[OpenReranker] = Registry(sort="reranker", group="tiermem.rerankers", own={})
"""Rerankers by the names that settings use."""


def reordered(
    similarities: Sequence[float | None], scores: Sequence[float], *, protected: float
) -> list[int]:
    """The order in which to read: pages with a cosine of at least `protected` first and in their order,
    the others by score. Raises `ValueError` unless there is one score a page.
    """
    if len(scores) != len(similarities):
        raise ValueError(f"the reranker gave {len(scores)} scores for {len(similarities)} pages")
    sure = [i for i, cosine in enumerate(similarities) if cosine is not None and cosine >= protected]
    others = sorted(set(range(len(scores))) - set(sure))
    return sure + sorted(others, key=lambda i: math.inf if math.isnan(scores[i]) else -scores[i])
