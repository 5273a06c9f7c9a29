"""From the numbers a reader gives to a span: the best pair of first and last piece, and its lead."""

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


def best_span(scores: NDArray[np.float32], first: int, last: int) -> BestSpan | None:
    """The best span among the pieces from `first` to before `last`; `None` where there are none.

    `scores` are two numbers a piece: for its being the first of the answer, and the last.
    """
    import numpy as np

    length = last - first
    if length <= 0:
        return None
    pairs = scores[first:last, 0][:, None] + scores[first:last, 1][None, :]
    allowed = np.triu(np.ones((length, length), bool)) & np.tril(np.ones((length, length), bool), LONGEST - 1)
    start, end = divmod(int(np.where(allowed, pairs, -np.inf).argmax()), length)
    none = float(scores[0, 0] + scores[0, 1])
    return BestSpan(start=first + start, end=first + end, margin=float(pairs[start, end]) - none)
