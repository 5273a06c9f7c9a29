"""A memory agents can prove.

Dialogue is sealed in immutable pages; summaries link to the exact words they rest on; answers cite
them. `tiermem.open(path)` gives a `Memory`, `AsyncMemory.open(path)` its awaited twin.
"""

import sys
from importlib import import_module
from importlib.metadata import version as _version
from typing import TYPE_CHECKING, Any

if sys.platform == "win32":
    raise ImportError(
        "TierMem needs POSIX file locks and does not run on Windows: install it in the Windows Subsystem for "
        "Linux (WSL), which `wsl --install` sets up"
    )

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
    AskStep,
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
        Leftover,
        LeftoverScan,
        Memory,
        Overrides,
        Receipt,
        Reindexed,
        SessionInfo,
        Stats,
        Workspace,
        open,  # noqa: A004  (users write `tiermem.open`)
        restore,
        spaces,
    )
    from tiermem.ledger import AnswerInfo, Grant, Redistilled, TurnAt
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
        UnitHistory,
        WordsOnPage,
    )
    from tiermem.reasoning import Engine
    from tiermem.salience import Judgement, Signals, TurnShare
    from tiermem.settings import Settings
    from tiermem.workspace import Admitted, Eviction, Item
    from tiermem.writing import (
        Consolidation,
        Credit,
        Erasure,
        Judged,
        MergedUnits,
        NearUnits,
        ReinstatedUnit,
        Remembered,
        Withdrawn,
    )

_HOMES = {
    "pagestore.backup": "SavedSpace",
    "pagestore.bundle": "Bundle Signature",
    "tiermem.api": """
        Added AsyncMemory AsyncWorkspace Attribution BackedUp Exported Filters Flushed Leftover
        LeftoverScan Memory Overrides Receipt Reindexed SessionInfo Stats Workspace open restore spaces
    """,
    "tiermem.ledger": "AnswerInfo Grant Redistilled TurnAt",
    "tiermem.reading": """
        Audit AuditedCitation AuditedDerivation Between Context Difference OmissionReport
        OmissionsAt PageOmissions Recollection Replay UnitHistory WordsOnPage
    """,
    "tiermem.reasoning": "Engine",
    "tiermem.salience": "Judgement Signals TurnShare",
    "tiermem.settings": "Settings",
    "tiermem.workspace": "Admitted Eviction Item",
    "tiermem.writing": """
        Consolidation Credit Erasure Judged MergedUnits NearUnits Remembered ReinstatedUnit
        Withdrawn
    """,
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = [
    "Added",
    "Admitted",
    "Answer",
    "AnswerId",
    "AnswerInfo",
    "AskStep",
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
    "Eviction",
    "Evidence",
    "Exported",
    "Filters",
    "Flushed",
    "Grant",
    "GrowthProof",
    "InclusionProof",
    "Item",
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
    "Recollection",
    "Redistilled",
    "Reindexed",
    "ReinstatedUnit",
    "Rejected",
    "Remembered",
    "Replay",
    "Round",
    "SavedSpace",
    "Search",
    "SessionId",
    "SessionInfo",
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
    "TurnShare",
    "UnitHistory",
    "UnitId",
    "Usage",
    "VerifyReport",
    "Wanted",
    "Withdrawn",
    "WordsOnPage",
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
    if name in _HOME_OF:
        return getattr(import_module(_HOME_OF[name]), name)
    raise AttributeError(f"module 'tiermem' has no attribute {name!r}")
