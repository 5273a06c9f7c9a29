"""A bounded set that keeps what is worth most, with the dynamics of HTM-EAR; keys and numbers alone.

Where one more key comes and the tier is full, the lowest 15 % of its capacity leave at once, of equal worth
those that came first, and then the new one comes in: so the newest is always held. The two tiers of the paper
are two of these, of which the second is given what leaves the first.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)

LEAVE_TOGETHER = 0.15
"""The share of the capacity that leaves at once (HTM-EAR)."""
IMPORTANCE, USE, MANY_USES = 0.75, 0.25, 10
"""What importance and use weigh, and the uses after which more of them count for nothing (HTM-EAR)."""


def worth(importance: float, uses: int) -> float:
    """How much it is worth to hold something of this importance (0 to 1) that was used so often: 0 to 1."""
    return IMPORTANCE * importance + USE * min(uses / MANY_USES, 1.0)


class Tier(Generic[K]):
    """At most `capacity` keys. `worth_of` is asked when some have to leave: it may change until then."""

    def __init__(self, capacity: int, worth_of: Callable[[K], float]) -> None:
        if capacity < 1:
            raise ValueError(f"a tier holds at least 1 key, not {capacity}")
        self.capacity = capacity
        self._worth_of = worth_of
        self._held: dict[K, None] = {}

    def __contains__(self, key: K) -> bool:
        return key in self._held

    def __len__(self) -> int:
        return len(self._held)

    def __iter__(self) -> Iterator[K]:
        """The keys in the order in which they came."""
        return iter(self._held)

    def add(self, key: K) -> tuple[K, ...]:
        """Take a key in, and give those that leave for it; one that is held keeps its place."""
        if key in self._held:
            return ()
        leaving = self._lowest() if len(self._held) >= self.capacity else ()
        for left in leaving:
            del self._held[left]
        self._held[key] = None
        return leaving

    def _lowest(self) -> tuple[K, ...]:
        together = max(1, int(LEAVE_TOGETHER * self.capacity))
        return tuple(sorted(self._held, key=self._worth_of)[:together])
