"""The seven judgement calls, as typed questions. Who answers, a model or local rules, is one file each.

A reasoner only judges. It is never trusted with provenance: what it claims is linked to pages by
code (`tiermem.text`), and what cannot be linked is rejected there. It may raise `ModelError` or
`BudgetExceeded`; nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from pagestore import Page
from tiermem.model import Action, Claim, Evidence, LinkedFact, Op, Search, SummaryUnit, UnitId


@dataclass(frozen=True, slots=True, kw_only=True)
class Sufficiency:
    """Whether the recalled units hold the answer."""

    action: Action
    confidence: float
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PageView:
    """A page as research reads it: its words, and the units already linked to it."""

    page: Page
    units: tuple[SummaryUnit, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Integrated:
    """What pages gave for a question, and in words what is covered and what is missing."""

    claims: tuple[Claim, ...]
    coverage: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Look further, or stop."""

    done: bool
    reason: str
    searches: tuple[Search, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """The answer in words. `cited` are indices into the evidence given; empty when abstaining."""

    text: str
    cited: tuple[int, ...]
    abstained: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """What to do with a fact beside its nearest units.

    UPDATE merges into `target` with `text`; ADD with `supersedes` says the fact is newer and
    contradicts those units.
    """

    op: Op
    reason: str
    target: UnitId | None = None
    text: str | None = None
    supersedes: tuple[UnitId, ...] = ()


class Reasoner(Protocol):
    """Answers the typed questions. `name` goes into traces and `made_by`."""

    @property
    def name(self) -> str:
        """How traces and units call it."""
        ...

    async def distil(self, page: Page, *, hints: Sequence[str] = ()) -> tuple[Claim, ...]:
        """Self-contained facts of a page, each with its words. `hints` are things an earlier try lost."""
        ...

    async def route(self, question: str, units: Sequence[Evidence], *, asked_at: datetime) -> Sufficiency:
        """Do these units answer the question without guessing?"""
        ...

    async def integrate(
        self, question: str, pages: Sequence[PageView], known: Sequence[LinkedFact], *, asked_at: datetime
    ) -> Integrated:
        """Facts of these pages that help to answer, each with an exact quote."""
        ...

    async def plan(
        self,
        question: str,
        facts: Sequence[LinkedFact],
        coverage: str,
        done: Sequence[Search],
        *,
        asked_at: datetime,
    ) -> Plan:
        """Is this enough? If not, what to look up next (never what was looked up before)."""
        ...

    async def compose(self, question: str, evidence: Sequence[Evidence], *, asked_at: datetime) -> Draft:
        """Word the answer from the evidence alone, citing it by index, or abstain."""
        ...

    async def select(
        self, question: str, facts: Sequence[LinkedFact], pages: Sequence[Page]
    ) -> tuple[int, ...]:
        """Indices of the facts worth keeping: relevant, specific, grounded, self-contained."""
        ...

    async def reconcile(self, fact: LinkedFact, neighbours: Sequence[SummaryUnit]) -> Operation:
        """ADD, UPDATE or SKIP a fact beside its nearest units (none given: ADD or SKIP only)."""
        ...
