"""How an operation grows with the items that are held: as their logarithm, by ratios of times of one run."""

from __future__ import annotations

import gc
import random
import time

import pytest

from tests.workspace.held import Clock, item
from tiermem.workspace import POLICIES, ActiveSet

SMALL, LARGE = 1_000, 100_000
NAMES = tuple(name for name, policy in POLICIES.own.items() if not policy().ages)
"""Where ranks age, each eviction looks at all items once."""
OPERATIONS = 400
MOST = 6.0
"""How many times as long an operation may take; one that looks at each item takes twenty times or more."""
RUNS = 5


def filled(name: str, size: int) -> ActiveSet:
    """A set that is full."""
    chance = random.Random(size)
    held = ActiveSet(size, POLICIES.load(name)(), clock=Clock())
    for n in range(size):
        held.add(item(f"k{n}", chance.random()))
    return held


def seconds(held: ActiveSet, run: int) -> float:
    """Processor time of items that come, each in place of another, are used and go."""
    chance, size = random.Random(run), len(held)
    coming = [item(f"n{run}/{n}", chance.random()) for n in range(OPERATIONS)]
    used = [f"k{chance.randrange(size)}" for _ in range(OPERATIONS)]
    before = time.thread_time()
    for one, key in zip(coming, used, strict=True):
        held.add(one)
        held.get(key)
        held.has_space(3)
    return time.thread_time() - before


def grown_by(name: str, small: int, large: int) -> float | None:
    """By what factor an operation grows from one size to the other, where that is more than `MOST`."""
    collects = gc.isenabled()
    gc.disable()
    try:
        sets = filled(name, small), filled(name, large)
        few, many = (min(seconds(held, run) for run in range(RUNS)) for held in sets)
    finally:
        if collects:
            gc.enable()
    return many / few if many > MOST * few else None


@pytest.mark.parametrize("name", ["hybrid", "lru"])
def test_an_operation_grows_no_faster_than_the_logarithm_of_the_items(name: str) -> None:
    assert grown_by(name, SMALL, 20 * SMALL) is None
