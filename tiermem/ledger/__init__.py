"""What was concluded, when, and from what: typed entries in the log, and Tier 1 as their fold."""

from tiermem.ledger.entries import (
    Answered,
    Distilled,
    Entry,
    Erased,
    Erasing,
    Redistilled,
    Reinstated,
    Retired,
    SetAside,
    Spent,
    Stated,
    TurnAt,
    WroteBack,
)
from tiermem.ledger.held import Held
from tiermem.ledger.ids import NOT_RECORDED, finding_id, finding_unit_id, summary_unit_id
from tiermem.ledger.ledger import Changes, Ledger, Unread, indexed_as
from tiermem.ledger.moments import Around
from tiermem.ledger.tier1 import AnswerInfo, Loss, PageSummary, Tier1
from tiermem.ledger.told import told_in

__all__ = [
    "NOT_RECORDED",
    "AnswerInfo",
    "Answered",
    "Around",
    "Changes",
    "Distilled",
    "Entry",
    "Erased",
    "Erasing",
    "Held",
    "Ledger",
    "Loss",
    "PageSummary",
    "Redistilled",
    "Reinstated",
    "Retired",
    "SetAside",
    "Spent",
    "Stated",
    "Tier1",
    "TurnAt",
    "Unread",
    "WroteBack",
    "finding_id",
    "finding_unit_id",
    "indexed_as",
    "summary_unit_id",
    "told_in",
]
