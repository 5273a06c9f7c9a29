"""The two routes that never look: always to the pages, never to the pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tiermem.model import Action, Decision, Evidence
from tiermem.text.question import Question


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedRoute:
    """Gives the same decision to every question."""

    name: str
    action: Action

    async def __call__(self, question: Question, evidence: Sequence[Evidence]) -> Decision:
        """The one decision there is."""
        reason = f"the router {self.name!r} was chosen"
        return Decision(action=self.action, score=None, reason=reason, router=self.name)


always = FixedRoute(name="always", action="ESCALATE")
"""Escalates every question: every answer is read from the pages."""
never = FixedRoute(name="never", action="ANSWER")
"""Escalates no question; an answer that fails its check may still lead to the pages."""
