"""The door: `open`, `Memory` for code that does not await, `AsyncMemory` for code that does."""

from tiermem.memory.blocking import Memory, open  # noqa: A004  (the door's name is `tiermem.open`)
from tiermem.memory.door import AsyncMemory
from tiermem.memory.opening import spaces
from tiermem.memory.stats import Stats
from tiermem.memory.values import Added, Flushed, Receipt, Reindexed

__all__ = ["Added", "AsyncMemory", "Flushed", "Memory", "Receipt", "Reindexed", "Stats", "open", "spaces"]
