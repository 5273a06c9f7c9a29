"""What it costs the library's own working memory to make room: by policy of eviction, and by size."""

from __future__ import annotations

import gc
import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from statistics import median
from typing import Final

from tiermem.workspace import POLICIES, ActiveSet, Item

SIZES: Final = (200, 1_000, 10_000, 100_000)
OPERATIONS: Final = 1_000
_AGEING: Final = 10_000
"""The most items for a policy whose ranks age: each of its evictions looks at all of them."""
_AGEING_OPERATIONS: Final = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Milliseconds for one item to come, another to go for it, and one to be looked up."""

    median: float
    slowest: float


def costs(sizes: Sequence[int] = SIZES) -> Mapping[str, Mapping[int, Cost]]:
    """By policy and by how many items are held. Ranks that age are not measured beyond 10,000 items."""
    return {
        name: {size: _cost(name, size) for size in sizes if not policy().ages or size <= _AGEING}
        for name, policy in POLICIES.own.items()
    }


def _cost(name: str, size: int) -> Cost:
    """Of a set that is full, the collector of the language at rest."""
    chance, held = random.Random(size), _full(name, size)  # noqa: S311 - it is the same each time
    operations = _AGEING_OPERATIONS if held.policy.ages else OPERATIONS
    taken = []
    collects = gc.isenabled()
    gc.disable()
    try:
        for number in range(operations):
            one, used = _item(f"n{number}", chance), f"k{chance.randrange(size)}"
            before = time.perf_counter()
            held.add(one)
            held.get(used)
            taken.append(time.perf_counter() - before)
    finally:
        if collects:
            gc.enable()
    return Cost(median=1_000 * median(taken), slowest=1_000 * max(taken))


def _full(name: str, size: int) -> ActiveSet:
    chance, seconds = random.Random(size + 1), count()  # noqa: S311 - as above
    began = datetime(2024, 1, 1, tzinfo=UTC)
    held = ActiveSet(size, POLICIES.load(name)(), clock=lambda: began + timedelta(seconds=next(seconds)))
    for number in range(size):
        held.add(_item(f"k{number}", chance))
    return held


def _item(key: str, chance: random.Random) -> Item:
    return Item(key=key, text=key, tokens=1, importance=chance.random())
