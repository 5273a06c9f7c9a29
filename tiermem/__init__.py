"""A memory agents can prove.

Dialogue is sealed in immutable pages; summaries link to the exact words they rest on; answers cite
them. `tiermem.open(path)` gives a `Memory`, `AsyncMemory.open(path)` its awaited twin.
"""

from importlib import import_module
from importlib.metadata import version as _version
from typing import TYPE_CHECKING, Any

from pagestore import (
    Checkpoint,
    GrowthProof,
    Page,
    PageId,
    PageInfo,
    SessionId,
    SpaceId,
    Span,
    Turn,
    VerifyReport,
)
from pagestore.errors import PageStoreError
from tiermem.errors import TierMemError
from tiermem.model import (
    Answer,
    AnswerId,
    Budget,
    Check,
    Citation,
    Decision,
    Degradation,
    Derivation,
    Evidence,
    LinkedFact,
    MarkedPage,
    MarkedPageInfo,
    Rejected,
    Round,
    Search,
    StepUsage,
    SummaryUnit,
    Term,
    Trace,
    TurnFilter,
    UnitId,
    Usage,
    Wanted,
    WriteBack,
)

if TYPE_CHECKING:
    from pagestore.bundle import Bundle
    from tiermem.api import (
        Added,
        AsyncMemory,
        BackedUp,
        Exported,
        Filters,
        Flushed,
        Memory,
        Overrides,
        Receipt,
        Reindexed,
        ResidualScan,
        Stats,
        open,  # noqa: A004  (users write `tiermem.open`)
        restore,
        spaces,
    )
    from tiermem.ledger import AnswerInfo, Redistilled
    from tiermem.reading import Audit, Context, OmissionReport, Replay, Standpoint
    from tiermem.reasoning import Engine
    from tiermem.settings import Settings
    from tiermem.writing import Remembered, Restored, Withdrawn

_LAZY = {
    "Added": "tiermem.api",
    "AnswerInfo": "tiermem.ledger",
    "AsyncMemory": "tiermem.api",
    "Audit": "tiermem.reading",
    "BackedUp": "tiermem.api",
    "Exported": "tiermem.api",
    "Filters": "tiermem.api",
    "Bundle": "pagestore.bundle",
    "Context": "tiermem.reading",
    "Engine": "tiermem.reasoning",
    "Flushed": "tiermem.api",
    "Memory": "tiermem.api",
    "OmissionReport": "tiermem.reading",
    "Overrides": "tiermem.api",
    "Receipt": "tiermem.api",
    "Redistilled": "tiermem.ledger",
    "Reindexed": "tiermem.api",
    "Replay": "tiermem.reading",
    "ResidualScan": "tiermem.api",
    "Settings": "tiermem.settings",
    "Standpoint": "tiermem.reading",
    "Stats": "tiermem.api",
    "Remembered": "tiermem.writing",
    "Restored": "tiermem.writing",
    "Withdrawn": "tiermem.writing",
    "open": "tiermem.api",
    "restore": "tiermem.api",
    "spaces": "tiermem.api",
}

__all__ = [
    "Added",
    "Answer",
    "AnswerId",
    "AnswerInfo",
    "AsyncMemory",
    "Audit",
    "BackedUp",
    "Budget",
    "Bundle",
    "Check",
    "Checkpoint",
    "Citation",
    "Context",
    "Decision",
    "Degradation",
    "Derivation",
    "Engine",
    "Evidence",
    "Exported",
    "Filters",
    "Flushed",
    "GrowthProof",
    "LinkedFact",
    "MarkedPage",
    "MarkedPageInfo",
    "Memory",
    "OmissionReport",
    "Overrides",
    "Page",
    "PageId",
    "PageInfo",
    "PageStoreError",
    "Receipt",
    "Redistilled",
    "Reindexed",
    "Rejected",
    "Remembered",
    "Replay",
    "ResidualScan",
    "Restored",
    "Round",
    "Search",
    "SessionId",
    "Settings",
    "SpaceId",
    "Span",
    "Standpoint",
    "Stats",
    "StepUsage",
    "SummaryUnit",
    "Term",
    "TierMemError",
    "Trace",
    "Turn",
    "TurnFilter",
    "UnitId",
    "Usage",
    "VerifyReport",
    "Wanted",
    "Withdrawn",
    "WriteBack",
    "open",
    "restore",
    "spaces",
]


def __dir__() -> list[str]:
    own = (name for name in globals() if name.startswith("__"))
    return sorted({*__all__, *own, "__version__", "errors"})


def __getattr__(name: str) -> Any:
    # The API loads pydantic and anyio; values alone should not.
    if name == "__version__":
        return _version("tiermem")
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'tiermem' has no attribute {name!r}")
