"""MemTier's score of an entry: five signals, of which one has no bound. Pure functions of arrays.

The tier's bonus is a fifth column, the multiplier less one, so that the whole score is one product.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

SIGNALS: Final = ("meaning", "bm25", "decay", "weight", "tier")
DEFAULT: Final = (0.0, 0.35, 0.25, 0.25, 0.15)
EQUAL: Final = (0.0, 0.25, 0.25, 0.25, 0.25)
BYPASS: Final = 2.0
"""A raw BM25 above this sets decay to 1; it is also where a saturated BM25 is one half."""
FADES: Final = 0.05
"""Decay a day: half is left after 13.9 days."""
MULTIPLIERS: Final[Mapping[str, float]] = {"episodic": 1.0, "semantic": 1.2, "procedural": 1.4}


def decay(bm25: Any, days: Any, scoped: Any) -> Any:
    """1 where the words match well or the first stage chose the session, else what time has left."""
    return np.where((bm25 > BYPASS) | scoped, 1.0, np.exp(-FADES * np.maximum(days, 0.0)))


def by_age(days: Any) -> Any:
    """What time has left, without exception."""
    return np.exp(-FADES * np.maximum(days, 0.0))


def features(bm25: Any, decayed: Any, *, meaning: Any = 0.0, weight: Any = 0.0, multiplier: Any = 1.0) -> Any:
    """A row an entry, a column a signal. `weight` is the cognitive weight, -1 to 1, 0 where nobody judged."""
    size = len(bm25)
    columns = (meaning, bm25, decayed, (np.asarray(weight) + 1) / 2, np.asarray(multiplier) - 1)
    return np.column_stack([np.broadcast_to(np.asarray(column, float), size) for column in columns])


def saturated(bm25: Any) -> Any:
    """BM25 between 0 and 1: one half at the threshold of the bypass."""
    return bm25 / (bm25 + BYPASS)


def min_max(values: Any) -> Any:
    """Between 0 and 1; all 0 where all are the same."""
    return (values - values.min()) / (np.ptp(values) or 1.0)


def z_score(values: Any) -> Any:
    """Mean 0, deviation 1; all 0 where all are the same."""
    return (values - values.mean()) / (values.std() or 1.0)


NORMALISED: Final[Mapping[str, Callable[[Any], Any]]] = {
    "N0 raw": lambda values: values,
    "N1 log(1 + x)": np.log1p,
    "N2 min-max": min_max,
    "N3 z-score": z_score,
}


def z_scored(rows: Any) -> Any:
    """The source's fifth variant, N4, has BM25 as z-scores and all signals of `EQUAL` weight."""
    bm25 = SIGNALS.index("bm25")
    return np.column_stack(
        [z_score(rows[:, at]) if at == bm25 else rows[:, at] for at in range(len(SIGNALS))]
    )


def ranking(scores: Any) -> list[int]:
    """Places, best first; among equals, whichever was told first."""
    return [int(at) for at in np.argsort(-np.asarray(scores), kind="stable")]


def fused(*rankings: list[int], k: int = 60) -> list[int]:
    """Reciprocal rank fusion, ranks counted from 1; among equals, the lower place."""
    points: dict[int, float] = {}
    for one in rankings:
        for rank, at in enumerate(one, start=1):
            points[at] = points.get(at, 0.0) + 1 / (k + rank)
    return sorted(points, key=lambda at: (-points[at], at))
