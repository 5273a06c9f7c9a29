"""Turns that state the fact a question asks for, so that the latest statement is read first.

They are looked for at each question, among the turns that the asker may see. Nothing is recorded, so an
erased statement replaces nothing. The cost is one more search, whatever the size of the store.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import pairwise

from pagestore import Span
from tiermem.model import Evidence
from tiermem.reading.search import LookUp
from tiermem.reading.turns import FoundTurn
from tiermem.text.dates import timestamp
from tiermem.text.histories import AskedFact, find_fact, read_fact_question


@dataclass(frozen=True, slots=True, kw_only=True)
class FactTurns:
    """The turns that state a fact: the one that answers first, then the others, latest first.

    `superseded` are the spans of earlier statements, each with the time of the statement that replaced it.
    """

    turns: tuple[FoundTurn, ...] = ()
    superseded: Mapping[Span, datetime | None] = field(default_factory=dict)

    def put_first(self, turns: Iterable[FoundTurn]) -> tuple[FoundTurn, ...]:
        """The turns with those that state the fact before all others."""
        stating = {turn.line.seq for turn in self.turns}
        return (*self.turns, *(turn for turn in turns if turn.line.seq not in stating))

    def mark(self, items: Iterable[Evidence]) -> tuple[Evidence, ...]:
        """The evidence, with what rests on an earlier statement marked."""
        return tuple(self._mark_item(item) for item in items)

    def _mark_item(self, item: Evidence) -> Evidence:
        at = next((at for span, at in self.superseded.items() if span in item.spans), None)
        return item if at is None else replace(item, superseded_at=at)


async def find_fact_turns(question: str, lookup: LookUp, ranked: Sequence[FoundTurn]) -> FactTurns:
    """Find the statements of the fact that a question asks for; none if it asks for no such fact.

    `ranked` are the turns found for the question. Those found by the words of the attribute are read too.
    """
    trust = lookup.view.trust
    speakers = {turn.said_turn(trust).speaker for turn in ranked}
    asked = read_fact_question(question, speakers, lookup.asked_at)
    if asked is None:
        return FactTurns()
    by_words = await lookup.turns(_query(asked))
    turns = list({turn.line.seq: turn for turn in (*ranked, *by_words.turns)}.values())
    said = [turn.said_turn(trust) for turn in turns]
    known = find_fact(question, said, lookup.asked_at)
    if known is None:
        return FactTurns()
    stated = [*known.values]
    first = [known.answer] if known.answer is not None else []
    order = dict.fromkeys(one.turn for one in (*first, *reversed(stated)))
    return FactTurns(
        turns=tuple(turns[at] for at in order),
        superseded={
            span: said[later.turn].said_at
            for one, later in pairwise(stated)
            if one.turn != later.turn
            and timestamp(said[later.turn].said_at) > timestamp(said[one.turn].said_at)
            for span in turns[one.turn].evidence().spans
        },
    )


def _query(asked: AskedFact) -> str:
    """Words by which statements of a fact are found."""
    owner = (asked.speaker or "", "" if asked.owner == "me" else asked.owner)
    return " ".join((*owner, *asked.attribute.nouns[:3], *asked.attribute.before[:6], *sorted(asked.topic)))
