"""Vectors of questions: one question is looked up in several ways."""

from __future__ import annotations

from tiermem.embedding.interface import Embedder
from tiermem.index.newest import Newest
from tiermem.llm.meter import current

RECENT = 16
"""Questions without a meter whose vector is kept."""


class QuestionVectors:
    """Embeds questions for one index, each once for what one meter pays.

    Another meter pays for it again: else its tokens would show that somebody else asked the same. Without a
    meter nothing shows, and the newest ones are kept.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._recent: Newest[str] = Newest()

    async def embed(self, question: str) -> list[float]:
        """The vector of a question; raises what the embedder raises."""
        meter = current()
        if meter is not None:
            key = (id(self), question)
            if key not in meter.vectors:
                (meter.vectors[key],) = await self._embedder.embed([question])
            return meter.vectors[key]
        vectors = self._recent.of([question])
        if not vectors:
            (vectors[question],) = await self._embedder.embed([question])
            self._recent.put(vectors, most=RECENT)
        return vectors[question]
