"""An append-only, tamper-evident store of dialogue: turns, pages, spans, proofs. Standard library only."""

from pagestore.interface import PageLog, ProvingLog, TokenCounter
from pagestore.log import DiskLog
from pagestore.memory_log import MemoryLog
from pagestore.merkle import verify_consistency, verify_inclusion
from pagestore.options import LogOptions
from pagestore.rendering import RenderedTurn, Said, parse, render_page
from pagestore.store import Store
from pagestore.tokens import EstimateCounter
from pagestore.values import (
    Appended,
    Checkpoint,
    Damage,
    GrowthProof,
    History,
    InclusionProof,
    OpenInfo,
    Page,
    PageId,
    PageInfo,
    PageLine,
    Record,
    SessionId,
    SpaceId,
    Span,
    Turn,
    TurnTimes,
    VerifyReport,
)

__all__ = [
    "Appended",
    "Checkpoint",
    "Damage",
    "DiskLog",
    "EstimateCounter",
    "GrowthProof",
    "History",
    "InclusionProof",
    "LogOptions",
    "MemoryLog",
    "OpenInfo",
    "Page",
    "PageId",
    "PageInfo",
    "PageLine",
    "PageLog",
    "ProvingLog",
    "Record",
    "RenderedTurn",
    "Said",
    "SessionId",
    "SpaceId",
    "Span",
    "Store",
    "TokenCounter",
    "Turn",
    "TurnTimes",
    "VerifyReport",
    "parse",
    "render_page",
    "verify_consistency",
    "verify_inclusion",
]
