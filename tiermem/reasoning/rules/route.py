"""Whether what was recalled answers the question, measured instead of asked."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from tiermem.model import Decision, Evidence
from tiermem.reasoning.rules.sufficiency import assess


async def gate(question: str, evidence: Sequence[Evidence], *, asked_at: datetime) -> Decision:
    """Judge by terms, people and the kind of detail asked for. Nothing recalled escalates."""
    return assess(question, evidence)
