"""The way of a question: recall, decide and answer, widen, look further or research, each only where needed.

`ask` is the description of the system. Nothing is recorded here, and nothing is read twice: all steps
share one view.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from pagestore import PageId
from tiermem.errors import BudgetExceeded, MalformedReply, ModelError
from tiermem.llm.meter import step
from tiermem.model import (
    NEAREST,
    SAID_ABOUT,
    Action,
    AskMode,
    Decision,
    Degradation,
    Evidence,
    Findings,
    LinkedFact,
    Recalled,
    Round,
    Way,
    lines_as_text,
)
from tiermem.reading.answer import Outcome
from tiermem.reading.compose import (
    ABSTENTION,
    NOTHING_FITS,
    ComposedAnswer,
    Composer,
    EvidenceItem,
    abstention,
    better,
)
from tiermem.reading.look_further import Rounds
from tiermem.reading.neighbours import with_neighbours
from tiermem.reading.quoting import size
from tiermem.reading.recall import deduplicate, recall
from tiermem.reading.replies import Replies
from tiermem.reading.request import AskRequest
from tiermem.reading.research import PageRounds
from tiermem.reading.said import find_lines
from tiermem.reading.search import LookUp, linked_pages
from tiermem.reading.turn_search import TurnRounds

SAID = Decision(
    action="ANSWER",
    score=None,
    reason="no model is named: lines are displayed as they were said",
    router="said",
)
"""What is decided without a model: lines are displayed as they were said."""
LINES = "lines as they were said"
"""What a degradation says where nothing can be worded."""
FUSED = "fused"
"""The router's name where no router decides beforehand: the wording says itself whether it is complete."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Step:
    """The best wording so far, those that this step made, the evidence they were given, and how."""

    composed: ComposedAnswer
    way: Way
    wordings: tuple[ComposedAnswer, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    findings: Findings | None = None


async def ask(asking: AskRequest) -> Outcome:
    """Answer one question.

    Raises `MalformedReply` where no reply of the model could be used, the decision of a router apart.
    """
    reading = _QuestionRun(asking)
    with step("recall"):
        recalled = await recall(
            asking.question,
            reading.lookup,
            count=asking.count,
            options=asking.options,
        )
    asking.steps.done("recall", candidates=recalled.items, degradations=recalled.degradations)
    if asking.engine.compose is None:
        return await reading.display_lines(recalled)
    decision, first = await reading.decide(recalled)
    steps = [first] if first is not None else []
    for strategy in reading.strategies(first):
        if steps and steps[-1].composed.suffices:
            break
        steps.append(await reading.look_further(strategy, recalled, steps))
    return await reading.outcome(recalled, decision, steps)


class _QuestionRun:
    """The steps of one question."""

    def __init__(self, asking: AskRequest) -> None:
        self._replies = Replies()
        self._asking = asking = replace(asking, engine=self._replies.observe_replies(asking.engine))
        self._fused = asking.engine.route is None
        self._degradations: list[Degradation] = []
        # What was shown to the engine is recorded with the answer even if no wording came of it: a reason may
        # repeat it, and must go when it is erased.
        self._shown: list[Evidence] = []
        self._rounds: tuple[Round, ...] = ()
        self.lookup = LookUp(asking.view, asking.options, reranker=asking.reranker)
        self._composer = Composer(asking)

    async def display_lines(self, recalled: Recalled) -> Outcome:
        """What was said about the question; nothing is worded or read further."""
        self._asking.steps.done("route", decision=SAID)
        composed = await self._with_lines(ComposedAnswer(text=ABSTENTION, abstained=True))
        return await self.outcome(recalled, SAID, [_Step(composed=composed, way="recall")])

    async def decide(self, recalled: Recalled) -> tuple[Decision, _Step | None]:
        """What the router decides, and the answer from what was recalled where it is to be tried."""
        asking = self._asking
        if asking.mode == "router" and self._fused:
            first = await self._from_recall(recalled)
            decision = fused_decision(first.composed)
            asking.steps.done("route", decision=decision)
            return decision, first
        decision = _mode_decision(asking.mode) if asking.mode != "router" else await self._route(recalled)
        asking.steps.done("route", decision=decision)
        if decision.action == "ESCALATE" and asking.engine.looks_further:
            return decision, None
        return decision, await self._from_recall(recalled)

    async def _route(self, recalled: Recalled) -> Decision:
        """The router's decision; with the budget spent, what was recalled must do, and the trace says so."""
        route = self._asking.engine.route
        assert route is not None  # noqa: S101  (fused questions do not come here)
        try:
            with step("route"):
                return await route(self._asking.question, recalled.items)
        except BudgetExceeded as error:
            self._note("route", error, "answer from what was recalled")
            return Decision(action="ANSWER", score=None, reason=str(error), router="budget")

    def strategies(self, first: _Step | None) -> tuple[Strategy, ...]:
        """How to look further, in order, where the answer does not suffice.

        Where a wording is a part of an answer, or names look-ups, what it misses is looked for among turns at
        once; else more turns are read first. Pages are read where a router decided, and where they are asked
        for.
        """
        asking = self._asking
        is_fused = self._fused and asking.mode == "router"
        if is_fused and first is not None and first.composed.searches is not None:
            return (TURNS,)
        if asking.mode == "summary" or not asking.engine.looks_further:
            return ()
        if not is_fused:
            return (PAGES,)
        return (TURNS,) if first is not None and first.composed.holds else (WIDEN, TURNS)

    async def look_further(self, strategy: Strategy, recalled: Recalled, steps: list[_Step]) -> _Step:
        """The next step. If a model fails or the budget is spent, what there is is kept, with a note."""
        try:
            return await strategy.look(self, recalled, steps)
        except (ModelError, BudgetExceeded) as error:
            if _latest_answer(steps) is None and not self._leaves_abstention(error):
                raise
            kept = self._fall_back(strategy.way, error, steps)
            return _Step(composed=kept.composed, way=kept.way, evidence=kept.evidence)

    def _fall_back(self, stage: str, error: Exception, steps: list[_Step]) -> _Step:
        """The latest step that has an answer, else the latest one, in place of a step that failed; noted."""
        answered = _latest_answer(steps)
        self._note(stage, error, LINES if answered is None else "the answer from what was read until then")
        return answered or (steps[-1] if steps else _Step(composed=abstention(), way="recall"))

    def _leaves_abstention(self, error: Exception) -> bool:
        """Whether the question ends without an answer, and not with this error."""
        if isinstance(error, MalformedReply):
            return self._replies.has_usable
        return isinstance(error, BudgetExceeded)

    async def _from_recall(self, recalled: Recalled) -> _Step:
        try:
            composed = await self._composer.word([_item(item) for item in recalled.items])
        except BudgetExceeded as error:
            return self._fall_back("compose", error, [])
        self._record_wording(composed, "recall")
        return _Step(composed=composed, way="recall", wordings=(composed,), evidence=recalled.items)

    async def widen(self, recalled: Recalled, steps: list[_Step]) -> _Step:
        """The best turns with their neighbours, and all that was recalled other than turns."""
        evidence = _with_turns(recalled.items, await self._wide())
        self._shown += evidence
        self._asking.steps.done("widen", way="widened", candidates=evidence)
        composed = await self._composer.word([_item(item) for item in evidence])
        self._record_wording(composed, "widened")
        return _Step(composed=_best(composed, steps), way="widened", wordings=(composed,), evidence=evidence)

    async def _wide(self) -> tuple[Evidence, ...]:
        """The best turns for the question with their neighbours."""
        options = self._asking.options
        found = await self.lookup.turns(self._asking.question, limit=options.widen_turns)
        self._degradations += found.degradations
        return with_neighbours(
            found.turns, limit=options.widen_turns, tokens=options.widen_tokens, count=self._asking.count
        )

    async def look_among_turns(self, recalled: Recalled, steps: list[_Step]) -> _Step:
        """Rounds over turns, for what the answer so far misses."""
        # A wider look that failed left no evidence: what was there before it is gone on from.
        before = next((one for one in reversed(steps) if one.evidence), steps[-1])
        rounds = TurnRounds(
            self._asking,
            self.lookup,
            self._composer,
            composed=before.composed,
            evidence=before.evidence,
            recalled=recalled.items,
        )
        await self._look(rounds)
        found = deduplicate((*before.evidence, *rounds.findings.evidence))
        return _Step(
            composed=_best(rounds.composed, steps),
            way="researched" if rounds.is_read else steps[-1].way,
            wordings=tuple(rounds.wordings),
            findings=replace(rounds.findings, evidence=found),
        )

    async def _look(self, rounds: Rounds[Any]) -> None:
        try:
            await rounds.look()
        finally:
            self._shown += rounds.findings.evidence
            self._rounds = rounds.findings.rounds

    async def look_at_pages(self, recalled: Recalled, steps: list[_Step]) -> _Step:
        """Rounds over pages, and the answer from the facts of these."""
        rounds = PageRounds(self._asking, self.lookup, self._composer, recalled)
        await self._look(rounds)
        findings = rounds.findings
        self._replies.check_usable()
        facts = await self._composer.of_facts(findings.facts)
        besides = await self._evidence_without_facts(findings)
        self._shown += besides
        made = partial(_Step, evidence=besides, findings=findings)
        try:
            composed = await self._composer.word([*facts, *map(_item, besides)])
        except (ModelError, BudgetExceeded) as error:
            if _latest_answer(steps) is None and isinstance(error, ModelError):
                raise
            kept = self._fall_back("researched", error, steps)
            return made(composed=kept.composed, way="researched" if rounds.is_read else kept.way)
        self._record_wording(composed, "researched")
        return made(composed=_best(composed, steps), way="researched", wordings=(composed,))

    async def _evidence_without_facts(self, findings: Findings) -> tuple[Evidence, ...]:
        """What was recalled that no fact tells; where nothing was found on the pages, more turns as well."""
        known_spans = {span for fact in findings.facts for span in fact.spans}
        kept = tuple(item for item in findings.evidence if not known_spans.issuperset(item.spans))
        if findings.facts:
            return kept
        wide = await self._wide()
        return _with_turns(kept, wide) if wide else kept

    async def outcome(self, recalled: Recalled, decision: Decision, steps: list[_Step]) -> Outcome:
        """All of it, as the answer is made from."""
        asking, view, last = self._asking, self._asking.view, steps[-1]
        composed = last.composed
        if asking.engine.compose is not None and not composed.holds:
            composed = await self._with_lines(abstention(composed))
        findings = next((one.findings for one in reversed(steps) if one.findings is not None), None)
        facts = _confirmed_facts(composed, findings, last.way)
        return Outcome(
            question=asking.question,
            mode=asking.mode,
            scope=view.scope,
            recalled=recalled,
            decision=decision,
            attempts=tuple(w for one in steps for w in one.wordings if w is not last.composed),
            composed=composed,
            way=last.way,
            evidence=deduplicate((*_read_by(recalled, steps), *self._shown)),
            findings=findings,
            rounds=findings.rounds if findings is not None else self._rounds,
            facts=facts,
            pages=(await view.fetch(fact.spans[0].page_id for fact in facts)).pages,
            head=view.tier1.head if view.scope.as_of is not None else view.ledger.tier1.head,
            engine=asking.engine.name,
            raw_tokens=await self._raw_tokens(recalled),
            summary_tokens=size(recalled.items, asking.count),
            degradations=tuple(self._degradations),
        )

    async def _with_lines(self, composed: ComposedAnswer) -> ComposedAnswer:
        """An abstention with what was said about the question; no abstention where no model is named, and the
        first line is likely to hold what is asked for.
        """
        engine = self._asking.engine
        found = await find_lines(self._asking.question, self.lookup, engine.point)
        self._degradations += found.degradations
        if not found.lines:
            scope = self._asking.view.scope
            is_filtered = scope.session is not None or scope.filters or not scope.is_open
            return replace(composed, text=NOTHING_FITS) if is_filtered else composed
        shown = replace(composed, text=lines_as_text(NEAREST, found.lines), said=found.lines)
        if engine.compose is not None:
            return shown
        tokens = self._asking.count(shown.text)
        shown = replace(shown, probability=found.probability, read_tokens=tokens)
        if not found.is_likely:
            return shown
        text = lines_as_text(SAID_ABOUT, found.lines)
        return replace(shown, text=text, abstained=False, citations=found.citations)

    async def _raw_tokens(self, recalled: Recalled) -> int:
        """What reading the linked pages would cost: the tokens of the pages round 0 reads."""
        linked = linked_pages(recalled.items)[: self._asking.options.pages_per_round]
        fetched = await self._asking.view.fetch(PageId(hit.id) for hit in linked)
        return sum(
            self._asking.count(page.text) for page in {p.id: p for p in fetched.pages.values()}.values()
        )

    def _note(self, stage: str, error: Exception, fallback: str) -> None:
        reason = f"{type(error).__name__}: {error}"
        self._degradations.append(Degradation(stage=stage, reason=reason, fallback=fallback))
        self._asking.steps.done("fallback", degradations=tuple(self._degradations[-1:]))

    def _record_wording(self, composed: ComposedAnswer, way: Way) -> None:
        self._asking.steps.done(
            "compose", way=way, checks=composed.checks, degradations=composed.degradations
        )


@dataclass(frozen=True, slots=True)
class Strategy:
    """A way to look further, and what does it."""

    way: Way
    look: Callable[[_QuestionRun, Recalled, list[_Step]], Awaitable[_Step]]


WIDEN = Strategy("widened", _QuestionRun.widen)
"""More turns with their neighbours, and one wording."""
TURNS = Strategy("researched", _QuestionRun.look_among_turns)
PAGES = Strategy("researched", _QuestionRun.look_at_pages)


def fused_decision(first: ComposedAnswer) -> Decision:
    """What a wording decides about itself: enough, or read more."""
    if first.suffices:
        why = "no reading would tell more" if first.abstained else "what was recalled tells it"
        return Decision(action="ANSWER", score=None, reason=why, router=FUSED)
    reason = first.missing or first.explanation or first.declined or "what was recalled does not tell it"
    return Decision(action="ESCALATE", score=None, reason=reason, router=FUSED)


def _mode_decision(mode: AskMode) -> Decision:
    action: Action = "ANSWER" if mode == "summary" else "ESCALATE"
    return Decision(action=action, score=None, reason=f"asked with mode {mode!r}", router="mode")


def _item(evidence: Evidence) -> EvidenceItem:
    return EvidenceItem(evidence=evidence)


def _with_turns(found: Sequence[Evidence], wide: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """What was found other than turns, then turns in the order they were said."""
    return deduplicate((*(item for item in found if item.source != "turn"), *wide))


def _latest_answer(steps: list[_Step]) -> _Step | None:
    """The latest step that has an answer."""
    return next((one for one in reversed(steps) if one.composed.holds), None)


def _best(new: ComposedAnswer, steps: list[_Step]) -> ComposedAnswer:
    """The new wording, or the one of an earlier step that it does not better."""
    return better(new, (one.composed for one in reversed(steps)))


def _confirmed_facts(composed: ComposedAnswer, findings: Findings | None, way: Way) -> tuple[LinkedFact, ...]:
    """Return the confirmed facts that memory may keep: none if no more was read than was recalled."""
    facts = findings.facts if findings is not None else ()
    stated = (composed.statement,) if composed.statement is not None and way != "recall" else ()
    return tuple(fact for fact in (*facts, *stated) if fact.is_supported)


def _read_by(recalled: Recalled, steps: list[_Step]) -> tuple[Evidence, ...]:
    """Everything that was put before the engine, each once, what was recalled first."""
    found = (item for one in steps for item in one.evidence)
    later = (i for one in steps if one.findings is not None for i in one.findings.evidence)
    return deduplicate((*recalled.items, *found, *later))
