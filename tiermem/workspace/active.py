"""The active set: items within a budget of tokens. What comes in makes room by the policy's order.

It is never over its budget. What needs more room than there can be is not taken in, and nothing leaves for
it. Time does not go back here: if a clock does, its latest time counts. Safe to use from several threads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import count
from threading import RLock

from tiermem.workspace.assemble import Order, order_items
from tiermem.workspace.evict import Eviction, EvictionQueue, NamedPolicy
from tiermem.workspace.items import Item, aware

MOST_TOKENS = 128_000
"""Tokens that a workspace holds by default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Admitted:
    """What came of taking an item in: whether it was, and who left for it, in the order of leaving.

    `item` is what is held of it, `None` where it was not taken in.
    """

    admitted: bool
    evicted: tuple[Item, ...] = ()
    item: Item | None = None


class ActiveSet:
    """Items by key, within `max_tokens`."""

    def __init__(
        self,
        max_tokens: int = MOST_TOKENS,
        policy: Eviction = NamedPolicy(),  # noqa: B008  (frozen: sharing the default is safe)
        *,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.policy = policy
        """Who gives way."""
        self._max_tokens = max_tokens
        self._clock = clock
        self._lock = RLock()
        self._held: dict[str, Item] = {}
        """In the order of their use, the newest last."""
        self._places: dict[str, int] = {}
        self._coming = count()
        self._queue = EvictionQueue(policy)
        self._tokens = 0
        self._pinned = 0
        self._latest = datetime.min.replace(tzinfo=UTC)

    def __len__(self) -> int:
        return len(self._held)

    def __contains__(self, key: object) -> bool:
        return key in self._held

    @property
    def max_tokens(self) -> int:
        """What the items may take together."""
        return self._max_tokens

    @property
    def tokens(self) -> int:
        """What the items take together."""
        return self._tokens

    @property
    def utilisation(self) -> float:
        """The share of the budget that is taken, 0 to 1; a budget of nothing is taken whole."""
        return self._tokens / self._max_tokens if self._max_tokens else 1.0

    @property
    def items(self) -> tuple[Item, ...]:
        """All of them in the order of their use, the newest last."""
        with self._lock:
            return tuple(self._held.values())

    def has_space(self, tokens: int) -> bool:
        """Whether so many tokens fit in without anybody leaving."""
        return self._tokens + tokens <= self._max_tokens

    def now(self) -> datetime:
        """By the clock, and never before what it was already."""
        with self._lock:
            self._latest = max(self._latest, aware(self._clock()))
            return self._latest

    def add(self, item: Item) -> Admitted:
        """Take an item in, as the newest, in place of one of the same key; who has to leave for it leaves.

        Where that would be somebody who is pinned, or all would not do, nothing changes: it is not taken in.
        """
        with self._lock:
            before = self._held.get(item.key)
            pinned = self._pinned - (before.tokens if before is not None and before.pinned else 0)
            if pinned + item.tokens > self._max_tokens:
                return Admitted(admitted=False)
            now = self.now()
            if before is not None:
                self._take_out(before)
            evicted = self._make_room(item.tokens, now)
            added = now if item.added_at is None else aware(item.added_at)
            used = added if item.last_used is None else aware(item.last_used)
            self._places[item.key] = next(self._coming)
            taken = replace(item, added_at=added, last_used=used)
            self._put_item(taken, now)
            return Admitted(admitted=True, evicted=evicted, item=taken)

    def get(self, key: str) -> Item | None:
        """The item, used now once more; `None` where there is none.

        It is the newest of the order of use; its place among those that came stays.
        """
        with self._lock:
            item = self._held.get(key)
            if item is None:
                return None
            now, place = self.now(), self._places[key]
            used = replace(item, uses=item.uses + 1, last_used=now)
            self._take_out(item)
            self._places[key] = place
            self._put_item(used, now)
            return used

    def pin(self, key: str, pinned: bool = True) -> Item | None:
        """Let an item stay, whatever comes, or no longer; `None` where there is none."""
        with self._lock:
            item = self._held.get(key)
            if item is None or item.pinned == pinned:
                return item
            changed = self._held[key] = replace(item, pinned=pinned)
            if pinned:
                self._queue.remove(key)
            else:
                self._queue.put_item(changed, self._places[key], self.now())
            self._pinned += item.tokens if pinned else -item.tokens
            return changed

    def remove(self, key: str) -> Item | None:
        """Take an item out and give it; `None` where there is none."""
        with self._lock:
            item = self._held.get(key)
            if item is not None:
                self._take_out(item)
            return item

    def remove_those(self, which: Callable[[Item], bool]) -> tuple[Item, ...]:
        """Take out every item of which this holds, and give them."""
        with self._lock:
            going = tuple(item for item in self._held.values() if which(item))
            for item in going:
                self._take_out(item)
            return going

    def clear(self) -> None:
        """Take everything out, what is pinned too."""
        self.remove_those(lambda _: True)

    def ordered_items(self, order: Order) -> tuple[Item, ...]:
        """All of them in the order in which they are to be shown."""
        with self._lock:
            return order_items(self.items, order, self.now())

    def resize(self, max_tokens: int) -> tuple[Item, ...]:
        """Change the budget; who has to leave for a smaller one leaves, and is given.

        Raises `ValueError` where what is pinned alone takes more: then nothing changes.
        """
        with self._lock:
            if self._pinned > max_tokens:
                raise ValueError(f"what is pinned takes {self._pinned:,} tokens, more than {max_tokens:,}")
            self._max_tokens = max_tokens
            return self._make_room(0, self.now())

    def _make_room(self, tokens: int, now: datetime) -> tuple[Item, ...]:
        """Let items leave until so many tokens fit in: no more of them than are needed."""
        deficit = self._tokens + tokens - self._max_tokens
        evicted: list[Item] = []
        if deficit > 0:
            for item in self._queue.leaving(now):
                self._take_out(item)
                evicted.append(item)
                deficit -= item.tokens
                if deficit <= 0:
                    break
        return tuple(evicted)

    def _put_item(self, item: Item, now: datetime) -> None:
        if item.pinned:
            self._pinned += item.tokens
        else:
            self._queue.put_item(item, self._places[item.key], now)
        self._held[item.key] = item
        self._tokens += item.tokens

    def _take_out(self, item: Item) -> None:
        del self._held[item.key]
        del self._places[item.key]
        self._tokens -= item.tokens
        self._pinned -= item.tokens if item.pinned else 0
        self._queue.remove(item.key)
