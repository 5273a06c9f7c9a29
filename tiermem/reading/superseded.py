"""Earlier statements of the fact that an answer gives, and whether it rests on one of them.

They are read from the evidence that the answer was worded from, which the caller may see.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from tiermem.model import Caution, CitedSentence, Evidence
from tiermem.reasoning.rules.facts import StatedValue, find_stated_fact
from tiermem.trust import TrustLevels


@dataclass(frozen=True, slots=True, kw_only=True)
class Supersession:
    """The turns that stated earlier values, oldest first; a caution if an answer rests on one of them."""

    earlier: tuple[CitedSentence, ...] = ()
    caution: Caution | None = None


def find_supersession(
    question: str,
    evidence: Sequence[Evidence],
    cited: Collection[Evidence],
    asked_at: datetime,
    trust: TrustLevels,
) -> Supersession:
    """Find what was stated before the fact that a question asks for; nothing if it asks for no such fact."""
    fact = find_stated_fact(question, evidence, asked_at, trust)
    if fact is None or fact.answer is None:
        return Supersession()
    places = {at for at, item in enumerate(evidence) if item in cited}
    earlier = [one for one in fact.values[: fact.values.index(fact.answer)] if one.at != fact.answer.at]
    if fact.answer.at in places:
        return Supersession(earlier=tuple(_cited_turn(one, evidence[one.at]) for one in earlier))
    if places.isdisjoint(one.at for one in earlier):
        return Supersession()
    later = _cited_turn(fact.answer, evidence[fact.answer.at]).span
    return Supersession(caution=Caution(code="superseded", spans=() if later is None else (later,)))


def _cited_turn(value: StatedValue, item: Evidence) -> CitedSentence:
    """The turn that states a value, which is marked; its span if the turn is on its page as a whole."""
    text, spans = value.turn.text, item.spans
    is_whole = item.source == "turn" and len(spans) == 1 and spans[0].end - spans[0].start == len(text)
    return CitedSentence(
        text=text,
        speaker=value.turn.speaker,
        said_at=value.turn.said_at,
        span=spans[0] if is_whole else None,
        marks=((value.statement.start, value.statement.end),),
    )
