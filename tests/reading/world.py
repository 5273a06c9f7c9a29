"""A small real memory for tests: a log, its ledger, an index in a list, a reasoner with given lines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from pagestore import LogOptions, MemoryLog, Page, PageId, SessionId, SpaceId, Span, Turn
from tiermem.index.interface import Collection, Entry, Hit, Lexicon, Mode, Period, TurnHit, TurnHits
from tiermem.index.lexicon import Stems
from tiermem.ledger import Distilled, Ledger, summary_unit_id
from tiermem.model import Claim, Decision, Evidence, LinkedFact, Search, SummaryUnit, Usage
from tiermem.reading import Reader, ReadingOptions, Reranker
from tiermem.reasoning import Draft, Integrated, Operation, PageView, Plan, Sufficiency
from tiermem.text import stems
from tiermem.writing import Writer

SPACE = SpaceId("home")
MAIN = SessionId("main")
START = datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
ASKED = datetime(2023, 9, 1, 12, 0, tzinfo=UTC)

ANSWER = Decision(action="ANSWER", confidence=1.0, reason="test", router="test")
ESCALATE = Decision(action="ESCALATE", confidence=1.0, reason="test", router="test")


class Words:
    """Counts words."""

    name = "words"

    def count(self, text: str) -> int:
        return len(text.split())


class ListIndex:
    """An index that compares every entry by the stems it shares with the query. `broken` makes it fail."""

    def __init__(self) -> None:
        self.entries: dict[tuple[str, Collection], dict[str, Entry]] = {}
        self.marks: dict[str, int] = {}
        self.broken: Exception | None = None
        self.without_vectors: Exception | None = None
        self.queries: list[tuple[Collection, Mode, str]] = []

    async def put(self, space: SpaceId, collection: Collection, entries: Sequence[Entry]) -> None:
        self.entries.setdefault((space, collection), {}).update({entry.id: entry for entry in entries})

    async def remove(self, space: SpaceId, collection: Collection, ids: Sequence[str]) -> None:
        for entry_id in ids:
            self.entries.get((space, collection), {}).pop(entry_id, None)

    async def search(
        self,
        space: SpaceId,
        collection: Collection,
        query: str,
        *,
        limit: int,
        mode: Mode = "hybrid",
        session: SessionId | None = None,
        inactive: bool = False,
    ) -> tuple[Hit, ...]:
        if self.broken is not None:
            raise self.broken
        if self.without_vectors is not None and mode != "words":
            raise self.without_vectors
        self.queries.append((collection, mode, query))
        wanted = set(stems(query))
        hits = []
        for entry in self.entries.get((space, collection), {}).values():
            shared = len(wanted & set(stems(entry.text))) / len(wanted) if wanted else 0.0
            if shared and session in (None, entry.session) and (entry.active or inactive):
                hits.append(Hit(id=entry.id, score=shared, similarity=None if mode == "words" else shared))
        return tuple(sorted(hits, key=lambda hit: -hit.score)[:limit])

    async def turns(
        self,
        space: SpaceId,
        question: str,
        *,
        limit: int,
        session: SessionId | None = None,
        told: Sequence[Period] = (),
    ) -> TurnHits:
        hits = await self.search(space, "turns", question, limit=limit, session=session)
        return TurnHits(
            hits=tuple(TurnHit(id=h.id, meaning=h.score, exchange=h.score, around=h.score) for h in hits),
            rarity=dict.fromkeys(stems(question), 1.0),
        )

    async def lexicon(self) -> Lexicon:
        if self.broken is not None:
            raise self.broken
        return Stems()

    async def count(self, space: SpaceId, collection: Collection) -> int:
        return len(self.entries.get((space, collection), {}))

    async def mark(self, space: SpaceId) -> int:
        if self.broken is not None:
            raise self.broken
        return self.marks.get(space, -1)

    async def set_mark(self, space: SpaceId, seq: int) -> None:
        self.marks[space] = seq

    async def drop(self, space: SpaceId) -> None:
        self.marks.pop(space, None)
        for key in [key for key in self.entries if key[0] == space]:
            del self.entries[key]

    async def flush(self) -> None:
        return None

    async def close(self) -> None:
        return None


def _first(evidence: Sequence[Evidence]) -> Draft:
    return Draft(text=evidence[0].text, cited=(0,), abstained=False)


@dataclass
class Judge:
    """A reasoner whose every judgement is a function given by the test; it remembers what it was asked."""

    on_route: Callable[[Sequence[Evidence]], Sufficiency] = field(
        default=lambda units: Sufficiency(action="ANSWER", confidence=1.0, reason="told so")
    )
    on_integrate: Callable[[Sequence[PageView]], Integrated] = field(
        default=lambda views: Integrated(claims=(), coverage="nothing")
    )
    on_plan: Callable[[int], Plan] = field(default=lambda turn: Plan(done=True, reason="enough"))
    on_compose: Callable[[Sequence[Evidence]], Draft] = field(default=_first)
    shown: list[tuple[PageView, ...]] = field(default_factory=list)
    known: list[tuple[LinkedFact, ...]] = field(default_factory=list)
    planned: list[tuple[Search, ...]] = field(default_factory=list)
    composed: list[tuple[Evidence, ...]] = field(default_factory=list)
    name: str = "judge"

    async def distil(self, page: Page, *, hints: Sequence[str] = ()) -> tuple[Claim, ...]:
        return ()

    async def route(self, question: str, units: Sequence[Evidence], *, asked_at: datetime) -> Sufficiency:
        return self.on_route(units)

    async def integrate(
        self, question: str, pages: Sequence[PageView], known: Sequence[LinkedFact], *, asked_at: datetime
    ) -> Integrated:
        self.shown.append(tuple(pages))
        self.known.append(tuple(known))
        return self.on_integrate(pages)

    async def plan(
        self,
        question: str,
        facts: Sequence[LinkedFact],
        coverage: str,
        done: Sequence[Search],
        *,
        asked_at: datetime,
    ) -> Plan:
        self.planned.append(tuple(done))
        return self.on_plan(len(self.planned))

    async def compose(self, question: str, evidence: Sequence[Evidence], *, asked_at: datetime) -> Draft:
        self.composed.append(tuple(evidence))
        return self.on_compose(evidence)

    async def select(
        self, question: str, facts: Sequence[LinkedFact], pages: Sequence[Page]
    ) -> tuple[int, ...]:
        return tuple(range(len(facts)))

    async def reconcile(self, fact: LinkedFact, neighbours: Sequence[SummaryUnit]) -> Operation:
        return Operation(op="ADD", reason="told so")


@dataclass
class World:
    """One space with its parts at hand."""

    ledger: Ledger
    index: ListIndex
    judge: Judge
    _said: int = 0

    @classmethod
    async def new(cls, *, page_tokens: int = 1000) -> World:
        log = MemoryLog(SPACE, options=LogOptions(page_tokens=page_tokens))
        return cls(ledger=await Ledger.open(log), index=ListIndex(), judge=Judge())

    def reader(self, *, reranker: Reranker | None = None, **options: Any) -> Reader:
        chosen = ReadingOptions(**options)
        return Reader(self.ledger, self.index, self.judge, Words(), chosen, reranker=reranker)

    async def say(self, *lines: str, session: SessionId = MAIN) -> None:
        """Lines like "Ann: I like tea", a minute apart."""
        turns = []
        for line in lines:
            speaker, _, text = line.partition(": ")
            turns.append(Turn(speaker=speaker, text=text, said_at=START + timedelta(minutes=self._said)))
            self._said += 1
        await self.ledger.append(session, turns)

    async def page(self, *lines: str, session: SessionId = MAIN) -> Page:
        """One sealed page of these lines, in the index and without a unit."""
        await self.say(*lines, session=session)
        (page_id,) = await self.ledger.seal(session)
        await self.project()
        return await self.ledger.page(page_id)

    async def units(self, page: Page, *told: tuple[str, str]) -> tuple[SummaryUnit, ...]:
        """Units of a sealed page, each a text and the quote it rests on, distilled and indexed."""
        made = tuple(make_unit(page, text, quote) for text, quote in told)
        await self.ledger.write(distilled(page, *made))
        await self.project()
        return made

    async def linked_page(
        self, *lines: str, session: SessionId = MAIN
    ) -> tuple[Page, tuple[SummaryUnit, ...]]:
        """A sealed page with one unit a line, which says what the line says."""
        page = await self.page(*lines, session=session)
        told = [(line.replace(": ", " says "), line.partition(": ")[2]) for line in lines]
        return page, await self.units(page, *told)

    async def project(self) -> None:
        await Writer(self.ledger, self.index, self.judge).project()


def make_unit(page: Page, text: str, quote: str) -> SummaryUnit:
    start = page.text.index(quote)
    spans = (Span(page_id=page.id, start=start, end=start + len(quote)),)
    return SummaryUnit(
        id=summary_unit_id(page.space, page.id, text, spans),
        text=text,
        spans=spans,
        kind="summary",
        session=page.session,
        said_at=START,
    )


def distilled(page: Page, *units: SummaryUnit) -> Distilled:
    return Distilled(
        page_id=page.id,
        units=units,
        rejected=(),
        omissions=(),
        made_by="test",
        prompts=(),
        usage=Usage(),
    )


def page_ids(pages: Sequence[Page]) -> list[PageId]:
    return [page.id for page in pages]
