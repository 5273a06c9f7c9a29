"""Whether work grows faster than what it is given, by the ratio of two times of one run."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from typing import TypeVar

_Given = TypeVar("_Given")

MOST = 15.0
"""How many times as long ten times as much may take; work that grows with the square takes a hundred."""

FLOOR = 0.04
"""Seconds of processor time that are no ground for complaint."""

RUNS = 5


def growth(prepared: Callable[[int], _Given], work: Callable[[_Given], object], size: int) -> float | None:
    """By what factor `work` grows from a tenth of `size` to `size`, where that is more than `MOST`.

    `prepared` makes what is worked on, of about that size. Of several runs that
    counts which speaks for the work, and each is given one character less than the last, so that what is
    kept from one run helps no other.
    """
    large = _seconds(work, prepared(size))
    if large < FLOOR:
        return None
    small = _seconds(work, prepared(size // 10))
    for run in range(1, RUNS):
        if large <= MOST * small:
            return None
        large = min(large, _seconds(work, prepared(size - run)))
        small = max(small, _seconds(work, prepared(size // 10 - run)))
    return large / small if large >= FLOOR and large > MOST * small else None


def _seconds(work: Callable[[_Given], object], given: _Given) -> float:
    """Processor time, without the collector's: that grows with all that the process holds."""
    collects = gc.isenabled()
    gc.disable()
    before = time.thread_time()
    try:
        work(given)
        return time.thread_time() - before
    finally:
        if collects:
            gc.enable()
