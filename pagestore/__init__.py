"""An append-only, tamper-evident store of dialogue: turns, pages, spans, proofs. Standard library only."""

from pagestore.interface import PageLog, TokenCounter
from pagestore.values import (
    Appended,
    Checkpoint,
    Damage,
    InclusionProof,
    Page,
    PageId,
    PageInfo,
    PageLine,
    Record,
    SessionId,
    SpaceId,
    Span,
    Turn,
    VerifyReport,
)

__all__ = [
    "Appended",
    "Checkpoint",
    "Damage",
    "InclusionProof",
    "Page",
    "PageId",
    "PageInfo",
    "PageLine",
    "PageLog",
    "Record",
    "SessionId",
    "SpaceId",
    "Span",
    "TokenCounter",
    "Turn",
    "VerifyReport",
]
