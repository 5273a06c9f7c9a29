"""Reading: recall, widen, look further, research in the pages, compose, check. Nothing here writes."""

from tiermem.reading.answer import Outcome, answered, pending_findings
from tiermem.reading.check import check
from tiermem.reading.compose import ABSTENTION, Composed
from tiermem.reading.context import Context
from tiermem.reading.looking_back.audit import Audit, AuditedCitation, AuditedDerivation, WordsOnPage
from tiermem.reading.looking_back.omissions import (
    OmissionReport,
    OmissionsAt,
    PageOmissions,
    omission_report,
)
from tiermem.reading.looking_back.replay import Difference, Replay, differences_between, replayed
from tiermem.reading.looking_back.trail import UnitHistory
from tiermem.reading.options import ReadingOptions
from tiermem.reading.question import LONGEST_QUESTION
from tiermem.reading.reader import Reader
from tiermem.reading.rerank import Reranker
from tiermem.reading.view import Scope

__all__ = [
    "ABSTENTION",
    "LONGEST_QUESTION",
    "Audit",
    "AuditedCitation",
    "AuditedDerivation",
    "Composed",
    "Context",
    "Difference",
    "OmissionReport",
    "OmissionsAt",
    "Outcome",
    "PageOmissions",
    "Reader",
    "ReadingOptions",
    "Replay",
    "Reranker",
    "Scope",
    "UnitHistory",
    "WordsOnPage",
    "answered",
    "check",
    "differences_between",
    "omission_report",
    "pending_findings",
    "replayed",
]
