"""What was paid, day by day."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime

from tiermem.llm.meter import has_unknown_cost, plus
from tiermem.model import Usage

NOTHING = Usage()


class SpendingFold:
    """The usage of every day (of UTC) on which something was paid."""

    def __init__(self) -> None:
        super().__init__()
        self._spent: dict[date, Usage] = {}
        self._unpriced: set[date] = set()

    def spent_on(self, day: date) -> Usage:
        """What was paid on a day (of UTC); calls of unknown price count with no cost."""
        return self._spent.get(day, Usage())

    def has_unknown_cost_on(self, day: date) -> bool:
        """Whether any call on a day (of UTC) had no known price."""
        return day in self._unpriced

    def pay(self, at: datetime, usage: Usage) -> None:
        """Something was paid, or nothing."""
        if usage == NOTHING:
            return
        day = at.astimezone(UTC).date()
        if has_unknown_cost(usage):
            self._unpriced.add(day)
        known = replace(usage, cost=usage.cost or 0.0)
        self._spent[day] = plus(self._spent.get(day, Usage()), known)
