"""Whether work grows with the square of its input, by the ratio of two times of one run.

Linear work reaches a factor of 20 for ten times the input, from caches and allocation alone; quadratic work
reaches 82 to 127. The bound lies between them, so that a busy machine turns no test red. Two kinds of work
pass: work that grows by n^1.5 (a factor of 32), and work that cuts its input at a fixed length, which looks
linear beyond that length (4,000 characters in several functions of the library).
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from typing import TypeVar

_Input = TypeVar("_Input")

LARGEST_FACTOR = 40.0
"""How many times as long ten times the input may take."""

SHORTEST_TIME = 0.04
"""Seconds of processor time below which growth is not measured."""

SIZES = (1, 2)
"""Multiples of the size at which growth is measured. Work is reported when it grows too fast at each."""

RUNS = 5


def growth(prepare: Callable[[int], _Input], work: Callable[[_Input], object], size: int) -> float | None:
    """Return the factor by which the time of `work` grows for ten times the input, if it is too large.

    `prepare` makes an input of about the given size. `None` means that the factor is at most
    `LARGEST_FACTOR` at one of the sizes, or that the work is too short to measure.
    """
    smallest = float("inf")
    for multiple in SIZES:
        factor = _factor(prepare, work, multiple * size)
        if factor is None:
            return None
        smallest = min(smallest, factor)
    return smallest


def _factor(prepare: Callable[[int], _Input], work: Callable[[_Input], object], size: int) -> float | None:
    """Return the growth from a tenth of `size` to `size` if it is too large.

    The shortest of several runs counts at both sizes. Each run gets one character less than the run before,
    so that a cached result is of no use to it.
    """
    large = _seconds(work, prepare(size))
    if large < SHORTEST_TIME:
        return None
    small = min(_seconds(work, prepare(size // 10 - run)) for run in range(RUNS))
    for run in range(1, RUNS):
        if large < SHORTEST_TIME or large <= LARGEST_FACTOR * small:
            return None
        large = min(large, _seconds(work, prepare(size - run)))
    return large / small if large >= SHORTEST_TIME and large > LARGEST_FACTOR * small else None


def _seconds(work: Callable[[_Input], object], given: _Input) -> float:
    """Measure the processor time of the work, with the garbage collector off."""
    collects = gc.isenabled()
    gc.disable()
    before = time.thread_time()
    try:
        work(given)
        return time.thread_time() - before
    finally:
        if collects:
            gc.enable()
