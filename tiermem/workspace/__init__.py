"""What is held in mind: items within a budget of tokens, what leaves when there is no room, in which order.

Pure: nothing here reads or writes memory, and the one clock is given. What leaves is gone from here alone; it
stays in memory, where it came from.
"""

from tiermem.workspace.active import MOST_TOKENS, ActiveSet, Admitted
from tiermem.workspace.assemble import Order
from tiermem.workspace.evict import Eviction
from tiermem.workspace.items import UNKNOWN_IMPORTANCE, Item
from tiermem.workspace.named import POLICIES

__all__ = [
    "MOST_TOKENS",
    "POLICIES",
    "UNKNOWN_IMPORTANCE",
    "ActiveSet",
    "Admitted",
    "Eviction",
    "Item",
    "Order",
]
