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
        Attribution,
        BackedUp,
        Exported,
        Filters,
        Flushed,
        Leftover,
        LeftoverScan,
        Memory,
        Overrides,
        Receipt,
        Reindexed,
        Stats,
        open,  # noqa: A004  (users write `tiermem.open`)
        restore,
        spaces,
    )
    from tiermem.ledger import AnswerInfo, Redistilled, TurnAt
    from tiermem.reading import (
        Audit,
        AuditedCitation,
        AuditedDerivation,
        Context,
        Difference,
        OmissionReport,
        OmissionsAt,
        PageOmissions,
        Replay,
        UnitHistory,
        WordsOnPage,
    )
    from tiermem.reasoning import Engine
    from tiermem.salience import Judgement, Signals
    from tiermem.settings import Settings
    from tiermem.writing import (
        Consolidation,
        Credit,
        Erasure,
        Judged,
        MergedUnits,
        NearUnits,
        Remembered,
        Restored,
        Withdrawn,
    )

_LAZY = {
    "Added": "tiermem.api",
    "AnswerInfo": "tiermem.ledger",
    "AsyncMemory": "tiermem.api",
    "Attribution": "tiermem.api",
    "Audit": "tiermem.reading",
    "AuditedCitation": "tiermem.reading",
    "AuditedDerivation": "tiermem.reading",
    "BackedUp": "tiermem.api",
    "Bundle": "pagestore.bundle",
    "Consolidation": "tiermem.writing",
    "Context": "tiermem.reading",
    "Credit": "tiermem.writing",
    "Difference": "tiermem.reading",
    "Engine": "tiermem.reasoning",
    "Erasure": "tiermem.writing",
    "Exported": "tiermem.api",
    "Filters": "tiermem.api",
    "Flushed": "tiermem.api",
    "Judged": "tiermem.writing",
    "Judgement": "tiermem.salience",
    "Memory": "tiermem.api",
    "MergedUnits": "tiermem.writing",
    "NearUnits": "tiermem.writing",
    "OmissionReport": "tiermem.reading",
    "OmissionsAt": "tiermem.reading",
    "Overrides": "tiermem.api",
    "PageOmissions": "tiermem.reading",
    "Receipt": "tiermem.api",
    "Redistilled": "tiermem.ledger",
    "Reindexed": "tiermem.api",
    "Remembered": "tiermem.writing",
    "Replay": "tiermem.reading",
    "LeftoverScan": "tiermem.api",
    "Leftover": "tiermem.api",
    "Restored": "tiermem.writing",
    "SavedSpace": "pagestore.backup",
    "Settings": "tiermem.settings",
    "Signature": "pagestore.bundle",
    "WordsOnPage": "tiermem.reading",
    "UnitHistory": "tiermem.reading",
    "Signals": "tiermem.salience",
    "Stats": "tiermem.api",
    "TurnAt": "tiermem.ledger",
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
    "Attribution",
    "Audit",
    "AuditedCitation",
    "AuditedDerivation",
    "BackedUp",
    "Budget",
    "Bundle",
    "Check",
    "Checkpoint",
    "Citation",
    "Consolidation",
    "Context",
    "Credit",
    "Damage",
    "Decision",
    "Degradation",
    "Derivation",
    "Difference",
    "Engine",
    "Erasure",
    "Evidence",
    "Exported",
    "Filters",
    "Flushed",
    "GrowthProof",
    "InclusionProof",
    "Judged",
    "Judgement",
    "Leftover",
    "LeftoverScan",
    "LinkedFact",
    "MarkedPage",
    "MarkedPageInfo",
    "Memory",
    "MergedUnits",
    "NearUnits",
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
    "Redistilled",
    "Reindexed",
    "Rejected",
    "Remembered",
    "Replay",
    "Restored",
    "Round",
    "SavedSpace",
    "Search",
    "SessionId",
    "Settings",
    "Signals",
    "Signature",
    "SpaceId",
    "Span",
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
    "UnitHistory",
    "UnitId",
    "Usage",
    "VerifyReport",
    "Wanted",
    "Withdrawn",
    "WordsOnPage",
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
