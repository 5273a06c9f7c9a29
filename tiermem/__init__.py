"""A memory agents can prove.

Dialogue is sealed in immutable pages; summaries link to the exact words they rest on; answers cite
them. `tiermem.open(path)` gives a `Memory`, `AsyncMemory.open(path)` its awaited twin.
"""

from importlib import import_module
from importlib.metadata import version as _version
from typing import TYPE_CHECKING, Any

from pagestore import (
    Checkpoint,
    Damage,
    GrowthProof,
    InclusionProof,
    Page,
    PageId,
    PageInfo,
    PageLine,
    SessionId,
    SpaceId,
    Span,
    Turn,
    VerifyReport,
)
from pagestore.errors import PageStoreError
from pagestore.values import ProvedPage, ProvedRecord, TurnLine
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
    TakenBack,
    Term,
    Trace,
    TurnFilter,
    UnitId,
    Usage,
    Wanted,
    WriteBack,
)

if TYPE_CHECKING:
    from pagestore.backup import SavedSpace
    from pagestore.bundle import Bundle, Signature
    from tiermem.api import (
        Added,
        AsyncMemory,
        AsyncWorkspace,
        Attribution,
        BackedUp,
        Exported,
        Filters,
        Flushed,
        Memory,
        Overrides,
        Receipt,
        Reindexed,
        ResidualScan,
        Residue,
        Stats,
        Workspace,
        open,  # noqa: A004  (users write `tiermem.open`)
        restore,
        spaces,
    )
    from tiermem.ledger import AnswerInfo, Redistilled, TurnAt
    from tiermem.reading import (
        Audit,
        AuditedCitation,
        AuditedDerivation,
        Between,
        Context,
        Difference,
        OmissionReport,
        OmissionsAt,
        PageOmissions,
        Recollection,
        Replay,
        Standing,
        Standpoint,
    )
    from tiermem.reasoning import Engine
    from tiermem.settings import Settings
    from tiermem.workspace import Admitted, Eviction, Item
    from tiermem.writing import Erasure, Remembered, Restored, Withdrawn

_LAZY = {
    "Added": "tiermem.api",
    "Admitted": "tiermem.workspace",
    "AnswerInfo": "tiermem.ledger",
    "AsyncMemory": "tiermem.api",
    "AsyncWorkspace": "tiermem.api",
    "Attribution": "tiermem.api",
    "Audit": "tiermem.reading",
    "AuditedCitation": "tiermem.reading",
    "AuditedDerivation": "tiermem.reading",
    "BackedUp": "tiermem.api",
    "Between": "tiermem.reading",
    "Bundle": "pagestore.bundle",
    "Context": "tiermem.reading",
    "Difference": "tiermem.reading",
    "Engine": "tiermem.reasoning",
    "Erasure": "tiermem.writing",
    "Eviction": "tiermem.workspace",
    "Exported": "tiermem.api",
    "Filters": "tiermem.api",
    "Flushed": "tiermem.api",
    "Item": "tiermem.workspace",
    "Memory": "tiermem.api",
    "OmissionReport": "tiermem.reading",
    "OmissionsAt": "tiermem.reading",
    "Overrides": "tiermem.api",
    "PageOmissions": "tiermem.reading",
    "Receipt": "tiermem.api",
    "Recollection": "tiermem.reading",
    "Redistilled": "tiermem.ledger",
    "Reindexed": "tiermem.api",
    "Remembered": "tiermem.writing",
    "Replay": "tiermem.reading",
    "ResidualScan": "tiermem.api",
    "Residue": "tiermem.api",
    "Restored": "tiermem.writing",
    "SavedSpace": "pagestore.backup",
    "Settings": "tiermem.settings",
    "Signature": "pagestore.bundle",
    "Standing": "tiermem.reading",
    "Standpoint": "tiermem.reading",
    "Stats": "tiermem.api",
    "TurnAt": "tiermem.ledger",
    "Withdrawn": "tiermem.writing",
    "Workspace": "tiermem.api",
    "open": "tiermem.api",
    "restore": "tiermem.api",
    "spaces": "tiermem.api",
}

__all__ = [
    "Added",
    "Admitted",
    "Answer",
    "AnswerId",
    "AnswerInfo",
    "AsyncMemory",
    "AsyncWorkspace",
    "Attribution",
    "Audit",
    "AuditedCitation",
    "AuditedDerivation",
    "BackedUp",
    "Between",
    "Budget",
    "Bundle",
    "Check",
    "Checkpoint",
    "Citation",
    "Context",
    "Damage",
    "Decision",
    "Degradation",
    "Derivation",
    "Difference",
    "Engine",
    "Erasure",
    "Eviction",
    "Evidence",
    "Exported",
    "Filters",
    "Flushed",
    "GrowthProof",
    "InclusionProof",
    "Item",
    "LinkedFact",
    "MarkedPage",
    "MarkedPageInfo",
    "Memory",
    "OmissionReport",
    "OmissionsAt",
    "Overrides",
    "Page",
    "PageId",
    "PageInfo",
    "PageLine",
    "PageOmissions",
    "PageStoreError",
    "ProvedPage",
    "ProvedRecord",
    "Receipt",
    "Recollection",
    "Redistilled",
    "Reindexed",
    "Rejected",
    "Remembered",
    "Replay",
    "ResidualScan",
    "Residue",
    "Restored",
    "Round",
    "SavedSpace",
    "Search",
    "SessionId",
    "Settings",
    "Signature",
    "SpaceId",
    "Span",
    "Standing",
    "Standpoint",
    "Stats",
    "StepUsage",
    "SummaryUnit",
    "TakenBack",
    "Term",
    "TierMemError",
    "Trace",
    "Turn",
    "TurnAt",
    "TurnFilter",
    "TurnLine",
    "UnitId",
    "Usage",
    "VerifyReport",
    "Wanted",
    "Withdrawn",
    "Workspace",
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
