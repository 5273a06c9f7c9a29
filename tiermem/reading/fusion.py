"""One ranking from several: reciprocal rank fusion, the only one that reading uses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

from tiermem.index.fusion import fuse_places
from tiermem.index.values import Hit

RRF = 60
"""The usual constant of reciprocal rank fusion: how little the very first ranks count for more."""

AGREEING = 2
"""The constant where two good rankings meet: what both put first comes first."""


def fuse(*rankings: Sequence[Hit], constant: int = RRF) -> tuple[Hit, ...]:
    """One ranking from several by reciprocal rank; a single one keeps its scores. Every id comes once.

    Equal scores share a rank, so that no id decides.
    """
    filled = [once(ranking) for ranking in rankings if ranking]
    if len(filled) == 1:
        return filled[0]
    rankings_by_score = (([(hit.id, hit.score) for hit in ranking], 1.0) for ranking in filled)
    scores = fuse_places(rankings_by_score, constant=constant)
    cosines: dict[str, float] = {}
    for hit in chain.from_iterable(filled):
        if hit.similarity is not None:
            cosines[hit.id] = max(hit.similarity, cosines.get(hit.id, -1.0))
    ordered = sorted(scores, key=lambda hit_id: -scores[hit_id])
    return tuple(Hit(id=i, score=scores[i], similarity=cosines.get(i)) for i in ordered)


def once(ranking: Iterable[Hit]) -> tuple[Hit, ...]:
    """Every id at its first place."""
    first: dict[str, Hit] = {}
    for hit in ranking:
        first.setdefault(hit.id, hit)
    return tuple(first.values())
