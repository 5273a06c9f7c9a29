"""The last step of a question, pure: parts become one `Answer` with its trace, confirmed facts findings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pagestore import Page, PageId, SpaceId
from tiermem.ledger import finding_id
from tiermem.llm.meter import Meter
from tiermem.model import (
    Answer,
    AnswerId,
    AskMode,
    Check,
    Decision,
    Degradation,
    Evidence,
    Finding,
    Findings,
    LinkedFact,
    Recalled,
    Round,
    Trace,
    Way,
)
from tiermem.reading.compose import ComposedAnswer
from tiermem.reading.view import Scope
from tiermem.text.question import Question
from tiermem.trust import DEFAULT_TRUST, TrustLevels


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Everything one question went through, before it has an id and is recorded."""

    question: Question
    mode: AskMode
    scope: Scope
    recalled: Recalled
    decision: Decision
    attempts: tuple[ComposedAnswer, ...]
    """The other wordings, in the order they were made."""
    composed: ComposedAnswer
    """The wording that counts."""
    way: Way
    evidence: tuple[Evidence, ...]
    """Everything that was put before the engine, what was recalled first."""
    findings: Findings | None
    """What research found; `None` where none was made."""
    facts: tuple[LinkedFact, ...]
    """Facts that code confirmed for this answer. Write-back may keep them."""
    pages: Mapping[PageId, Page]
    """The pages that these facts cite."""
    head: int
    engine: str
    raw_tokens: int
    rounds: tuple[Round, ...] = ()
    """The rounds in which pages or turns were read, also where no wording came of them."""
    summary_tokens: int = 0
    degradations: tuple[Degradation, ...] = ()
    aside: Mapping[PageId, str] = field(default_factory=dict)
    """Pages on which reading raised something unexpected, which were then left out, and why."""

    @property
    def checks(self) -> tuple[Check, ...]:
        """The checks of every wording, that of the one that counts last."""
        return tuple(check for one in (*self.attempts, self.composed) for check in one.checks)

    @property
    def all_degradations(self) -> tuple[Degradation, ...]:
        """What could not run as meant, each once, in order."""
        parts = (self.recalled, *self.attempts, self.findings, self.composed, self)
        return tuple(dict.fromkeys(d for part in parts if part is not None for d in part.degradations))


def build_answer(
    outcome: Outcome,
    *,
    answer_id: AnswerId,
    space: SpaceId,
    meter: Meter,
    trust: TrustLevels = DEFAULT_TRUST,
) -> Answer:
    """The answer as it is recorded."""
    composed = outcome.composed
    check = composed.check or Check(support="worded")
    return Answer(
        id=answer_id,
        space=space,
        text=composed.text,
        route="ANSWER" if outcome.way == "recall" else "ESCALATE",
        citations=composed.citations,
        facts=composed.facts,
        abstained=composed.abstained,
        usage=meter.total(),
        trace=_trace(outcome, meter),
        trust=trust.lowest(citation.trust for citation in composed.citations),
        support=composed.support,
        derivations=check.derivations,
        unsupported=check.unsupported,
        cautions=check.cautions,
        sentences=composed.sentences,
        said=composed.said,
        complete=None if outcome.decision.router == "said" else composed.complete,
        missing=composed.missing,
        explanation=composed.explanation,
        probability=composed.probability,
    )


def _trace(outcome: Outcome, meter: Meter) -> Trace:
    recalled, findings, scope = outcome.recalled, outcome.findings or Findings(evidence=()), outcome.scope
    return Trace(
        question=outcome.question.text,
        asked_at=outcome.question.asked_at,
        as_of=scope.as_of,
        head=outcome.head,
        engine=outcome.engine,
        candidates=outcome.evidence,
        decision=outcome.decision,
        rounds=outcome.rounds,
        checks=outcome.checks,
        rejected=findings.rejected,
        prompts=tuple(meter.prompts),
        models=tuple(meter.models),
        usage=meter.by_step(),
        degradations=outcome.all_degradations,
        read_tokens=outcome.composed.read_tokens,
        raw_tokens=outcome.raw_tokens,
        summary_tokens=outcome.summary_tokens,
        session=scope.session,
        mode=outcome.mode,
        budget=meter.budget,
        dropped=recalled.dropped + findings.dropped,
        min_trust=scope.min_trust,
        turns=scope.turns,
        way=outcome.way,
        agent=scope.sees.agent,
    )


def pending_findings(answer: Answer, outcome: Outcome) -> tuple[Finding, ...]:
    """Return the confirmed facts of a question for which more was read, for write-back to decide on.

    None from a question about a past moment: what held then must not return as if it were new.
    """
    if answer.abstained or outcome.scope.as_of is not None:
        return ()
    found: dict[str, Finding] = {}
    for fact in outcome.facts:
        page = outcome.pages.get(fact.spans[0].page_id) if fact.spans else None
        if page is None:
            continue
        identity = finding_id(answer.space, answer.id, fact.claim, fact.spans)
        line = next((line for line in page.lines if line.start <= fact.spans[0].start < line.end), None)
        found[identity] = Finding(
            id=identity,
            answer_id=answer.id,
            question=outcome.question.text,
            fact=fact,
            session=page.session,
            said_at=line.turn.said_at if line is not None and line.turn is not None else None,
        )
    return tuple(found.values())
