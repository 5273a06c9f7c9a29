"""An append-only, tamper-evident store of dialogue: turns, pages, spans, proofs. Standard library only."""

from pagestore.interface import FindsPages, KeepsPages, LooksUp, PageLog, ProvingLog, TimedLog, TokenCounter
from pagestore.log import DiskLog, MemoryLog
from pagestore.merkle import verify_consistency, verify_inclusion
from pagestore.options import LogOptions
from pagestore.rendering import RenderedTurn, TurnPart, parse, render_page
from pagestore.store import Store
from pagestore.tokens import EstimateCounter
from pagestore.upgrade import upgrade
from pagestore.values import (
    Appended,
    Checkpoint,
    CheckpointOfFormat1,
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
    RecordedTimes,
    SessionId,
    SetBack,
    SpaceId,
    Span,
    Taken,
    Turn,
    TurnTimes,
    VerifyReport,
)

__all__ = [
    "Appended",
    "Checkpoint",
    "CheckpointOfFormat1",
    "Damage",
    "DiskLog",
    "EstimateCounter",
    "FindsPages",
    "GrowthProof",
    "History",
    "InclusionProof",
    "KeepsPages",
    "LogOptions",
    "LooksUp",
    "MemoryLog",
    "OpenInfo",
    "Page",
    "PageId",
    "PageInfo",
    "PageLine",
    "PageLog",
    "ProvingLog",
    "Record",
    "RecordedTimes",
    "RenderedTurn",
    "SessionId",
    "SetBack",
    "SpaceId",
    "Span",
    "Store",
    "Taken",
    "TimedLog",
    "TokenCounter",
    "Turn",
    "TurnPart",
    "TurnTimes",
    "VerifyReport",
    "parse",
    "render_page",
    "upgrade",
    "verify_consistency",
    "verify_inclusion",
]
