"""From a reranker's numbers to an order in which pages are read; sure finds keep their place ahead."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pagestore import Page
from tiermem.errors import ModelError
from tiermem.index.interface import Hit
from tiermem.model import Degradation
from tiermem.reading.rerank.interface import FoundPage, Reranker
from tiermem.reading.view import View

_UNKNOWN = 0.5
"""The importance of a page that no unit rests on: that of a unit nobody judged."""


async def reranked(
    reranker: Reranker,
    question: str,
    pages: Sequence[tuple[Hit, Page]],
    *,
    view: View,
    protected: float,
) -> tuple[Sequence[tuple[Hit, Page]], tuple[Degradation, ...]]:
    """The pages in the order to read them; as they were, and why, where the reranker cannot be used."""
    if not pages:
        return pages, ()
    found = [_found(hit, page, view) for hit, page in pages]
    try:
        scores = await reranker.score(question, found)
    except ModelError as error:
        return pages, (Degradation(stage="rerank", reason=str(error), fallback="order of the search"),)
    order = reordered([one.similarity for one in found], scores, protected=protected)
    return [pages[at] for at in order], ()


def _found(hit: Hit, page: Page, view: View) -> FoundPage:
    units = view.tier1.units_of_page(page.id)
    importance = max(map(view.tier1.importance, units), default=_UNKNOWN)
    return FoundPage(page=page, similarity=hit.similarity, importance=importance)


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
