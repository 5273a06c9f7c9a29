"""HTM-EAR's two bounded tiers, exactly: what leaves the first enters the second, what leaves that is deleted.

They are here to repeat the paper's figures, of two of the library's own tiers. TierMem itself deletes nothing
to make room.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from tiermem.salience.tiers import Tier, worth

ESSENTIAL: Final = 0.85
"""From this importance on, a deleted item counts as an essential loss."""
Policy = Literal["ear", "lru"]


@dataclass(slots=True)
class Item:
    """What a tier knows of one fact. `last_used` counts steps, not seconds: adding is a use."""

    importance: float
    last_used: int
    uses: int = 0


Rank = Callable[[Item], float]
RANKS: Final[Mapping[Policy, Rank]] = {
    "ear": lambda item: worth(item.importance, item.uses),
    "lru": lambda item: float(item.last_used),
}
"""Lowest goes first; among equals, whoever came first."""


class Tiers:
    """The first tier over the second. Keys are never given twice."""

    def __init__(self, first: int, second: int, policy: Policy) -> None:
        rank = RANKS[policy]
        self.items: dict[int, Item] = {}
        """What is known of every fact, also of those that are deleted."""
        self.first: Tier[int] = Tier(first, lambda key: rank(self.items[key]))
        self.second: Tier[int] = Tier(second, lambda key: rank(self.items[key]))
        self.deleted: set[int] = set()
        self._step = 0

    def add(self, key: int, importance: float) -> None:
        """Take a fact in. What leaves the first tier enters the second one by one."""
        self._step += 1
        self.items[key] = Item(importance, self._step)
        for leaving in self.first.add(key):
            self.deleted.update(self.second.add(leaving))

    def use(self, key: int) -> None:
        """Count one use of a fact where it lies; `KeyError` when it is deleted."""
        if key in self.deleted:
            raise KeyError(key)
        self._step += 1
        item = self.items[key]
        item.uses += 1
        item.last_used = self._step

    @property
    def essential_lost(self) -> int:
        """How many of the deleted were essential."""
        return sum(self.items[key].importance >= ESSENTIAL for key in self.deleted)
