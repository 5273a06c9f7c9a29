"""The door: `open`, `Memory` for code that does not await, `AsyncMemory` for code that does."""

from tiermem.memory.blocking import Memory, open  # noqa: A004  (the door's name is `tiermem.open`)
from tiermem.memory.copies import restore
from tiermem.memory.door import AsyncMemory
from tiermem.memory.opening import spaces
from tiermem.memory.residual import ResidualScan
from tiermem.memory.stats import Stats
from tiermem.memory.values import Added, BackedUp, Exported, Flushed, Receipt, Reindexed

__all__ = [
    "Added",
    "AsyncMemory",
    "BackedUp",
    "Exported",
    "Flushed",
    "Memory",
    "Receipt",
    "Reindexed",
    "ResidualScan",
    "Stats",
    "open",
    "restore",
    "spaces",
]
