"""A memory agents can prove.

Dialogue is sealed in immutable pages; summaries link to the exact words they rest on; answers cite
them. `tiermem.open(path)` gives a `Memory`, `AsyncMemory.open(path)` its awaited twin.
"""

from importlib import import_module
from importlib.metadata import version as _version
from typing import TYPE_CHECKING, Any

from pagestore import Checkpoint, Page, PageId, PageInfo, SessionId, SpaceId, Span, Turn, VerifyReport
from pagestore.errors import PageStoreError
from tiermem.errors import TierMemError
from tiermem.model import (
    Answer,
    AnswerId,
    Budget,
    Citation,
    Decision,
    Degradation,
    Evidence,
    LinkedFact,
    Rejected,
    SummaryUnit,
    Trace,
    UnitId,
    Usage,
)

if TYPE_CHECKING:
    from tiermem.memory import AsyncMemory, Memory, open, restore, spaces  # noqa: A004  (the door's name is `tiermem.open`)
    from tiermem.settings import Settings

_LAZY = {
    "AsyncMemory": "tiermem.memory",
    "Memory": "tiermem.memory",
    "open": "tiermem.memory",
    "restore": "tiermem.memory",
    "spaces": "tiermem.memory",
    "Settings": "tiermem.settings",
}

__all__ = [
    "Answer",
    "AnswerId",
    "AsyncMemory",
    "Budget",
    "Checkpoint",
    "Citation",
    "Decision",
    "Degradation",
    "Evidence",
    "LinkedFact",
    "Memory",
    "Page",
    "PageId",
    "PageInfo",
    "PageStoreError",
    "Rejected",
    "SessionId",
    "Settings",
    "SpaceId",
    "Span",
    "SummaryUnit",
    "TierMemError",
    "Trace",
    "Turn",
    "UnitId",
    "Usage",
    "VerifyReport",
    "open",
    "restore",
    "spaces",
]


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY, "__version__"})


def __getattr__(name: str) -> Any:
    # The door loads pydantic and anyio; values alone should not.
    if name == "__version__":
        return _version("tiermem")
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'tiermem' has no attribute {name!r}")
