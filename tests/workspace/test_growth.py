"""How an operation grows with the items that are held: as their logarithm, by counted steps and bytes."""

from __future__ import annotations

import random
import statistics
import sys
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import total_ordering
from types import FrameType
from typing import Any

import pytest

from tests.workspace.held import Clock, item
from tiermem.workspace import POLICIES, ActiveSet, Item
from tiermem.workspace.evict import Eviction, Rank

SMALL, LARGE = 1_000, 100_000
NAMES = tuple(name for name, policy in POLICIES.own.items() if not policy().ages)
"""Where ranks age, each eviction looks at all items once."""
OPERATIONS = 400
MOST = 3.0
"""How many times as many steps and bytes an operation may take; looking at each item takes 17."""


class CountedKey(str):
    """A key whose every comparison is a step."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return str(self) == other

    def __hash__(self) -> int:
        return str.__hash__(self)


@total_ordering
class CountedRank:
    """A rank whose every comparison is a step."""

    def __init__(self, rank: Rank) -> None:
        self._rank = rank

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CountedRank) and self._rank == other._rank

    def __lt__(self, other: CountedRank) -> bool:
        return self._rank < other._rank

    __hash__ = None  # type: ignore[assignment]


class Counted:
    """A policy with counted ranks."""

    ages = False

    def __init__(self, policy: Eviction) -> None:
        self.name = policy.name
        self._policy = policy

    def rank(self, item: Item, now: datetime) -> Rank:
        """The rank that the policy gives."""
        return (CountedRank(self._policy.rank(item, now)),)


class Steps:
    """Counts calls of functions and lines of Python that are run, each turn of a loop anew."""

    def __init__(self) -> None:
        self.count = 0

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Count what is run meanwhile."""
        before = sys.gettrace()
        sys.settrace(self._trace)
        try:
            yield
        finally:
            sys.settrace(before)

    def _trace(self, frame: FrameType, event: str, argument: Any) -> Any:
        self.count += 1
        return self._trace


def counted_item(key: str, importance: float) -> Item:
    """An item with a counted key."""
    return item(CountedKey(key), importance)


def filled(name: str, size: int) -> ActiveSet:
    """A set that is full."""
    chance = random.Random(size)
    held = ActiveSet(size, Counted(POLICIES.load(name)()), clock=Clock())
    for n in range(size):
        held.add(counted_item(f"k{n}", chance.random()))
    return held


def measured(held: ActiveSet) -> tuple[int, float]:
    """The steps of items that come, are used and go, and the bytes that the middle one takes meanwhile."""
    chance, size, steps = random.Random(0), len(held), Steps()
    taken: list[int] = []
    tracemalloc.start()
    try:
        for n in range(OPERATIONS):
            coming, used = counted_item(f"n{n}", chance.random()), CountedKey(f"k{chance.randrange(size)}")
            tracemalloc.reset_peak()
            before, _ = tracemalloc.get_traced_memory()
            with steps.counted():
                held.add(coming)
                held.get(used)
                held.has_space(3)
            taken.append(tracemalloc.get_traced_memory()[1] - before)
    finally:
        tracemalloc.stop()
    return steps.count, statistics.median(taken)


def grown_by(name: str, small: int, large: int) -> float | None:
    """By what factor an operation grows from one size to the other, where that is more than `MOST`."""
    (few, little), (many, much) = measured(filled(name, small)), measured(filled(name, large))
    factor = max(many / few, much / little)
    return factor if factor > MOST else None


@pytest.mark.parametrize("name", ["hybrid", "lru"])
def test_an_operation_grows_no_faster_than_the_logarithm_of_the_items(name: str) -> None:
    assert grown_by(name, SMALL, 20 * SMALL) is None
