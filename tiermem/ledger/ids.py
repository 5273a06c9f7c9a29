"""Ids derived from what they name, so that a step done twice cannot store anything twice.

Every id is bound to its space. The prefix names the recipe: SHA-256 over a JSON list, 32 hex digits.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from pagestore import PageId, SpaceId, Span
from tiermem.model import AnswerId, FindingId, UnitId

NOT_RECORDED = "n1:"
"""How the id begins of an answer that no ledger holds."""


def summary_unit_id(space: SpaceId, page_id: PageId, text: str, spans: Sequence[Span]) -> UnitId:
    """The id of a unit distilled from a page."""
    return UnitId("u1:" + _digest("summary", space, page_id, text, _ranges(spans)))


def finding_unit_id(space: SpaceId, finding_id: FindingId) -> UnitId:
    """The id of the unit that a finding becomes when it is added."""
    return UnitId("u1:" + _digest("finding", space, finding_id))


def merged_unit_id(space: SpaceId, merged: Sequence[UnitId]) -> UnitId:
    """The id of the unit that others are merged into, in whatever order these are named."""
    return UnitId("u1:" + _digest("merged", space, sorted(merged)))


def finding_id(space: SpaceId, answer_id: AnswerId, claim: str, spans: Sequence[Span]) -> FindingId:
    """The id of a proved fact that one answer brought."""
    return FindingId("f1:" + _digest(space, answer_id, claim, _ranges(spans)))


def _ranges(spans: Sequence[Span]) -> list[list[str | int]]:
    return [[span.page_id, span.start, span.end] for span in spans]


def _digest(*parts: object) -> str:
    return hashlib.sha256(json.dumps(parts, separators=(",", ":")).encode()).hexdigest()[:32]
