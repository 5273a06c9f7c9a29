"""A reasoner that distils facts a large language model wrote down earlier, turn by turn.

So Tier 1 is what a real model makes of a conversation, without a model and the same every time.
Everything but distilling is asked of another reasoner.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path

from eval.corpus import turn_id
from eval.types import Case, Passage
from pagestore import Page
from tiermem.errors import InvalidInput
from tiermem.model import Claim, Evidence, LinkedFact, Search, SummaryUnit
from tiermem.reasoning import Draft, Integrated, Operation, PageView, Plan, Reasoner, Sufficiency


class Recorded:
    """Serves a page the facts that rest on its turns. `facts` are by the id a turn is stored under."""

    def __init__(self, facts: Mapping[str, Sequence[Claim]], others: Reasoner) -> None:
        self._facts = facts
        self._others = others

    @property
    def name(self) -> str:
        """Who made the units, and who answers."""
        return f"recorded facts + {self._others.name}"

    async def distil(self, page: Page, *, hints: Sequence[str] = ()) -> tuple[Claim, ...]:
        """The recorded facts of the page's turns, in the order of the page."""
        turns = [line.turn.turn_id for line in page.lines if line.turn and line.turn.turn_id]
        return tuple(fact for turn in dict.fromkeys(turns) for fact in self._facts.get(turn, ()))

    async def route(self, question: str, units: Sequence[Evidence], *, asked_at: datetime) -> Sufficiency:
        """Asked of the other."""
        return await self._others.route(question, units, asked_at=asked_at)

    async def integrate(
        self, question: str, pages: Sequence[PageView], known: Sequence[LinkedFact], *, asked_at: datetime
    ) -> Integrated:
        """Asked of the other."""
        return await self._others.integrate(question, pages, known, asked_at=asked_at)

    async def plan(
        self,
        question: str,
        facts: Sequence[LinkedFact],
        coverage: str,
        done: Sequence[Search],
        *,
        asked_at: datetime,
    ) -> Plan:
        """Asked of the other."""
        return await self._others.plan(question, facts, coverage, done, asked_at=asked_at)

    async def compose(self, question: str, evidence: Sequence[Evidence], *, asked_at: datetime) -> Draft:
        """Asked of the other."""
        return await self._others.compose(question, evidence, asked_at=asked_at)

    async def select(
        self, question: str, facts: Sequence[LinkedFact], pages: Sequence[Page]
    ) -> tuple[int, ...]:
        """Asked of the other."""
        return await self._others.select(question, facts, pages)

    async def reconcile(self, fact: LinkedFact, neighbours: Sequence[SummaryUnit]) -> Operation:
        """Asked of the other."""
        return await self._others.reconcile(fact, neighbours)


def read_facts(file: Path, case: Case, places: Mapping[str, Passage]) -> dict[str, list[Claim]]:
    """The facts of one conversation by the turn that holds their words; `InvalidInput` names a bad line.

    `places` says where the dataset's own turn ids stand. A fact rests on several turns: it belongs to
    the one that holds its quote, else to the first that exists.
    """
    facts: dict[str, list[Claim]] = {}
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise InvalidInput(f"cannot read recorded facts: {error}") from error
    for number, line in enumerate(lines, start=1):
        try:
            written = json.loads(line)
            turns = [places[name] for name in written["dia_ids"] if name in places]
            claim = Claim(text=written["fact"], quotes=(written["quote"],))
        except (ValueError, KeyError, TypeError) as error:
            raise InvalidInput(f"line {number} of {str(file)!r} is no recorded fact: {error!r}") from error
        if not turns:
            continue
        home = next((turn for turn in turns if claim.quote in case.turn(turn).text), turns[0])
        facts.setdefault(turn_id(home.session, home.start), []).append(claim)
    return facts
