"""Reading: recall, widen, look further, research in the pages, compose, check. Nothing here writes."""

from tiermem.reading.check import check
from tiermem.reading.context import Context, Packing, assemble, shown_alone
from tiermem.reading.evidence_lookup import KnownEvidence, turn_from_parts
from tiermem.reading.looking_back.audit import Audit, AuditedCitation, AuditedDerivation, WordsOnPage
from tiermem.reading.looking_back.omissions import (
    OmissionReport,
    OmissionsAt,
    PageOmissions,
    omission_report,
)
from tiermem.reading.looking_back.replay import Difference, Replay, differences_between, replay_answer
from tiermem.reading.looking_back.trail import UnitHistory
from tiermem.reading.options import ReadingOptions
from tiermem.reading.quoting import unit_evidence
from tiermem.reading.reader import Kind, Reader, Recollection
from tiermem.reading.rerank import Reranker
from tiermem.reading.search import Strategy
from tiermem.reading.timeframe import Between, SaidThen, extract_timeframe, times_named, whole_days
from tiermem.reading.unknown import unknown_page, unknown_unit
from tiermem.reading.view import Scope
from tiermem.text.question import LONGEST_QUESTION
