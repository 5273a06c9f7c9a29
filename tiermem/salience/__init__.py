"""What is known of a unit besides what it says: how it was used, and what came of that. Pure.

It reads values and gives values: it knows no ledger, no index and no clock, and writes nothing.
"""

from tiermem.salience.attribute import Share, TurnShare, credit_shares
from tiermem.salience.score import PUBLISHED, SignalWeights, order_by_signals, score, strength
from tiermem.salience.signals import (
    Judgement,
    Outcome,
    Signals,
    Weight,
    promote,
    promotion,
    tier_of,
    weight_of,
)

__all__ = [
    "PUBLISHED",
    "Judgement",
    "Outcome",
    "Share",
    "SignalWeights",
    "Signals",
    "TurnShare",
    "Weight",
    "credit_shares",
    "order_by_signals",
    "promote",
    "promotion",
    "score",
    "strength",
    "tier_of",
    "weight_of",
]
