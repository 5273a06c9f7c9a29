"""The last step of a question, pure: parts become one `Answer` with its trace, proved facts findings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from pagestore import Page, PageId, SpaceId
from tiermem.dialogue.trust import DEFAULT_TRUST, TrustLevels
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
    Recalled,
    Trace,
)
from tiermem.reading.compose import Composed


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Everything one question went through, before it has an id and is recorded."""

    question: str
    asked_at: datetime
    recalled: Recalled
    decision: Decision
    from_summaries: Composed | None
    """The wording from units; kept when it did not hold and research followed."""
    findings: Findings | None
    """What research found; `None` when the units were enough."""
    composed: Composed
    """The wording that counts."""
    pages: Mapping[PageId, Page]
    """The pages that proved facts stand on."""
    head: int
    engine: str
    raw_tokens: int
    summary_tokens: int = 0
    may_escalate: bool = True

    @property
    def mode(self) -> AskMode:
        """What was asked for: the router's choice, or one route."""
        if self.may_escalate:
            return "router"
        return "raw" if self.decision.action == "ESCALATE" else "summary"

    @property
    def checks(self) -> tuple[Check, ...]:
        """The checks of every wording, in order."""
        earlier = () if self.findings is None or self.from_summaries is None else self.from_summaries.checks
        return (*earlier, *self.composed.checks)

    @property
    def degradations(self) -> tuple[Degradation, ...]:
        """What could not run as meant, each once, in order."""
        parts = (self.recalled, self.from_summaries, self.findings, self.composed)
        return tuple(dict.fromkeys(d for part in parts if part is not None for d in part.degradations))

    @property
    def candidates(self) -> tuple[Evidence, ...]:
        """Units by rank, the tail, then what searches brought."""
        first = (*self.recalled.units, *self.recalled.tail)
        return first if self.findings is None else (*first, *self.findings.evidence[len(first) :])


def answered(
    outcome: Outcome,
    *,
    answer_id: AnswerId,
    space: SpaceId,
    meter: Meter,
    trust: TrustLevels = DEFAULT_TRUST,
) -> Answer:
    """The answer as it is recorded."""
    composed = outcome.composed
    return Answer(
        id=answer_id,
        space=space,
        text=composed.text,
        route="ANSWER" if outcome.findings is None else "ESCALATE",
        citations=composed.citations,
        facts=composed.facts,
        abstained=composed.abstained,
        usage=meter.total(),
        trace=_trace(outcome, meter),
        trust=trust.lowest(citation.trust for citation in composed.citations),
    )


def _trace(outcome: Outcome, meter: Meter) -> Trace:
    recalled, findings = outcome.recalled, outcome.findings or Findings(evidence=())
    return Trace(
        question=outcome.question,
        asked_at=outcome.asked_at,
        as_of=recalled.as_of,
        head=outcome.head,
        engine=outcome.engine,
        candidates=outcome.candidates,
        decision=outcome.decision,
        rounds=findings.rounds,
        checks=outcome.checks,
        rejected=findings.rejected,
        prompts=tuple(meter.prompts),
        models=tuple(meter.models),
        usage=meter.by_step(),
        degradations=outcome.degradations,
        read_tokens=outcome.composed.read_tokens,
        raw_tokens=outcome.raw_tokens,
        summary_tokens=outcome.summary_tokens,
        session=recalled.session,
        mode=outcome.mode,
        budget=meter.budget,
        dropped=recalled.dropped + findings.dropped,
        min_trust=recalled.min_trust,
    )


def pending_findings(answer: Answer, outcome: Outcome) -> tuple[Finding, ...]:
    """The proved facts of a successful escalation, for write-back to decide on.

    None from a question about a past moment: what held then must not return as if it were new.
    """
    if outcome.findings is None or answer.abstained or outcome.recalled.as_of is not None:
        return ()
    found: dict[str, Finding] = {}
    for fact in outcome.findings.facts:
        page = outcome.pages.get(fact.spans[0].page_id) if fact.spans else None
        if fact.grade != "verbatim" or page is None:
            continue
        identity = finding_id(answer.space, answer.id, fact.claim, fact.spans)
        line = next((line for line in page.lines if line.start <= fact.spans[0].start < line.end), None)
        found[identity] = Finding(
            id=identity,
            answer_id=answer.id,
            question=outcome.question,
            fact=fact,
            session=page.session,
            said_at=line.turn.said_at if line is not None and line.turn is not None else None,
        )
    return tuple(found.values())
