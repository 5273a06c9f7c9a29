"""What the records of several kinds come to together. A fold knows no kind: each kind says what it adds."""

from tiermem.ledger.folds.answers import AnswerInfo, AnswersFold
from tiermem.ledger.folds.erasures import ErasuresFold
from tiermem.ledger.folds.findings import FindingsFold
from tiermem.ledger.folds.pages import Loss, PagesFold, PageSummary
from tiermem.ledger.folds.spending import SpendingFold
from tiermem.ledger.folds.tiers import TiersFold
from tiermem.ledger.folds.units import Merged

__all__ = ["AnswerInfo", "Folds", "Loss", "Merged", "PageSummary"]


class Folds(TiersFold, FindingsFold, AnswersFold, PagesFold, SpendingFold, ErasuresFold):
    """All that records are folded into."""
