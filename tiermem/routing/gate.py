"""The router that measures instead of asking: similarity, covered terms, the right person. No model, pure."""

from __future__ import annotations

from datetime import datetime

from tiermem.model import Decision, Recalled
from tiermem.reasoning.sufficiency import SufficiencyOptions, assess


class Gate:
    """Answers from summaries only where one of them states what is asked; the same decision every time."""

    name = "gate"

    def __init__(self, options: SufficiencyOptions | None = None) -> None:
        self._options = options

    async def decide(self, question: str, recalled: Recalled, *, asked_at: datetime) -> Decision:
        """Judge units and tail by `tiermem.reasoning.sufficiency`."""
        seen = assess(question, (*recalled.units, *recalled.tail), self._options)
        return Decision(action=seen.action, confidence=seen.confidence, reason=seen.reason, router=self.name)
