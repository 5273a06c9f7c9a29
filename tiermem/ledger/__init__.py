"""What was concluded, when, and from what: typed entries in the log, and Tier 1 as their fold."""

from tiermem.ledger.entries import Answered, Distilled, Entry, Redistilled, Retired, Spent, WroteBack
from tiermem.ledger.ids import finding_id, finding_unit_id, summary_unit_id
from tiermem.ledger.ledger import Changes, Ledger
from tiermem.ledger.tier1 import AnswerInfo, Loss, PageSummary, Tier1

__all__ = [
    "AnswerInfo",
    "Answered",
    "Changes",
    "Distilled",
    "Entry",
    "Ledger",
    "Loss",
    "PageSummary",
    "Redistilled",
    "Retired",
    "Spent",
    "Tier1",
    "WroteBack",
    "finding_id",
    "finding_unit_id",
    "summary_unit_id",
]
