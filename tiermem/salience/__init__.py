"""What is known of a unit besides what it says: how it was used, and what came of that. Pure.

It reads values and gives values: it knows no ledger, no index and no clock, and writes nothing.
"""

from tiermem.salience.attribute import Share, TurnShare, credit_shares
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
