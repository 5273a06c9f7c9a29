"""What a space may spend in a day, counted from what the ledger recorded and enforced before every call.

The rule: a limit is never passed by more than the calls in flight, also over a restart: what was paid
today is in the ledger, whether it led to an answer or not. Calls that an endpoint rejected, or that did
not reach it, do not count towards the limit. A day is a day of UTC.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta

from tiermem.errors import BudgetExceeded
from tiermem.llm.meter import Meter, has_unknown_cost, name_limit, plus
from tiermem.model import Budget, Usage


@dataclass
class DailyMeter(Meter):
    """The meter of a whole opening: adds up everything, and stops at the limits of the day."""

    limits: Budget = field(default_factory=Budget)
    """Calls, tokens and cost a day; `seconds` is no limit here."""
    spent: Usage = field(default_factory=Usage)
    """What was paid on `day`; its cost is what is known of it."""
    has_unknown_cost: bool = False
    """Whether any call on `day` had no known price."""
    day: date = field(default_factory=lambda: datetime.now(UTC).date())
    space: str = ""
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)

    def add(self, step: str, usage: Usage) -> None:
        """Put usage on a step, and on today."""
        super().add(step, usage)
        with self._lock:
            self._start_new_day()
            self.has_unknown_cost |= has_unknown_cost(usage)
            self.spent = plus(self.spent, replace(usage, cost=usage.cost or 0.0))

    def today(self) -> Usage:
        """What was paid today; the cost is `None` if any of it is unknown."""
        with self._lock:
            self._start_new_day()
            return replace(self.spent, cost=None) if self.has_unknown_cost else self.spent

    def check(self) -> None:
        """Raise `BudgetExceeded` when a limit of the day has been reached; it says which, and until when."""
        self._check_prices(self.limits.cost)
        spent = self.today()
        used = {
            "calls": (spent.calls - spent.failed, self.limits.calls),
            "tokens": (spent.input_tokens + spent.output_tokens, self.limits.tokens),
            "cost": (self.spent.cost or 0.0, self.limits.cost),
        }
        for name, (paid, limit) in used.items():
            if limit is not None and paid >= limit:
                raise BudgetExceeded(
                    f"the daily limit of {name_limit(limit, name)} of space {self.space!r} is used up "
                    f"({paid:g}); it resets at {self.day + timedelta(days=1)} 00:00 UTC"
                )

    def tokens_left(self) -> int | None:
        """Tokens that may still be spent today; `None` where there is no limit."""
        if self.limits.tokens is None:
            return None
        spent = self.today()
        return self.limits.tokens - spent.input_tokens - spent.output_tokens

    def _start_new_day(self) -> None:
        today = self.clock().astimezone(UTC).date()
        if today != self.day:
            self.day, self.spent, self.has_unknown_cost = today, Usage(), False
