"""The signals of a unit, and how judgements move its weight.

The rule: a signal is a fold of what is recorded. Answers that cite a unit are its uses, and outcomes that
somebody reported move its weight. Reading records nothing, so looking at a unit never changes its signals.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import reduce
from typing import Literal

from tiermem.model import AnswerId, Named
from tiermem.trust import kind_of_role

Outcome = Literal["success", "failure", "neutral"]
"""What came of an answer."""
Tier = Literal["episodic", "semantic", "procedural"]
"""`episodic`: a turn. `semantic`: a unit. `procedural`: a unit that rests on what a tool said or did."""

REWARDS: dict[Outcome, float] = {"success": 1.0, "neutral": 0.0, "failure": -0.5}
"""What an outcome is worth (MemTier, §3.5)."""
RATE = 0.1
"""How far the whole credit for one success moves a weight (MemTier, §3.5)."""
MOST_A_DAY = 0.3
"""How far a weight is moved from where it stood when the day (of UTC) began, whatever is reported in it."""
PROMOTED_WEIGHT, PROMOTED_USES = 0.5, 3
"""What a unit weighs more than, and how many answers cite it at least, that matters more than was thought."""
_DIGITS = 9
"""Decimals of a weight that are kept: the order of adding must not show."""
"""Ten tenths are one: a weight does not depend on how sums of fractions are rounded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signals:
    """What is known of a unit besides what it says.

    `importance` is from 0 to 1 (.5 where it was not judged, more while it is promoted), `uses` counts the
    answers that cited it, the last of them at `last_used`, and `weight`, from -1 to 1, says how answers
    turned out that rested on it.
    """

    importance: float
    uses: int
    last_used: datetime | None
    weight: float
    said_at: datetime | None
    tier: Tier


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """An outcome that somebody reported, as it bears on one unit: how much of the credit was the unit's.

    `answer_id` is `None` where sources were judged and no answer. `by` is how far who judged is trusted.
    """

    outcome: Outcome
    share: float
    at: datetime
    by: Named
    answer_id: AnswerId | None = None

    @property
    def step(self) -> float:
        """How far it moves a weight that nothing bounds."""
        return RATE * REWARDS[self.outcome] * self.share


@dataclass(frozen=True, slots=True, kw_only=True)
class Weight:
    """A weight, and where it stood when the newest day on which it was judged began."""

    value: float = 0.0
    morning: float = 0.0
    day: date | None = None

    def with_judgement(self, judged: Judgement) -> Weight:
        """The weight after one more judgement. A clock that goes back begins no day again."""
        day, morning = judged.at.astimezone(UTC).date(), self.morning
        if self.day is None or day > self.day:
            morning = self.value
        else:
            day = self.day
        lowest, highest = max(-1.0, morning - MOST_A_DAY), min(1.0, morning + MOST_A_DAY)
        value = round(min(max(self.value + judged.step, lowest), highest), _DIGITS)
        return Weight(value=value, morning=morning, day=day)


def weight_of(judged: Iterable[Judgement]) -> Weight:
    """The weight that judgements come to, taken in their order."""
    return reduce(Weight.with_judgement, judged, Weight())


def promotion(uses: int, weight: float) -> str | None:
    """Why a unit matters more than was thought, by what came of it; `None` where it does not."""
    if weight <= PROMOTED_WEIGHT or uses < PROMOTED_USES:
        return None
    return f"{uses} answers cited it, and what came of them gives it the weight {weight:g}"


def promote(importance: float) -> float:
    """The importance of a unit that is promoted: half of what it lacked of all there is, more."""
    return (1.0 + importance) / 2


def tier_of(roles: Iterable[str | None]) -> Tier:
    """The tier of a unit that rests on turns of these roles."""
    return "procedural" if any(kind_of_role(role) == "tool" for role in roles) else "semantic"
