"""What is held in mind: items within a budget of tokens, what leaves when there is no room, in which order.

Pure: nothing here reads or writes memory, and the one clock is given. What leaves is gone from here alone; it
stays in memory, where it came from.
"""

from tiermem.workspace.active import MOST_TOKENS, ActiveSet, Admitted
from tiermem.workspace.assemble import Order, ordered
from tiermem.workspace.evict import (
    Access,
    Balanced,
    Ear,
    Eviction,
    Fifo,
    Hybrid,
    Importance,
    Lfu,
    Lru,
    Random,
)
from tiermem.workspace.items import UNKNOWN_IMPORTANCE, Item
from tiermem.workspace.named import POLICIES

__all__ = [
    "MOST_TOKENS",
    "POLICIES",
    "UNKNOWN_IMPORTANCE",
    "Access",
    "ActiveSet",
    "Admitted",
    "Balanced",
    "Ear",
    "Eviction",
    "Fifo",
    "Hybrid",
    "Importance",
    "Item",
    "Lfu",
    "Lru",
    "Order",
    "Random",
    "ordered",
]
