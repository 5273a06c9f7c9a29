"""TierMem itself, entered through its public API and nowhere else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Literal

from eval.corpus import page_passage, placed, turn_passage
from eval.types import Cited, Consolidated, Level, Line, Passage, Reply, Session
from pagestore import PageId, Span, TokenCounter, Turn
from tiermem import Answer, AsyncMemory, Replay
from tiermem.errors import TierMemError
from tiermem.model import CitedSentence, StepUsage, Trace

Mode = Literal["router", "summary", "raw"]
SPACE: Final = "case"
_WIDER: Final = 4
_READ_NOTHING_APART: Final = frozenset({"always", "never", "fused"})
"""Routers without a reading of their own: what is fixed, and what decides in the call that answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _PlacedPage:
    """Where a page and its lines stand in the conversation, and how long it is."""

    passage: Passage
    lines: tuple[tuple[int, int, Passage], ...]
    tokens: int

    def turns(self, span: Span) -> Iterator[Passage]:
        """The turns that a span touches, in order."""
        for start, end, passage in self.lines:
            if start < span.end and span.start < end:
                yield passage


def hits_of(trace: Trace) -> dict[str, int]:
    """What was brought to one question, by source; a page that a linked unit named is not searched for."""
    recalled = Counter("unit" if one.source == "unit" else "turn" for one in trace.candidates)
    pages = Counter[str]()
    for one in trace.rounds:
        pages["search" if one.searches else "linked page"] += len(one.pages)
    return {name: count for name, count in (recalled + pages).items() if count}


@dataclass
class TierMem:
    """One memory in one mode. `given` goes to `AsyncMemory.open` as it is.

    Write-back waits for `consolidate`, so that Tier 1 does not move while questions are asked.
    Observing again what a directory already holds costs no model call: memories that differ only in
    how they read may share one, one after another.
    """

    name: str
    directory: Path
    counter: TokenCounter
    mode: Mode = "router"
    turns_by: Literal["turns", "units"] = "turns"
    consolidates: bool = False
    given: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._open: AsyncMemory | None = None
        self._pages: dict[PageId, _PlacedPage] = {}

    async def observe(self, sessions: Sequence[Session]) -> None:
        """Store every turn, seal, summarise, and with `consolidates` merge what is told twice.

        `TierMemError` when a page could not be summarised.
        """
        memory = await self._opened(create=True)
        for session in sessions:
            if session.turns:
                await memory.add(placed(session), session=session.id)
        flushed = await memory.flush()
        if flushed.pending:
            raise TierMemError(f"{flushed.pending} pages could not be summarised: {flushed.problems}")
        if self.consolidates:
            await memory.consolidate()
        for info in await memory.pages():
            page = await memory.page(info.id)
            lines = tuple(
                (line.start, line.end, turn_passage(line.turn.turn_id))
                for line in page.lines
                if line.turn and line.turn.turn_id
            )
            self._pages[page.id] = _PlacedPage(passage=page_passage(page), lines=lines, tokens=page.tokens)

    async def reopen(self) -> None:
        """Open what an earlier run observed here; `TierMemError` when it kept nothing."""
        await self._opened(create=False)

    async def _opened(self, *, create: bool) -> AsyncMemory:
        given = {"distil": "deferred", "write_back": "deferred", **self.given}
        self._open = await AsyncMemory.open(self.directory, space=SPACE, create=create, **given)
        return self._open

    async def replay(self, answer_id: str, *, rerun: bool) -> Replay:
        """An earlier answer as the memory recorded it; with `rerun` asked again over the memory of then."""
        return await self._memory.replay(answer_id, rerun=rerun)

    async def retrieve(
        self, question: str, *, level: Level, limit: int, asked_at: datetime | None = None
    ) -> tuple[Passage, ...]:
        """Turns and pages as they are found, sessions through pages, in the order of the search.

        With `turns_by="units"` turns are those that the units found rest on: what Tier 1 alone finds.
        """
        wanted = limit
        while True:
            found = await self._memory.search(
                question,
                limit=wanted,
                kind=self.turns_by if level == "turn" else "pages",
                asked_at=asked_at,
            )
            spans = [span for evidence in found for span in evidence.spans]
            passages = tuple(dict.fromkeys(self._passages(spans, level)))
            if len(passages) >= limit or len(found) < wanted:
                return passages[:limit]
            wanted *= _WIDER

    async def scored_turns(
        self, question: str, *, limit: int, asked_at: datetime | None = None
    ) -> list[tuple[Passage, float]]:
        """The best turns with the scores of the search."""
        found = await self._memory.search(question, limit=limit, kind="turns", asked_at=asked_at)
        return [(place, one.score) for one in found for place in self._passages(one.spans[:1], "turn")]

    def _passages(self, spans: Sequence[Span], level: Level) -> Iterator[Passage]:
        for span in spans:
            page = self._pages[span.page_id]
            match level:
                case "turn":
                    yield from page.turns(span)
                case "page":
                    yield page.passage
                case "session":
                    yield Passage(session=page.passage.session, start=0, end=self._turns(page.passage))

    def _turns(self, passage: Passage) -> int:
        return max(
            page.passage.end for page in self._pages.values() if page.passage.session == passage.session
        )

    async def ask(self, question: str, *, asked_at: datetime | None = None) -> Reply:
        """What the memory answers, with what it read on the way."""
        answer = await self._memory.ask(question, asked_at=asked_at, mode=self.mode)
        trace = answer.trace
        return Reply(
            text="" if answer.abstained else answer.text,
            abstained=answer.abstained,
            route=answer.route,
            decided=trace.decision.action,
            way=trace.way,
            depth=sum(bool(one.searches) for one in trace.rounds),
            hits=hits_of(trace),
            reason=trace.decision.reason,
            citations=tuple(
                Cited(claim=one.claim, quote=one.quote, speaker=one.speaker, said_at=one.said_at)
                for one in answer.citations
            ),
            usage=answer.usage,
            steps=trace.usage,
            reads=self._reads(answer),
            prompts=trace.prompts,
            degraded=tuple(f"{one.stage}: {one.reason}" for one in trace.degradations),
            answer_id=answer.id,
            support=answer.support,
            said=tuple(line for one in answer.said for line in self._lines(one)),
        )

    def _lines(self, shown: CitedSentence) -> Iterator[Line]:
        """The line of a turn, without what is in it of other turns."""
        turn = Turn(speaker=shown.speaker, text=shown.text, said_at=shown.said_at)
        if shown.span is not None:
            for place in self._pages[shown.span.page_id].turns(shown.span):
                yield Line(place=place, turn=turn)

    def _reads(self, answer: Answer) -> dict[str, int]:
        """Tokens of evidence read by each step: what a model in its place would be sent."""
        trace = answer.trace
        reads = {"compose": trace.read_tokens}
        pages = [page for one in trace.rounds for page in one.pages]
        if pages:
            reads["integrate"] = sum(self._pages[page].tokens for page in pages if page in self._pages)
        if self.mode == "router" and trace.decision.router not in _READ_NOTHING_APART:
            reads["route"] = sum(self.counter.count(unit.text) for unit in trace.candidates)
        return reads

    async def units(self) -> int:
        """How many units Tier 1 holds now."""
        return len(await self._memory.units())

    async def consolidate(self) -> Consolidated:
        """Write back every pending finding."""
        done = [one.op for one in await self._memory.apply_findings()]
        stats = await self._memory.stats()
        return Consolidated(
            added=done.count("ADD"),
            updated=done.count("UPDATE"),
            skipped=done.count("SKIP"),
            pending=stats.findings_pending,
            units=stats.units,
        )

    async def spent(self) -> tuple[StepUsage, ...]:
        """What this opening of the memory has paid for."""
        return (await self._memory.stats()).usage

    async def close(self) -> None:
        """Let go of the memory."""
        memory, self._open = self._open, None
        if memory is not None:
            await memory.close()

    @property
    def _memory(self) -> AsyncMemory:
        if self._open is None:
            raise TierMemError(f"{self.name!r} was asked before it observed anything")
        return self._open
