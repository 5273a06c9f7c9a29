"""Reading: recall from Tier 1, research in the pages, compose, check, audit. Nothing here writes."""

from tiermem.reading.answering import Outcome, answered, pending_findings
from tiermem.reading.audit import Audit, AuditedCitation, Standing
from tiermem.reading.check import check
from tiermem.reading.compose import ABSTENTION, Composed
from tiermem.reading.context import Context
from tiermem.reading.omissions import OmissionReport, OmissionsAt, PageOmissions, omission_report
from tiermem.reading.options import ReadingOptions
from tiermem.reading.reader import Reader
from tiermem.reading.replay import Difference, Replay, differences_between, replayed
from tiermem.reading.rerank import Reranker
from tiermem.reading.trail import Standpoint

__all__ = [
    "ABSTENTION",
    "Audit",
    "AuditedCitation",
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
    "Standing",
    "Standpoint",
    "answered",
    "check",
    "differences_between",
    "omission_report",
    "pending_findings",
    "replayed",
]
