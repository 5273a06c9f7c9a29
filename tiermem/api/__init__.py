"""What users call: `open`, `Memory` for code that does not await, `AsyncMemory` for code that does."""

from tiermem.api.blocking import Memory, open, spaces  # noqa: A004  (users write `tiermem.open`)
from tiermem.api.copies import restore
from tiermem.api.leftovers import Leftover, LeftoverScan
from tiermem.api.memory import AsyncMemory
from tiermem.api.requests import Attribution, Filters, Overrides
from tiermem.api.results import Added, BackedUp, Exported, Flushed, Receipt, Reindexed, SessionInfo
from tiermem.api.stats import Stats
from tiermem.api.workspace import AsyncWorkspace, Workspace
