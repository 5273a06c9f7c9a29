"""What is known of a unit besides what it says: how it was used, and what came of that. Pure.

It reads values and gives values: it knows no ledger, no index and no clock, and writes nothing.
"""

from tiermem.salience.attribute import Share, shares
from tiermem.salience.score import (
    PUBLISHED,
    Features,
    Scorable,
    SignalWeights,
    chosen_sessions,
    decay,
    order_by_signals,
    score,
    strength,
    two_stages,
)
from tiermem.salience.signals import (
    Judgement,
    Outcome,
    Signals,
    Tier,
    Weight,
    promoted,
    promotion,
    tier_of,
    weight_of,
)

__all__ = [
    "PUBLISHED",
    "Features",
    "Judgement",
    "Outcome",
    "Scorable",
    "Share",
    "SignalWeights",
    "Signals",
    "Tier",
    "Weight",
    "chosen_sessions",
    "decay",
    "order_by_signals",
    "promoted",
    "promotion",
    "score",
    "shares",
    "strength",
    "tier_of",
    "two_stages",
    "weight_of",
]
