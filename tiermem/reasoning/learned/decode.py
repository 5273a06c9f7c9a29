"""From the numbers a reader gives to a span: the best pairs of first and last piece, and their leads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LONGEST: Final = 24
"""Pieces of an answer at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BestSpan:
    """First and last piece of a likely answer, and how far it leads "there is none" (in logits)."""

    start: int
    end: int
    margin: float


def best_spans(scores: NDArray[np.float32], first: int, last: int, *, count: int) -> list[BestSpan]:
    """The `count` best spans among the pieces from `first` to before `last`, best first; they may overlap.

    `scores` are two numbers a piece: for its being the first of the answer, and the last.
    """
    import numpy as np

    length = last - first
    if length <= 0:
        return []
    pairs = scores[first:last, 0][:, None] + scores[first:last, 1][None, :]
    allowed = np.triu(np.ones((length, length), bool)) & np.tril(np.ones((length, length), bool), LONGEST - 1)
    flat = np.where(allowed, pairs, -np.inf).ravel()
    kept = min(count, int(allowed.sum()))
    likely = np.argpartition(-flat, kept - 1)[:kept]
    none = float(scores[0, 0] + scores[0, 1])
    found = []
    for at in sorted(likely.tolist(), key=lambda at: (-flat[at], at)):
        start, end = divmod(at, length)
        found.append(BestSpan(start=first + start, end=first + end, margin=float(flat[at]) - none))
    return found


def best_span(scores: NDArray[np.float32], first: int, last: int) -> BestSpan | None:
    """The best span among these pieces; `None` where those are none."""
    return next(iter(best_spans(scores, first, last, count=1)), None)
