"""From a reranker's numbers to an order of pages or turns; sure finds keep their place ahead."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from pagestore import Page
from tiermem.errors import ModelError
from tiermem.index.values import Hit
from tiermem.model import Degradation
from tiermem.reading.rerank.interface import FoundPage, RanksTurns, Reranker
from tiermem.reading.turns import FoundTurn
from tiermem.reading.view import View
from tiermem.text.question import Question

PROTECTED: Mapping[str, float] = {"all-MiniLM-L6-v2": 0.85, "all-MiniLM-L6-v2-int8": 0.85}
"""By the name of an embedder the cosine from which a find is sure: the lowest of .5, .6, … .85 from which
protecting costs no recall (halves A of LoCoMo and REALTALK, turns judged by a reader). Of pages with a cosine
of .6, that of other embedders, one in eight holds what is asked for with these two.
"""
_UNKNOWN = 0.5
"""The importance of a page that no unit rests on: that of a unit without judgement."""


async def rerank_pages(
    reranker: Reranker,
    question: Question,
    pages: Sequence[tuple[Hit, Page]],
    *,
    view: View,
    protected: float,
) -> tuple[Sequence[tuple[Hit, Page]], tuple[Degradation, ...]]:
    """The pages in the order to read them; as they were, and why, where the reranker cannot be used."""
    if not pages:
        return pages, ()
    found = [_as_found_page(hit, page, view) for hit, page in pages]
    try:
        scores = await reranker.score(question, found)
    except ModelError as error:
        return pages, (_as_it_was(error),)
    order = order_pages([one.similarity for one in found], scores, protected=protected)
    return [pages[at] for at in order], ()


async def reranked_turns(
    reranker: RanksTurns,
    question: Question,
    turns: Sequence[FoundTurn],
    *,
    judged: int,
    sure: float,
    protected: float,
) -> tuple[tuple[FoundTurn, ...], tuple[Degradation, ...]]:
    """The turns, the first `judged` of them in their new order; as they were where the first leads the second
    by a score of `sure`, and, with the reason, where the reranker cannot be used.

    The turns change places and their scores stay: the first has the best, so that pages, which are as good as
    their turns, follow.
    """
    first, rest = turns[:judged], turns[judged:]
    if len(first) < 2 or first[0].score - first[1].score >= sure:
        return tuple(turns), ()
    try:
        scores = await reranker.score_turns(question, first)
    except ModelError as error:
        return tuple(turns), (_as_it_was(error),)
    order = order_pages([one.similarity for one in first], scores, protected=protected)
    moved = (replace(first[at], score=place.score) for at, place in zip(order, first, strict=True))
    return (*moved, *rest), ()


def _as_it_was(error: ModelError) -> Degradation:
    return Degradation(stage="rerank", reason=str(error), fallback="order of the search")


def _as_found_page(hit: Hit, page: Page, view: View) -> FoundPage:
    units = view.tier1.units_of_page(page.id)
    importance = max(map(view.tier1.importance, units), default=_UNKNOWN)
    return FoundPage(page=page, similarity=hit.similarity, importance=importance)


def order_pages(
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
