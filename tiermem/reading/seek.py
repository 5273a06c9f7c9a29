"""What is still missing, looked for: planned, searched for among turns, and the answer worded anew.

The rules: at most `looks` times; no look-up is made twice and no turn is shown as new twice; it ends when
the answer is complete, when the planner is done, or when nothing new turns up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from pagestore import PageId
from tiermem.llm.meter import check_budget, step
from tiermem.model import Evidence, Round, Search
from tiermem.reading.compose import Composed, Composer, EvidenceItem
from tiermem.reading.options import ReadingOptions
from tiermem.reading.recall import within
from tiermem.reading.research import new_searches
from tiermem.reading.search import LookUp
from tiermem.reading.turns import FoundTurn
from tiermem.reading.wider import place_of, widened
from tiermem.reasoning import Engine


@dataclass(frozen=True, slots=True, kw_only=True)
class Sought:
    """What looking further came to: the last wording, what was read for it, and each round."""

    composed: Composed
    evidence: tuple[Evidence, ...]
    rounds: tuple[Round, ...]


class Seeking:
    """One question's way through the turns. Made for one question, run once."""

    def __init__(
        self,
        question: str,
        *,
        asked_at: datetime,
        lookup: LookUp,
        composer: Composer,
        engine: Engine,
        options: ReadingOptions,
        count: Callable[[str], int],
    ) -> None:
        self._question = question
        self._asked_at = asked_at
        self._lookup = lookup
        self._composer = composer
        self._engine = engine
        self._options = options
        self._count = count
        self._rounds: list[Round] = []
        self._new: list[Evidence] = []

    async def run(self, composed: Composed, evidence: Sequence[Evidence]) -> Sought:
        """Look for what `composed`, worded from `evidence`, still misses."""
        for number in range(1, self._options.looks + 1):
            searches, reason = await self._plan(composed, evidence)
            turns = await self._turns(searches, evidence) if searches else ()
            self._keep(number, searches, turns, composed.missing, reason)
            if not turns:
                break
            composed = await self._word(composed, evidence, turns)
            if composed.suffices:
                break
        return Sought(composed=composed, evidence=tuple(self._new), rounds=tuple(self._rounds))

    async def _plan(self, composed: Composed, evidence: Sequence[Evidence]) -> tuple[tuple[Search, ...], str]:
        check_budget()
        done = [search for one in self._rounds for search in one.searches]
        known = (*composed.cited, *within(evidence, self._options.recall_tokens, self._count))
        planned = await self._engine.plan(
            self._question, tuple(dict.fromkeys(known)), composed.missing, done, asked_at=self._asked_at
        )
        if planned.done:
            return (), "enough was found"
        return (
            new_searches(planned.searches, done, limit=self._options.searches_per_round),
            "nothing new to look up",
        )

    async def _turns(self, searches: Sequence[Search], evidence: Sequence[Evidence]) -> tuple[FoundTurn, ...]:
        """The best turns of each look-up that were not shown yet."""
        shown = {span for item in (*evidence, *self._new) for span in item.spans if item.source == "turn"}
        found: dict[tuple[PageId, int], FoundTurn] = {}
        with step("search"):
            for search in searches:
                ranked = (await self._lookup.turns(search.query)).turns
                new = [turn for turn in ranked if not shown.intersection(turn.evidence().spans)]
                for turn in new[: self._options.look_turns]:
                    found.setdefault(place_of(turn), turn)
        return tuple(found.values())

    async def _word(
        self, composed: Composed, evidence: Sequence[Evidence], turns: Sequence[FoundTurn]
    ) -> Composed:
        """Anew, from what was cited, what was just found with its neighbours, and the best of before."""
        new = widened(turns, limit=len(turns), tokens=self._options.widen_tokens, count=self._count)
        self._new += [item for item in new if item not in self._new]
        pieces = tuple(dict.fromkeys((*composed.cited, *new, *evidence)))
        kept = within(pieces, self._options.widen_tokens, self._count)
        return await self._composer.word([EvidenceItem(evidence=item) for item in kept])

    def _keep(
        self,
        number: int,
        searches: tuple[Search, ...],
        turns: Sequence[FoundTurn],
        missing: str,
        reason: str,
    ) -> None:
        opened = Round(
            number=number,
            searches=searches,
            pages=tuple(dict.fromkeys(turn.page.id for turn in turns)),
            facts=0,
            rejected=0,
            coverage=missing,
        )
        self._rounds.append(opened if turns else replace(opened, stop=reason))
