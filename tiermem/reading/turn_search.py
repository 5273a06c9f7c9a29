"""Rounds over turns: the best that look-ups bring are shown, and the answer is worded again after each round.

A wording names the look-ups for what it misses; where it does not, the planner is asked for some. Where there
is no answer yet, the question is looked up once more as well, for more turns. At most `looks` rounds. It is
enough when the answer is complete. A wording that is no answer never replaces one that is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import zip_longest

from pagestore import PageId
from tiermem.errors import BudgetExceeded, ModelError
from tiermem.llm.meter import step
from tiermem.model import Evidence, Search
from tiermem.reading.compose import ComposedAnswer, Composer, EvidenceItem, better
from tiermem.reading.look_further import Rounds, new_searches
from tiermem.reading.neighbours import with_neighbours
from tiermem.reading.quoting import size
from tiermem.reading.recall import deduplicate, fit_to_budget
from tiermem.reading.request import AskRequest
from tiermem.reading.search import LookUp
from tiermem.reading.turns import FoundTurn


class TurnRounds(Rounds[FoundTurn]):
    """The rounds over turns, for what `composed`, worded from `evidence`, still misses.

    The planner is shown `recalled`. `wordings` are those that were made, in order.
    """

    stage = "researched"
    fallback = "what was read until then"

    def __init__(
        self,
        asking: AskRequest,
        lookup: LookUp,
        composer: Composer,
        *,
        composed: ComposedAnswer,
        evidence: Sequence[Evidence],
        recalled: Sequence[Evidence],
    ) -> None:
        super().__init__(asking, lookup, composer)
        self.numbers = range(1, asking.options.looks + 1)
        self.composed = composed
        self.wordings: list[ComposedAnswer] = []
        self._latest = composed
        self._evidence = evidence
        self._recalled = recalled

    def is_fatal(self, error: ModelError | BudgetExceeded) -> bool:
        """Where no wording is an answer, or with the budget spent where there is none at all."""
        spent = isinstance(error, BudgetExceeded) and self.wordings
        return not spent and not any(one.holds for one in self.wordings)

    def missing(self) -> str:
        """What the answer misses."""
        return self.composed.gap

    async def known_evidence(self) -> Sequence[Evidence]:
        """What the answer cites, and the best of what was found."""
        best = deduplicate((*self.composed.cited, *self.findings.evidence, *self._recalled))
        return fit_to_budget(best, self._asking.options.recall_tokens, self._asking.count)

    def pages(self, found: Sequence[FoundTurn]) -> Iterable[PageId]:
        """The pages that these turns are on."""
        return (turn.page.id for turn in found)

    async def find(self, number: int) -> tuple[tuple[Search, ...], Sequence[FoundTurn], str]:
        """The look-ups that the latest wording names, or else the planner, and what they bring."""
        wanted = self._latest.searches
        if wanted is None and self._asking.engine.plan is not None:
            return await super().find(number)
        if not self.composed.holds:
            wanted = (*(wanted or ()), Search(kind="SEMANTIC", query=self._asking.question.text))
        done = [search for one in self.findings.rounds for search in one.searches]
        new = new_searches(wanted or (), done, limit=self._asking.options.searches_per_round)
        return new, await self.search(new), "nothing new to look up"

    async def search(self, searches: Sequence[Search]) -> Sequence[FoundTurn]:
        """The best turns of each look-up that were not shown yet, the first of each first."""
        pieces = (*self._evidence, *self.findings.evidence)
        shown = {span for item in pieces if item.source == "turn" for span in item.spans}
        found: list[Sequence[FoundTurn]] = []
        most = self._asking.options.look_turns
        with step("search"):
            for search in searches:
                ranked = await self._lookup.turns(self.question_of(search), limit=most + len(shown))
                self.note(ranked.degradations)
                new = [turn for turn in ranked.turns if not shown.intersection(turn.evidence().spans)]
                found.append(new[:most])
        ranks = (turn for rank in zip_longest(*found) for turn in rank if turn is not None)
        return tuple({turn.line.seq: turn for turn in ranks}.values())

    async def read(self, found: Sequence[FoundTurn]) -> bool:
        """Word the answer again: from what was cited, these with their neighbours, and the best of before."""
        tokens, cited, before = self._asking.options.widen_tokens, self.composed.cited, self.findings.evidence
        room = tokens - size(cited, self._asking.count)
        wide = with_neighbours(found, limit=len(found), tokens=room, count=self._asking.count)
        pieces = deduplicate((*cited, *wide, *before, *self._evidence))
        kept = fit_to_budget(pieces, tokens, self._asking.count)
        new = deduplicate((*before, *(item for item in wide if item in kept)))
        self.findings = replace(self.findings, evidence=new)
        worded = await self._composer.word([EvidenceItem(evidence=item) for item in kept])
        self.is_read = True
        self.wordings.append(worded)
        self._latest = worded
        self._asking.steps.done(
            "compose", way="researched", checks=worded.checks, degradations=worded.degradations
        )
        self.composed = better(worded, (self.composed,))
        return self.composed.suffices
