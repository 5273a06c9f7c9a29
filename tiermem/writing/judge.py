"""Whose an outcome is: the units behind an answer, or behind sources, each with its share of credit. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TypeAlias

from pagestore import PageId, Span
from tiermem.ledger import EVERYTHING_SEEN, Feedback, Tier1, Visibility
from tiermem.model import Answer, AnswerId, Evidence, UnitId
from tiermem.salience import Outcome, Share, TurnShare, credit_shares

_NONE: Mapping[PageId, PageId] = MappingProxyType({})
_Source: TypeAlias = UnitId | tuple[Span, ...]
"""What can be credited: a unit, or words of a turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Credit:
    """What a judgement did for one unit: its share of the credit, and its weight before and after."""

    unit_id: UnitId
    share: float
    before: float
    after: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """An outcome as it was recorded, and the units and turns that are credited.

    `answer_id` is `None` where sources were judged. A unit that is superseded, but for a merge, or withdrawn
    has its share and is not moved. `turns` are the words on which no unit rests yet: units that are made of
    them inherit their share.
    """

    outcome: Outcome
    answer_id: AnswerId | None
    credits: tuple[Credit, ...]
    turns: tuple[TurnShare, ...] = ()


def feedback_on_answer(
    tier1: Tier1,
    answer: Answer,
    *,
    outcome: Outcome,
    output: str | None,
    by: str,
    sealed: Mapping[PageId, PageId] = _NONE,
    sees: Visibility = EVERYTHING_SEEN,
) -> Feedback:
    """What came of an answer: of the units it cites, and of those it was shown, as far as the output says so.

    A unit that rests on the words of a turn which is cited for itself counts as cited, and so does a turn on
    which no unit rests. Without an `output` the answer's own words are it. `sealed` are the ids of pages that
    can be read and may be seen, by the ids that they were cited under.
    """
    if output is None and not answer.abstained:
        output = answer.text
    cited = [
        one
        for citation in answer.citations
        for one in _sources(tier1, citation.unit_id, citation.spans, sealed, sees)
    ]
    in_view = (one.unit_id for one in answer.trace.candidates if one.unit_id is not None)
    parts = credit_shares(cited, _texts(tier1, in_view), output)
    return _feedback(parts, outcome, by, answer.id)


def feedback_on_sources(
    tier1: Tier1,
    sources: Sequence[Evidence | UnitId],
    *,
    outcome: Outcome,
    output: str | None,
    by: str,
    sealed: Mapping[PageId, PageId] = _NONE,
    sees: Visibility = EVERYTHING_SEEN,
) -> Feedback:
    """The feedback on sources: in equal shares, or by how much of each source the output repeats.

    The credit of a turn goes to its units, or to the turn where it has none.
    """
    texts: dict[_Source, str] = {}
    for one in sources:
        if isinstance(one, Evidence):
            found = _sources(tier1, one.unit_id, one.spans, sealed, sees)
            texts |= {source: one.text for source in found if not isinstance(source, str)}
            texts |= _texts(tier1, (source for source in found if isinstance(source, str)))
        else:
            texts |= _texts(tier1, (one,))
    parts = credit_shares(texts, {}) if output is None else credit_shares((), texts, output)
    return _feedback(parts, outcome, by)


def _feedback(
    parts: Mapping[_Source, float], outcome: Outcome, by: str, answer_id: AnswerId | None = None
) -> Feedback:
    units = [Share(unit_id=one, share=part) for one, part in parts.items() if isinstance(one, str)]
    turns = [TurnShare(spans=one, share=part) for one, part in parts.items() if not isinstance(one, str)]
    return Feedback(answer_id=answer_id, outcome=outcome, shares=tuple(units), turns=tuple(turns), by=by)


def _sources(
    tier1: Tier1,
    unit_id: UnitId | None,
    spans: Iterable[Span],
    sealed: Mapping[PageId, PageId],
    sees: Visibility,
) -> tuple[_Source, ...]:
    """The unit itself, or those that hold and rest on some of the same words; the words, if no unit does."""
    if unit_id is not None:
        return (unit_id,)
    cited = tuple(spans)
    placed = tuple(replace(span, page_id=sealed.get(span.page_id, span.page_id)) for span in cited)
    units = dict.fromkeys(
        unit
        for span in placed
        for unit in tier1.units_of_page(span.page_id, inactive=True)
        if any(span.overlaps(other) for other in unit.spans)
    )
    if units:
        return tuple(unit.id for unit in units if tier1.is_active(unit.id) and sees.unit(unit))
    return (placed,) if placed and all(span.page_id in sealed for span in cited) else ()


def _texts(tier1: Tier1, unit_ids: Iterable[UnitId]) -> dict[_Source, str]:
    units = ((unit_id, tier1.unit(unit_id)) for unit_id in unit_ids)
    return {unit_id: unit.text for unit_id, unit in units if unit is not None}
