"""HTM-EAR's two bounded tiers, exactly: what leaves the first enters the second, what leaves that is deleted.

They are here to repeat the paper's figures. TierMem itself deletes nothing to make room.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

ESSENTIAL: Final = 0.85
"""From this importance on, a deleted item counts as an essential loss."""
SHARE: Final = 0.15
"""The share of a tier's capacity that leaves at once."""
Policy = Literal["ear", "lru"]


@dataclass(slots=True)
class Item:
    """What a tier knows of one fact. `last_used` counts steps, not seconds: adding is a use."""

    key: int
    importance: float
    last_used: int
    uses: int = 0


Rank = Callable[[Item], float]
RANKS: Final[Mapping[Policy, Rank]] = {
    "ear": lambda item: 0.75 * item.importance + 0.25 * min(item.uses / 10, 1.0),
    "lru": lambda item: float(item.last_used),
}
"""Lowest goes first; among equals, whoever came first."""


class Bounded:
    """A tier that makes room before it takes in more than it holds."""

    def __init__(self, capacity: int, rank: Rank) -> None:
        self.capacity = capacity
        self._rank = rank
        self._items: dict[int, Item] = {}

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[int]:
        return iter(self._items)

    def __contains__(self, key: object) -> bool:
        return key in self._items

    def __getitem__(self, key: int) -> Item:
        return self._items[key]

    def add(self, item: Item) -> list[Item]:
        """Take an item in; the items that had to leave first, lowest rank first."""
        leaving = self._lowest() if len(self._items) >= self.capacity else []
        for gone in leaving:
            del self._items[gone.key]
        self._items[item.key] = item
        return leaving

    def _lowest(self) -> list[Item]:
        return sorted(self._items.values(), key=self._rank)[: max(1, int(SHARE * self.capacity))]


class Tiers:
    """The first tier over the second. Keys are never given twice."""

    def __init__(self, first: int, second: int, policy: Policy) -> None:
        self.first = Bounded(first, RANKS[policy])
        self.second = Bounded(second, RANKS[policy])
        self.deleted: dict[int, Item] = {}
        self._step = 0

    def add(self, key: int, importance: float) -> None:
        """Take a fact in. What leaves the first tier enters the second one by one."""
        self._step += 1
        for leaving in self.first.add(Item(key, importance, self._step)):
            self.deleted |= {gone.key: gone for gone in self.second.add(leaving)}

    def use(self, key: int) -> None:
        """Count one use of a fact where it lies; `KeyError` when it is deleted."""
        self._step += 1
        item = (self.first if key in self.first else self.second)[key]
        item.uses += 1
        item.last_used = self._step

    @property
    def essential_lost(self) -> int:
        """How many of the deleted were essential."""
        return sum(item.importance >= ESSENTIAL for item in self.deleted.values())
