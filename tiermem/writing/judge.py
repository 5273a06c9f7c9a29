"""Whose an outcome is: the units behind an answer, or behind sources, each with its share of credit. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from pagestore import PageId, Span
from tiermem.ledger import Feedback, Tier1, Visibility
from tiermem.model import Answer, AnswerId, Evidence, UnitId
from tiermem.salience import Outcome, Share, TurnShare, credit_shares

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


@dataclass(frozen=True, slots=True)
class Sources:
    """The units and turns that can be credited, as far as `sees` allows.

    `sealed` are the ids of pages that can be read and may be seen, by the ids that they were cited under.
    """

    tier1: Tier1
    sealed: Mapping[PageId, PageId]
    sees: Visibility

    def find(self, unit_id: UnitId | None, spans: Sequence[Span]) -> tuple[_Source, ...]:
        """The unit itself, or those that hold and rest on some of the words; the words, if no unit does."""
        if unit_id is not None:
            return (unit_id,)
        placed = tuple(replace(span, page_id=self.sealed.get(span.page_id, span.page_id)) for span in spans)
        units = dict.fromkeys(
            unit
            for span in placed
            for unit in self.tier1.units_of_page(span.page_id, inactive=True)
            if any(span.overlaps(other) for other in unit.spans)
        )
        if units:
            return tuple(unit.id for unit in units if self.tier1.is_active(unit.id) and self.sees.unit(unit))
        return (placed,) if placed and all(span.page_id in self.sealed for span in spans) else ()

    def texts(self, unit_ids: Iterable[UnitId]) -> dict[_Source, str]:
        """The texts of units."""
        units = ((unit_id, self.tier1.unit(unit_id)) for unit_id in unit_ids)
        return {unit_id: unit.text for unit_id, unit in units if unit is not None}


def credit_of_answer(sources: Sources, answer: Answer, output: str | None) -> dict[_Source, float]:
    """The credit of the units an answer cites, and of those it was shown, as far as the output says so.

    A unit that rests on the words of a turn which is cited for itself counts as cited, and so does a turn on
    which no unit rests. Without an `output` the answer's own words are it.
    """
    if output is None and not answer.abstained:
        output = answer.text
    cited = [one for citation in answer.citations for one in sources.find(citation.unit_id, citation.spans)]
    in_view = (one.unit_id for one in answer.trace.candidates if one.unit_id is not None)
    return credit_shares(cited, sources.texts(in_view), output)


def credit_of_sources(
    sources: Sources, given: Sequence[Evidence | UnitId], output: str | None
) -> dict[_Source, float]:
    """The credit of sources: in equal shares, or by how much of each source the output repeats.

    The credit of a turn goes to its units, or to the turn where it has none.
    """
    texts: dict[_Source, str] = {}
    for one in given:
        if isinstance(one, Evidence):
            found = sources.find(one.unit_id, one.spans)
            texts |= {source: one.text for source in found if not isinstance(source, str)}
            texts |= sources.texts(source for source in found if isinstance(source, str))
        else:
            texts |= sources.texts((one,))
    return credit_shares(texts, {}) if output is None else credit_shares((), texts, output)


def feedback_with(
    credit: Mapping[_Source, float], outcome: Outcome, by: str, answer_id: AnswerId | None = None
) -> Feedback:
    """The entry of an outcome, with the credit of units and of turns."""
    units = [Share(unit_id=one, share=part) for one, part in credit.items() if isinstance(one, str)]
    turns = [TurnShare(spans=one, share=part) for one, part in credit.items() if not isinstance(one, str)]
    return Feedback(answer_id=answer_id, outcome=outcome, shares=tuple(units), turns=tuple(turns), by=by)
