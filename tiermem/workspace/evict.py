"""Who gives way when there is no room: policies, and the heap that finds the first of them quickly.

A policy ranks one item; the smallest rank leaves first, and of equal ranks what came first. Nothing else
decides, so the same items under the same policy leave in the same order wherever that is.

The heap keeps an entry for each change of an item and knows the newest: older entries are passed over when
they come up, and swept out when they are more than the items.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from typing import Any, Protocol, runtime_checkable

from tiermem.salience.tiers import worth
from tiermem.workspace.items import Item, aware, faded_importance

Rank = tuple[Any, ...]

FEW = 16
"""Entries passed over that are never worth sweeping out."""


@runtime_checkable
class Eviction(Protocol):
    """Says in which order items give way. Any object that can do this is a policy."""

    @property
    def name(self) -> str:
        """What it is called."""
        ...

    @property
    def ages(self) -> bool:
        """Whether ranks change by the time alone, with nothing done to an item.

        If so, all of them are computed again for each eviction.
        """
        return False

    def rank(self, item: Item, now: datetime) -> Rank:
        """The smallest leaves first, of equal ones what came first. Ranks are comparable with each other."""
        ...


@dataclass(frozen=True, slots=True)
class NamedPolicy(Eviction):
    """One of `RANKS`, by its name."""

    name: str = "hybrid"

    @property
    def ages(self) -> bool:
        """Whether importance fades with the hours."""
        return self.name == "balanced"

    def rank(self, item: Item, now: datetime) -> Rank:
        """The rank by the rule of that name."""
        return RANKS[self.name](item, now)


class EvictionQueue:
    """Items in the order in which they give way, kept while they come, change and go."""

    def __init__(self, policy: Eviction) -> None:
        self._policy = policy
        self._heap: list[tuple[Rank, int, int, str]] = []
        self._live: dict[str, tuple[int, int, Item]] = {}
        self._versions = 0

    def put_item(self, item: Item, place: int, now: datetime) -> None:
        """Take in an item that came as the `place`th, or as it is after a change."""
        rank = None if self._policy.ages else self._policy.rank(item, now)
        self._versions += 1
        self._live[item.key] = (place, self._versions, item)
        if rank is not None:
            heapq.heappush(self._heap, (rank, place, self._versions, item.key))
            if len(self._heap) > 2 * len(self._live) + FEW:
                self._make(now)

    def remove(self, key: str) -> None:
        """Forget an item; an unknown key is ignored."""
        self._live.pop(key, None)

    def leaving(self, now: datetime) -> Iterator[Item]:
        """Items in the order in which they are evicted; each is forgotten when it is given."""
        if self._policy.ages:
            self._make(now)
        while self._heap:
            _, _, version, key = heapq.heappop(self._heap)
            known = self._live.get(key)
            if known is not None and known[1] == version:
                del self._live[key]
                yield known[2]

    def _make(self, now: datetime) -> None:
        """Rebuild the heap from the items that are left."""
        self._heap = [
            (self._policy.rank(item, now), place, version, key)
            for key, (place, version, item) in self._live.items()
        ]
        heapq.heapify(self._heap)


def _added_timestamp(item: Item) -> float:
    return 0.0 if item.added_at is None else aware(item.added_at).timestamp()


def _used(item: Item) -> float:
    used = item.last_used or item.added_at
    return 0.0 if used is None else aware(used).timestamp()


def _hashed_key(item: Item) -> bytes:
    return blake2b(f"\0{item.key}".encode(errors="surrogatepass"), digest_size=16).digest()


RANKS: Mapping[str, Callable[[Item, datetime], Rank]] = {
    # What matters least, of that what has been here longest.
    "hybrid": lambda item, _: (item.importance, _added_timestamp(item)),
    # What was used longest ago.
    "lru": lambda item, _: (_used(item),),
    # What was used least often, of that what was used longest ago.
    "lfu": lambda item, _: (item.uses, _used(item)),
    # What came first: all ranks are equal.
    "fifo": lambda _item, _now: (),
    # As chance has it, the same chance for the same keys everywhere.
    "random": lambda item, _: (_hashed_key(item),),
    # What matters least.
    "importance": lambda item, _: (item.importance,),
    # What matters least, where use adds to it by its logarithm; of that what has been here longest.
    "access": lambda item, _: (item.importance * (1 + math.log1p(item.uses)), _added_timestamp(item)),
    # What matters least, where ten uses count a quarter (HTM-EAR).
    "ear": lambda item, _: (worth(item.importance, item.uses),),
    # What matters least by now: importance fades with the hours since it came.
    "balanced": lambda item, now: (faded_importance(item, now),),
}
"""What leaves first, by the name of the policy."""
