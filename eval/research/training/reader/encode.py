"""Lessons as numbers: word pieces of both texts, and where the answer's pieces stand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from eval.research.training.data.examples import Example
from tiermem.reasoning.learned.pieces import Pieces, encode

NONE: Final = -100
"""A label that teaches nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoded:
    """A lesson for the network. `start` and `end` are pieces of the answer (0 where there is none to find),
    `NONE` where the span is not learned; the other labels likewise, and only one of them is of its task.
    """

    ids: Sequence[int]
    second: int
    start: int
    end: int
    suffices: int
    bears: int
    grade: int


def encoded(lessons: Iterable[Example], tokenizer: Any) -> list[Encoded]:
    """Every lesson, in order."""
    return [encoded_one(one, encode(tokenizer, one.first, one.second)) for one in lessons]


def encoded_one(lesson: Example, pieces: Pieces) -> Encoded:
    """One lesson, of which the pieces are known."""
    start, end = _answer(lesson, pieces)
    return Encoded(
        ids=pieces.ids,
        second=pieces.second,
        start=start,
        end=end,
        suffices=lesson.label if lesson.task == "read" and lesson.label in (0, 1) else NONE,
        bears=lesson.label if lesson.task == "rank" else NONE,
        grade=lesson.label if lesson.task == "support" else NONE,
    )


def _answer(lesson: Example, pieces: Pieces) -> tuple[int, int]:
    if lesson.task != "read":
        return NONE, NONE
    if lesson.label == 0:
        return 0, 0
    for start, end in lesson.spans:
        found = pieces.at(start, end)
        if found is not None:
            return found
    return NONE, NONE


def batches(lengths: Sequence[int], *, pieces: int, seed: int) -> Iterator[list[int]]:
    """Places of lessons in batches of at most so many pieces with padding: lessons of like length together,
    in an order drawn by the seed alone.
    """
    drawn = np.random.default_rng(seed)
    order = sorted(range(len(lengths)), key=lambda at: (lengths[at] + drawn.integers(-8, 9), at))
    made: list[list[int]] = [[]]
    longest = 0
    for at in order:
        longest = max(longest, lengths[at])
        if made[-1] and longest * (len(made[-1]) + 1) > pieces:
            made.append([])
            longest = lengths[at]
        made[-1].append(at)
    for place in drawn.permutation(len(made)):
        yield made[place]


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Lessons side by side: ids, which of them are real, and which are of the second text."""

    ids: NDArray[np.int64]
    mask: NDArray[np.bool_]
    types: NDArray[np.int64]
    labels: NDArray[np.int64]
    """Start, end, suffices, bears, grade, a row a lesson."""


def batch(of: Sequence[Encoded]) -> Batch:
    """These lessons, padded to the longest."""
    width = max(len(one.ids) for one in of)
    ids = np.zeros((len(of), width), np.int64)
    mask = np.zeros(ids.shape, np.bool_)
    types = np.zeros_like(ids)
    for row, one in enumerate(of):
        length = len(one.ids)
        ids[row, :length] = one.ids
        mask[row, :length] = True
        types[row, one.second : length] = 1
    labels = np.array([(one.start, one.end, one.suffices, one.bears, one.grade) for one in of], np.int64)
    return Batch(ids=ids, mask=mask, types=types, labels=labels)
