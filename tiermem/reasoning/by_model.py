"""The typed questions asked of a language model, with the prompts in `prompts/`.

The model sees numbers, never ids; a number it was not shown is dropped. Each question is paid as a step
of its own name. What the model claims is only a claim: linking it to pages is the work of others.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TypeVar

from pydantic import BaseModel

from pagestore import Page
from tiermem.llm.interface import LanguageModel, Role
from tiermem.llm.meter import step
from tiermem.llm.prompts import load
from tiermem.llm.typed import ask_typed
from tiermem.model import Claim, Evidence, LinkedFact, Search, SummaryUnit
from tiermem.reasoning import shown
from tiermem.reasoning.interface import Draft, Integrated, Operation, PageView, Plan, Sufficiency
from tiermem.reasoning.replies import (
    ComposeReply,
    DistilReply,
    IntegrateReply,
    PlanReply,
    ReconcileReply,
    RouteReply,
    SearchCommand,
    SelectReply,
)

T = TypeVar("T", bound=BaseModel)

_UNSTATED = 0.5
"""Importance or confidence where the model gave none."""

_ROOM_FOR_FACTS = 4096
"""Tokens for replies that quote pages: the facts of a full page can be longer than the page."""


class ByModel:
    """Answers the typed questions through a language model; raises `ModelError` or `BudgetExceeded`."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model

    @property
    def name(self) -> str:
        """`model:` and the model that distils: who made the units."""
        return f"model:{self._model.model_for('distil')}"

    async def distil(self, page: Page, *, hints: Sequence[str] = ()) -> tuple[Claim, ...]:
        """Self-contained facts of a page. `MalformedReply` leaves the page for a later try."""
        reply = await self._ask(
            "distil", DistilReply, page=page.text, hints=shown.listed(hints), max_tokens=_ROOM_FOR_FACTS
        )
        return tuple(
            Claim(
                text=fact.fact.strip(),
                quotes=(fact.evidence_quote.strip(),),
                scene=fact.scene,
                event_at=fact.event_at,
                importance=_UNSTATED if fact.importance is None else fact.importance,
            )
            for fact in reply.facts
            if fact.fact.strip()
        )

    async def route(self, question: str, units: Sequence[Evidence], *, asked_at: datetime) -> Sufficiency:
        """Whether the summaries state the answer. With nothing recalled no model needs to be asked."""
        if not units:
            return Sufficiency(action="ESCALATE", confidence=1.0, reason="nothing was recalled")
        reply = await self._ask(
            "route",
            RouteReply,
            question=question,
            summaries=shown.evidence(units),
            asked_at=shown.moment(asked_at),
        )
        return Sufficiency(
            action="ANSWER" if reply.action == "S" else "ESCALATE",
            confidence=_UNSTATED if reply.confidence is None else reply.confidence,
            reason=reply.thinking or f"the model chose {reply.action}",
        )

    async def integrate(
        self, question: str, pages: Sequence[PageView], known: Sequence[LinkedFact], *, asked_at: datetime
    ) -> Integrated:
        """Facts of these pages that help to answer, each with an exact quote."""
        if not pages:
            return Integrated(claims=(), coverage="no page was read")
        reply = await self._ask(
            "integrate",
            IntegrateReply,
            question=question,
            pages=shown.pages(pages),
            known=shown.known(known),
            asked_at=shown.moment(asked_at),
            max_tokens=_ROOM_FOR_FACTS,
        )
        claims = tuple(
            Claim(text=found.fact.strip(), quotes=(found.evidence_quote.strip(),), event_at=found.event_at)
            for found in reply.linked_facts
            if found.fact.strip()
        )
        return Integrated(claims=claims, coverage=reply.coverage_assessment.strip())

    async def plan(
        self,
        question: str,
        facts: Sequence[LinkedFact],
        coverage: str,
        done: Sequence[Search],
        *,
        asked_at: datetime,
    ) -> Plan:
        """Is this enough? If not, what to look up next; look-ups made before are left out."""
        reply = await self._ask(
            "plan",
            PlanReply,
            question=question,
            facts=shown.known(facts),
            coverage=coverage,
            searched=shown.searches(done),
            asked_at=shown.moment(asked_at),
        )
        reason = reply.reasoning or reply.decision
        if reply.decision == "DONE":
            return Plan(done=True, reason=reason)
        return Plan(done=False, reason=reason, searches=_new_searches(reply.search_commands, done))

    async def compose(self, question: str, evidence: Sequence[Evidence], *, asked_at: datetime) -> Draft:
        """Word the answer from the evidence alone. Without evidence there is nothing to ask a model."""
        if not evidence:
            return Draft(text="Nothing in memory tells.", cited=(), abstained=True)
        reply = await self._ask(
            "compose",
            ComposeReply,
            question=question,
            evidence=shown.evidence(evidence),
            asked_at=shown.moment(asked_at),
        )
        cited = () if reply.abstained else _shown_numbers(reply.cited, len(evidence))
        return Draft(text=reply.answer.strip(), cited=cited, abstained=reply.abstained)

    async def select(
        self, question: str, facts: Sequence[LinkedFact], pages: Sequence[Page]
    ) -> tuple[int, ...]:
        """Indices of the facts worth keeping."""
        if not facts:
            return ()
        reply = await self._ask(
            "select", SelectReply, question=question, facts=shown.facts_in_context(facts, pages)
        )
        return _shown_numbers(reply.selected, len(facts))

    async def reconcile(self, fact: LinkedFact, neighbours: Sequence[SummaryUnit]) -> Operation:
        """ADD, UPDATE or SKIP a fact beside its nearest units."""
        reply = await self._ask(
            "reconcile", ReconcileReply, fact=shown.fact(fact), entries=shown.units(neighbours)
        )
        return _operation(reply, neighbours)

    async def _ask(self, role: Role, reply_type: type[T], *, max_tokens: int = 2048, **values: str) -> T:
        with step(role):
            return await ask_typed(
                self._model, load(role), values, reply_type, role=role, max_tokens=max_tokens
            )


def _shown_numbers(numbers: Iterable[int], count: int) -> tuple[int, ...]:
    """The numbers that were shown, each once, in the order given."""
    return tuple(dict.fromkeys(number for number in numbers if 0 <= number < count))


def _new_searches(commands: Sequence[SearchCommand], done: Sequence[Search]) -> tuple[Search, ...]:
    seen = {_same(search) for search in done}
    wanted: list[Search] = []
    for command in commands:
        search = _search(command)
        if search is not None and _same(search) not in seen:
            seen.add(_same(search))
            wanted.append(search)
    return tuple(wanted)


def _same(search: Search) -> tuple[str, str]:
    return search.kind, " ".join(search.query.casefold().split())


def _search(command: SearchCommand) -> Search | None:
    """The look-up a command asks for; `None` for an unknown type or no words."""
    match command.type:
        case "SEMANTIC_SEARCH" | "MEM0_SEARCH":
            query = (command.query or "").strip()
            return Search(kind="SEMANTIC", query=query) if query else None
        case "KEYWORD_SEARCH":
            words = " ".join(word.strip() for word in command.keywords or () if word.strip())
            return Search(kind="KEYWORD", query=words) if words else None
        case _:
            return None


def _operation(reply: ReconcileReply, neighbours: Sequence[SummaryUnit]) -> Operation:
    """The operation a reply asks for. An unknown one, or an unknown target, leaves memory as it is.

    A merge into what the fact contradicts would blend two truths: it becomes an ADD beside it.
    """
    contradicted = tuple(neighbours[n].id for n in _shown_numbers(reply.contradicts, len(neighbours)))
    reason = reply.reason or f"the model chose {reply.operation!r}"
    match reply.operation:
        case "ADD":
            return Operation(op="ADD", reason=reason, supersedes=contradicted)
        case "UPDATE" if contradicted:
            return Operation(op="ADD", reason=reason, supersedes=contradicted)
        case "UPDATE" if reply.text and reply.target is not None and 0 <= reply.target < len(neighbours):
            return Operation(op="UPDATE", reason=reason, target=neighbours[reply.target].id, text=reply.text)
        case "UPDATE":
            return Operation(op="SKIP", reason="UPDATE of an entry that was not shown, or without a text")
        case "SKIP":
            return Operation(op="SKIP", reason=reason)
        case _:
            return Operation(op="SKIP", reason=f"unknown operation {reply.operation[:40]!r}")
