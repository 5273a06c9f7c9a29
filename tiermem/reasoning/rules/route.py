"""Whether what was recalled answers the question, measured instead of asked."""

from __future__ import annotations

from collections.abc import Sequence

from tiermem.model import Decision, Evidence
from tiermem.reasoning.rules.sufficiency import assess
from tiermem.text.question import Question


async def gate(question: Question, evidence: Sequence[Evidence]) -> Decision:
    """Judge by terms, people and the kind of detail asked for. Nothing recalled escalates."""
    return assess(question, evidence)
