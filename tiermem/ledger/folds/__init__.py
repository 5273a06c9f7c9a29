"""What the records of several kinds come to together. A fold knows no kind: each kind says what it adds."""

from tiermem.ledger.folds.answers import AnswerInfo, AnswersFold
from tiermem.ledger.folds.erasures import ErasuresFold
from tiermem.ledger.folds.findings import FindingsFold
from tiermem.ledger.folds.pages import Loss, PagesFold, PageSummary
from tiermem.ledger.folds.sharing import ALL, Grant, SharingFold
from tiermem.ledger.folds.spending import SpendingFold
from tiermem.ledger.folds.titles import TitlesFold
from tiermem.ledger.folds.units import MergedInto

__all__ = ["ALL", "AnswerInfo", "Folds", "Grant", "Loss", "MergedInto", "PageSummary"]


class Folds(SharingFold, FindingsFold, AnswersFold, PagesFold, SpendingFold, ErasuresFold, TitlesFold):
    """All that records are folded into."""
