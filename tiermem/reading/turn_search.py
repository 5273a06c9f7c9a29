"""What is still missing, looked for: planned, searched for among turns, and the answer worded again.

The rules: at most `looks` times; no look-up is made twice and no turn is shown as new twice; it ends when
the answer is complete, when the planner is done, or when nothing new turns up. A wording that is no answer
never replaces one that is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from pagestore import Span
from tiermem.errors import BudgetExceeded, ModelError
from tiermem.llm.meter import check_budget, step
from tiermem.model import Degradation, Evidence, Round, Search
from tiermem.reading.compose import ComposedAnswer, Composer, EvidenceItem, better
from tiermem.reading.neighbours import with_neighbours
from tiermem.reading.quoting import size
from tiermem.reading.recall import deduplicate, fit_to_budget
from tiermem.reading.request import AskRequest
from tiermem.reading.research import new_searches
from tiermem.reading.search import LookUp
from tiermem.reading.turns import FoundTurn


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnSearchResult:
    """What looking further came to: the best wording, every one that was made, what was read, each round."""

    composed: ComposedAnswer
    wordings: tuple[ComposedAnswer, ...]
    evidence: tuple[Evidence, ...]
    rounds: tuple[Round, ...]
    degradations: tuple[Degradation, ...] = ()


class TurnSearchLoop:
    """One question's way through the turns. Made for one question, run once."""

    def __init__(self, asking: AskRequest, lookup: LookUp, composer: Composer) -> None:
        self._asking = asking
        self._lookup = lookup
        self._composer = composer
        self._rounds: list[Round] = []
        self._recalled: tuple[Evidence, ...] = ()
        self._new: list[Evidence] = []
        self._wordings: list[ComposedAnswer] = []
        self._degradations: list[Degradation] = []

    @property
    def looked_up(self) -> tuple[Evidence, ...]:
        """The turns that were put before the engine, also where that came to nothing."""
        return tuple(self._new)

    async def run(
        self, composed: ComposedAnswer, evidence: Sequence[Evidence], *, recalled: Sequence[Evidence]
    ) -> TurnSearchResult:
        """Look for what `composed`, worded from `evidence`, still misses; the planner is shown `recalled`.

        Raises what the model raises while there is no answer of its own to keep, and what the budget raises
        while nothing was worded.
        """
        self._recalled = tuple(recalled)
        try:
            await self._look(composed, evidence)
        except (ModelError, BudgetExceeded) as error:
            spent = isinstance(error, BudgetExceeded) and self._wordings
            if not spent and not any(one.holds for one in self._wordings):
                raise
            reason = f"{type(error).__name__}: {error}"
            self._degradations.append(
                Degradation(
                    stage="researched", reason=reason, fallback="the answer from what was read until then"
                )
            )
        return TurnSearchResult(
            composed=self._best(composed),
            wordings=tuple(self._wordings),
            evidence=tuple(self._new),
            rounds=tuple(self._rounds),
            degradations=tuple(self._degradations),
        )

    async def _look(self, composed: ComposedAnswer, evidence: Sequence[Evidence]) -> None:
        for number in range(1, self._asking.options.looks + 1):
            searches, reason = await self._plan(composed)
            turns = await self._turns(searches, evidence) if searches else ()
            self._keep(number, searches, turns, composed.missing, reason)
            if not turns:
                return
            worded = await self._word(composed, evidence, turns)
            self._wordings.append(worded)
            self._asking.steps.done(
                "compose", way="researched", checks=worded.checks, degradations=worded.degradations
            )
            composed = self._best(composed)
            if composed.suffices:
                return

    def _best(self, before: ComposedAnswer) -> ComposedAnswer:
        """The newest wording that is an answer; without one, the newest."""
        best = before
        for worded in self._wordings:
            best = better(worded, (best,))
        return best

    async def _plan(self, composed: ComposedAnswer) -> tuple[tuple[Search, ...], str]:
        check_budget()
        done = [search for one in self._rounds for search in one.searches]
        best = deduplicate((*composed.cited, *self._new, *self._recalled))
        known = fit_to_budget(best, self._asking.options.recall_tokens, self._asking.count)
        plan = self._asking.engine.plan
        assert plan is not None  # noqa: S101  (see `Engine.looks_further`)
        planned = await plan(self._asking.question, known, composed.missing, done)
        if planned.done:
            return (), "enough was found"
        return (
            new_searches(planned.searches, done, limit=self._asking.options.searches_per_round),
            "nothing new to look up",
        )

    async def _turns(self, searches: Sequence[Search], evidence: Sequence[Evidence]) -> tuple[FoundTurn, ...]:
        """The best turns of each look-up that were not shown yet."""
        shown = self._shown_spans(evidence)
        found: dict[int, FoundTurn] = {}
        with step("search"):
            for search in searches:
                most = self._asking.options.look_turns
                question = replace(self._asking.question, text=search.query)
                ranked = await self._lookup.turns(question, limit=most + len(shown))
                self._degradations += [one for one in ranked.degradations if one not in self._degradations]
                new = [turn for turn in ranked.turns if not shown.intersection(turn.evidence().spans)]
                for turn in new[:most]:
                    found.setdefault(turn.line.seq, turn)
        return tuple(found.values())

    def _shown_spans(self, evidence: Iterable[Evidence]) -> set[Span]:
        """The spans of the turns that were shown to the engine."""
        return {span for item in (*evidence, *self._new) if item.source == "turn" for span in item.spans}

    async def _word(
        self, composed: ComposedAnswer, evidence: Sequence[Evidence], turns: Sequence[FoundTurn]
    ) -> ComposedAnswer:
        """Again, from what was cited, what was just found with its neighbours, and the best of before."""
        tokens = self._asking.options.widen_tokens
        room = tokens - size(composed.cited, self._asking.count)
        wide = with_neighbours(turns, limit=len(turns), tokens=room, count=self._asking.count)
        pieces = deduplicate((*composed.cited, *wide, *self._new, *evidence))
        kept = fit_to_budget(pieces, tokens, self._asking.count)
        self._new = list(deduplicate((*self._new, *(item for item in wide if item in kept))))
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
        self._asking.steps.done("read", way="researched", rounds=(self._rounds[-1],))
