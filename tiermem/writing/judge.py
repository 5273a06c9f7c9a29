"""Whose an outcome is: the units behind an answer, or behind sources, each with its share of credit. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from pagestore import PageId, Span
from tiermem.ledger import EVERYTHING_SEEN, Feedback, Sees, Tier1
from tiermem.model import Answer, AnswerId, Evidence, UnitId
from tiermem.salience import Outcome, shares

_NONE: Mapping[PageId, PageId] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Credit:
    """What a judgement did for one unit: its share of the credit, and its weight before and after."""

    unit_id: UnitId
    share: float
    before: float
    after: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """An outcome as it was recorded, and the units whose it is.

    `answer_id` is `None` where sources were judged. Nobody is credited where no unit stands behind them. What
    is superseded, but for a merge, or withdrawn has its share and is not moved.
    """

    outcome: Outcome
    answer_id: AnswerId | None
    credits: tuple[Credit, ...]


def feedback_on_answer(
    tier1: Tier1,
    answer: Answer,
    *,
    outcome: Outcome,
    output: str | None,
    by: str,
    sealed: Mapping[PageId, PageId] = _NONE,
    sees: Sees = EVERYTHING_SEEN,
) -> Feedback:
    """What came of an answer: of the units it cites, and of those it was shown, as far as the output says so.

    A unit that rests on the words of a turn which is cited for itself counts as cited. Without an `output`
    the answer's own words are it. `sealed` are pages by the ids they had while they were open.
    """
    if output is None and not answer.abstained:
        output = answer.text
    cited = [
        one
        for citation in answer.citations
        for one in _units(tier1, citation.unit_id, citation.spans, sealed, sees)
    ]
    in_view = (one.unit_id for one in answer.trace.candidates if one.unit_id is not None)
    found = shares(cited, _texts(tier1, in_view), output)
    return Feedback(answer_id=answer.id, outcome=outcome, shares=found, by=by)


def feedback_on_sources(
    tier1: Tier1,
    sources: Sequence[Evidence | UnitId],
    *,
    outcome: Outcome,
    output: str | None,
    by: str,
    sealed: Mapping[PageId, PageId] = _NONE,
    sees: Sees = EVERYTHING_SEEN,
) -> Feedback:
    """What came of sources: all alike, or by what of them the output says. A turn stands for its units."""
    named = [
        unit_id
        for one in sources
        for unit_id in (
            _units(tier1, one.unit_id, one.spans, sealed, sees) if isinstance(one, Evidence) else (one,)
        )
    ]
    found = shares(named, {}) if output is None else shares((), _texts(tier1, named), output)
    return Feedback(outcome=outcome, shares=found, by=by)


def _units(
    tier1: Tier1,
    unit_id: UnitId | None,
    spans: Iterable[Span],
    sealed: Mapping[PageId, PageId],
    sees: Sees,
) -> tuple[UnitId, ...]:
    """The unit itself, or those that hold and rest on some of the same words."""
    if unit_id is not None:
        return (unit_id,)
    placed = [replace(span, page_id=sealed.get(span.page_id, span.page_id)) for span in spans]
    return tuple(
        dict.fromkeys(
            unit.id
            for span in placed
            for unit in tier1.units_of_page(span.page_id)
            if sees.unit(unit) and any(span.overlaps(other) for other in unit.spans)
        )
    )


def _texts(tier1: Tier1, unit_ids: Iterable[UnitId]) -> dict[UnitId, str]:
    units = ((unit_id, tier1.unit(unit_id)) for unit_id in unit_ids)
    return {unit_id: unit.text for unit_id, unit in units if unit is not None}
