"""The reading room's one desk: recall, research, compose, audit. It never writes.

Each method makes the parts for one question and lets them run; the steps are in the files beside it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from datetime import datetime
from uuid import uuid4

from pagestore import PageId, SessionId, TokenCounter
from tiermem.errors import InvalidInput, UnknownId
from tiermem.index.interface import Collection, Index
from tiermem.ledger import Ledger
from tiermem.llm.meter import Meter
from tiermem.model import (
    Answer,
    AnswerId,
    Decision,
    Degradation,
    Evidence,
    Finding,
    Findings,
    Recalled,
    UnitId,
)
from tiermem.reading.answering import Outcome, answered, pending_findings
from tiermem.reading.audit import Audit, audited
from tiermem.reading.compose import Composed, Composer, abstention
from tiermem.reading.context import Context, assemble
from tiermem.reading.lookup import LookUp, linked_pages
from tiermem.reading.options import ReadingOptions
from tiermem.reading.quoting import page_evidence
from tiermem.reading.recall import recall
from tiermem.reading.rerank import Reranker
from tiermem.reading.research import Research
from tiermem.reading.scope import Scope, scope
from tiermem.reading.shelf import fetch
from tiermem.reading.trail import Standpoint, related, standpoint
from tiermem.reasoning import Reasoner

log = logging.getLogger("tiermem")


class Reader:
    """Reads one space."""

    def __init__(
        self,
        ledger: Ledger,
        index: Index,
        reasoner: Reasoner,
        counter: TokenCounter,
        options: ReadingOptions = ReadingOptions(),  # noqa: B008  (frozen: sharing the default is safe)
        *,
        reranker: Reranker | None = None,
    ) -> None:
        self._ledger = ledger
        self._index = index
        self._reasoner = reasoner
        self._counter = counter
        self._options = options
        self._reranker = reranker

    def over(self, ledger: Ledger, index: Index | None = None) -> Reader:
        """The same reader for another state of the space, with the same index or another."""
        return Reader(
            ledger,
            index or self._index,
            self._reasoner,
            self._counter,
            self._options,
            reranker=self._reranker,
        )

    async def recall(
        self,
        question: str,
        *,
        session: SessionId | None = None,
        asked_at: datetime | None = None,
        as_of: datetime | None = None,
        min_trust: str | None = None,
    ) -> Recalled:
        """The best units of Tier 1 and the tail of the open pages, now or as of a past moment.

        Never fails for want of an index: keywords in the log answer then, and a `Degradation` says so.
        """
        lookup = await self._lookup(session, as_of, min_trust, asked_at)
        return await recall(
            question, lookup, ledger=self._ledger, counter=self._counter, options=self._options
        )

    async def answer(
        self,
        question: str,
        recalled: Recalled,
        decision: Decision,
        *,
        asked_at: datetime,
        may_escalate: bool = True,
    ) -> Outcome:
        """Answer along the decided route. A wording from summaries that does not hold escalates once;
        with `may_escalate=False` it becomes an abstention.
        """
        head = self._ledger.tier1.head
        first, findings = None, None
        if decision.action == "ANSWER":
            first = await self.compose(question, recalled, asked_at=asked_at)
        if first is None or (may_escalate and not first.holds):
            findings = await self.research(question, recalled, asked_at=asked_at)
            composed = await self.compose(question, recalled, findings=findings, asked_at=asked_at)
        else:
            composed = first if first.holds else abstention(first)
        proved = [f.spans[0].page_id for f in findings.facts if f.grade == "verbatim"] if findings else []
        return Outcome(
            question=question,
            asked_at=asked_at,
            recalled=recalled,
            decision=decision,
            from_summaries=first,
            findings=findings,
            composed=composed,
            pages=(await fetch(self._ledger, proved)).pages,
            head=head,
            engine=self._reasoner.name,
            raw_tokens=await self.raw_tokens(recalled),
            summary_tokens=sum(self._counter.count(i.text) for i in (*recalled.units, *recalled.tail)),
            may_escalate=may_escalate,
        )

    def answered(self, outcome: Outcome, *, meter: Meter) -> tuple[Answer, tuple[Finding, ...]]:
        """The answer under a new id, and the findings it leaves for write-back. Nothing is recorded yet."""
        answer_id = AnswerId(f"a1:{uuid4().hex}")
        answer = answered(
            outcome, answer_id=answer_id, space=self._ledger.space, meter=meter, trust=self._options.trust
        )
        return answer, pending_findings(answer, outcome)

    async def research(self, question: str, recalled: Recalled, *, asked_at: datetime) -> Findings:
        """Read the linked pages, then search in rounds, within what `recalled` looked at; see `Research`."""
        loop = Research(
            question,
            asked_at=asked_at,
            lookup=await self._lookup(recalled.session, recalled.as_of, recalled.min_trust, asked_at),
            reasoner=self._reasoner,
            options=self._options,
            reranker=self._reranker,
        )
        return await loop.run(recalled)

    async def compose(
        self, question: str, recalled: Recalled, *, asked_at: datetime, findings: Findings | None = None
    ) -> Composed:
        """A checked wording: from the units and the tail, or from what research found."""
        composer = Composer(
            question,
            asked_at=asked_at,
            ledger=self._ledger,
            reasoner=self._reasoner,
            counter=self._counter,
            scope=await self._scope(recalled.session, recalled.as_of, recalled.min_trust),
        )
        if findings is None:
            return await composer.from_summaries(recalled)
        return await composer.from_findings(findings, pages=self._options.pages_per_round)

    async def raw_tokens(self, recalled: Recalled) -> int:
        """What reading the linked pages would cost: the tokens of the pages round 0 reads."""
        linked = linked_pages(recalled.units)[: self._options.pages_per_round]
        shelf = await fetch(self._ledger, (PageId(hit.id) for hit in linked))
        return sum(page.tokens for page in shelf.pages.values())

    async def audit(self, answer_id: AnswerId) -> Audit:
        """The trail from an answer to the words it rests on, read from the pages; raises `UnknownId`."""
        answer = await self._ledger.answer(answer_id)
        shelf = await fetch(
            self._ledger, (s.page_id for citation in answer.citations for s in citation.spans)
        )
        return audited(answer, shelf, context=self._options.context_chars)

    async def trail(self, unit_id: UnitId) -> tuple[Standpoint, ...]:
        """A unit with all it supersedes and all that supersedes it, each with its words; `UnknownId`."""
        tier1 = self._ledger.tier1
        if tier1.unit(unit_id) is None:
            raise UnknownId(f"space {self._ledger.space!r} has no unit {unit_id!r}; list them with `units`")
        units = related(tier1, unit_id)
        shelf = await fetch(self._ledger, (span.page_id for unit in units for span in unit.spans))
        context = self._options.context_chars
        return tuple(standpoint(tier1, unit, shelf.pages, context=context) for unit in units)

    async def search(
        self,
        query: str,
        *,
        limit: int = 10,
        kind: Collection = "units",
        session: SessionId | None = None,
        asked_at: datetime | None = None,
        min_trust: str | None = None,
    ) -> tuple[Evidence, ...]:
        """The units, pages or single turns that fit a query best; open pages count.

        Where the index cannot be used, keywords in the log answer, and the log of the process says so.
        """
        if limit < 1:
            raise InvalidInput(f"limit must be at least 1, not {limit}")
        lookup = await self._lookup(session, None, min_trust, asked_at)
        if kind == "units":
            found = await lookup.units(query, limit=limit)
            _warn(found.degradations)
            return found.units
        if kind == "turns":
            turns = await lookup.turns(query)
            _warn(turns.degradations)
            return tuple(turn.evidence() for turn in turns.turns[:limit])
        ranked = await lookup.pages(query, limit=limit, mode="hybrid")
        _warn(ranked.degradations)
        pages = await lookup.read(ranked.pages, limit=limit)
        return tuple(page_evidence(p, score=hit.score, similarity=hit.similarity) for hit, p in pages.read)

    async def context(
        self,
        question: str,
        *,
        max_tokens: int = 1000,
        session: SessionId | None = None,
        asked_at: datetime | None = None,
        min_trust: str | None = None,
    ) -> Context:
        """Numbered sources for a prompt, units first, then the tail, in at most `max_tokens`."""
        recalled = await self.recall(question, session=session, asked_at=asked_at, min_trust=min_trust)
        _warn(recalled.degradations)
        items = (*recalled.units, *recalled.tail)
        shelf = await fetch(self._ledger, (span.page_id for item in items for span in item.spans))
        return assemble(items, shelf.pages, max_tokens=max_tokens, count=self._counter.count)

    async def _scope(self, session: SessionId | None, as_of: datetime | None, min_trust: str | None) -> Scope:
        trust = self._options.trust
        return await scope(self._ledger, session, as_of, min_trust=min_trust, trust=trust)

    async def _lookup(
        self,
        session: SessionId | None,
        as_of: datetime | None,
        min_trust: str | None,
        asked_at: datetime | None,
    ) -> LookUp:
        seen = await self._scope(session, as_of, min_trust)
        return LookUp(self._ledger, self._index, seen, self._options, asked_at=asked_at)


def _warn(degradations: Iterable[Degradation]) -> None:
    """For results that have no trace to carry it."""
    for degraded in degradations:
        log.warning("%s: %s; instead: %s", degraded.stage, degraded.reason, degraded.fallback)
