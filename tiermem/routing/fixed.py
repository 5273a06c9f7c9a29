"""The two routers that never look: always to the pages, never to the pages."""

from __future__ import annotations

from datetime import datetime

from tiermem.model import Action, Decision, Recalled


class _Fixed:
    """Gives the same decision to every question."""

    name: str
    _action: Action

    async def decide(self, question: str, recalled: Recalled, *, asked_at: datetime) -> Decision:
        """The one decision there is."""
        return Decision(
            action=self._action,
            confidence=1.0,
            reason=f"the router {self.name!r} was chosen",
            router=self.name,
        )


class Always(_Fixed):
    """Escalates every question: every answer is read from the pages."""

    name = "always"
    _action: Action = "ESCALATE"


class Never(_Fixed):
    """Escalates no question. An answer that fails its check may still escalate; the door can forbid that."""

    name = "never"
    _action: Action = "ANSWER"
