"""The router that asks the engine: by prompt where a model reasons, by rules where none does."""

from __future__ import annotations

import math
from datetime import datetime

from tiermem.errors import MalformedReply
from tiermem.model import Action, Decision, Recalled
from tiermem.reasoning import Reasoner


class ByReasoner:
    """Asks `Reasoner.route`. A reply that cannot be used escalates; nothing recalled escalates unasked."""

    name = "llm"

    def __init__(self, reasoner: Reasoner) -> None:
        self._reasoner = reasoner

    async def decide(self, question: str, recalled: Recalled, *, asked_at: datetime) -> Decision:
        """ANSWER only where the engine says so in a reply that reads as one."""
        units = (*recalled.units, *recalled.tail)
        if not units:
            return _escalate("nothing was recalled", confidence=1.0)
        try:
            reply = await self._reasoner.route(question, units, asked_at=asked_at)
        except MalformedReply as error:
            return _escalate(f"the reply could not be used: {error}")
        action: Action = "ANSWER" if reply.action == "ANSWER" else "ESCALATE"
        return Decision(
            action=action, confidence=_within(reply.confidence), reason=reply.reason, router=self.name
        )


def _escalate(reason: str, *, confidence: float = 0.0) -> Decision:
    return Decision(action="ESCALATE", confidence=confidence, reason=reason, router=ByReasoner.name)


def _within(confidence: float) -> float:
    """A confidence between 0 and 1, 0 for what is no number."""
    return 0.0 if math.isnan(confidence) else min(1.0, max(0.0, confidence))
