"""The order of the reading steps of one question: recall, route, answer. Nothing is recorded here."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from pagestore import SessionId
from tiermem.errors import BudgetExceeded
from tiermem.llm.meter import step
from tiermem.model import Decision, Degradation, Recalled
from tiermem.reading import Outcome, Reader
from tiermem.routing import Router


async def asked(
    reader: Reader,
    router: Router,
    question: str,
    *,
    session: SessionId | None,
    asked_at: datetime,
    as_of: datetime | None,
    min_trust: str | None,
    may_escalate: bool,
) -> Outcome:
    """What one question comes to."""
    with step("recall"):
        recalled = await reader.recall(
            question, session=session, asked_at=asked_at, as_of=as_of, min_trust=min_trust
        )
    with step("route"):
        recalled, decision = await routed(router, question, recalled, asked_at=asked_at)
    return await reader.answer(question, recalled, decision, asked_at=asked_at, may_escalate=may_escalate)


async def routed(
    router: Router, question: str, recalled: Recalled, *, asked_at: datetime
) -> tuple[Recalled, Decision]:
    """The router's decision; with the budget spent, what was recalled must do, and the trace says so."""
    try:
        return recalled, await router.decide(question, recalled, asked_at=asked_at)
    except BudgetExceeded as error:
        told = Degradation(stage="route", reason=str(error), fallback="answer from what was recalled")
        decision = Decision(action="ANSWER", confidence=0.0, reason=str(error), router=router.name)
        return replace(recalled, degradations=(*recalled.degradations, told)), decision
