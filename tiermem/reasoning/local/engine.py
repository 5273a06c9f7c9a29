"""The seven typed questions answered by rules: no model, no network, the same answer every time."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from pagestore import Page
from tiermem.model import Claim, Evidence, LinkedFact, Search, SummaryUnit
from tiermem.reasoning.interface import Draft, Integrated, Operation, PageView, Plan, Sufficiency
from tiermem.reasoning.local.compose import compose
from tiermem.reasoning.local.distil import distil
from tiermem.reasoning.local.keep import reconcile, select
from tiermem.reasoning.local.research import integrate, plan
from tiermem.reasoning.sufficiency import SufficiencyOptions, assess


class Local:
    """Implements `Reasoner` with code alone. It never raises on any text and costs no tokens."""

    name = "local"

    def __init__(self, sufficiency: SufficiencyOptions | None = None) -> None:
        self._sufficiency = sufficiency or SufficiencyOptions()

    async def distil(self, page: Page, *, hints: Sequence[str] = ()) -> tuple[Claim, ...]:
        """Salient sentences in their speakers' own words, relative dates worked out."""
        return distil(page, hints)

    async def route(self, question: str, units: Sequence[Evidence], *, asked_at: datetime) -> Sufficiency:
        """Judge by terms, people and the kind of detail asked for."""
        return assess(question, units, self._sufficiency)

    async def integrate(
        self, question: str, pages: Sequence[PageView], known: Sequence[LinkedFact], *, asked_at: datetime
    ) -> Integrated:
        """The statements that cover the question best, each with its exact words."""
        return integrate(question, pages, known)

    async def plan(
        self,
        question: str,
        facts: Sequence[LinkedFact],
        coverage: str,
        done: Sequence[Search],
        *,
        asked_at: datetime,
    ) -> Plan:
        """Search for missing terms until a fact covers the question or nothing new is left to try."""
        return plan(question, facts, done)

    async def compose(self, question: str, evidence: Sequence[Evidence], *, asked_at: datetime) -> Draft:
        """A short extract of the best statement, or an abstention."""
        return compose(question, evidence)

    async def select(
        self, question: str, facts: Sequence[LinkedFact], pages: Sequence[Page]
    ) -> tuple[int, ...]:
        """Proved facts that are about the question and specific."""
        return select(question, facts)

    async def reconcile(self, fact: LinkedFact, neighbours: Sequence[SummaryUnit]) -> Operation:
        """Compare words, literals, speaker and negation with each neighbour."""
        return reconcile(fact, neighbours)
