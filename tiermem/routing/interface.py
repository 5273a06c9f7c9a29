"""What a router promises: which tier answers a question, decided from what was recalled."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from tiermem.model import Decision, Recalled


class Router(Protocol):
    """Decides between ANSWER (from Tier 1) and ESCALATE (to the pages). In doubt it escalates.

    A provider that is down is raised (`ModelUnavailable`, `ModelRefused`), a spent budget too
    (`BudgetExceeded`): both are for the caller to see, not a judgement about the units.
    """

    @property
    def name(self) -> str:
        """How traces call it."""
        ...

    async def decide(self, question: str, recalled: Recalled, *, asked_at: datetime) -> Decision:
        """Which tier answers `question`, given what Tier 1 brought."""
        ...
