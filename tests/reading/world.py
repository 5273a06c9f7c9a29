"""A small real memory for tests: a log, its ledger, an index in a list, an engine with given judgements."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from pagestore import History, LogOptions, Page, PageId, SessionId, SpaceId, Span, Turn
from pagestore.codec import opened_as
from tests.engines import engine
from tests.logs import new_log
from tests.writing.parts import name_of
from tiermem.embedding.interface import Lexicon
from tiermem.embedding.words import Stems
from tiermem.index.candidates import Candidates, gather_candidates, pack_without_vectors
from tiermem.index.features import Block, turn_features
from tiermem.index.values import About, Collection, Entry, Hit, Mode, Period, Timeframe
from tiermem.ledger import DistilledEntry, Ledger, summary_unit_id
from tiermem.model import AskMode, Decision, Evidence, Findings, Recalled, Search, SummaryUnit, Usage
from tiermem.reading import Reader, ReadingOptions, Reranker, Scope
from tiermem.reading.answer import Outcome
from tiermem.reading.compose import Composer
from tiermem.reading.recall import recall
from tiermem.reading.request import AskRequest
from tiermem.reading.research import PageRounds
from tiermem.reading.search import LookUp
from tiermem.reading.view import EVERYTHING, View
from tiermem.reasoning import Draft, Engine, PageView
from tiermem.reasoning.interface import Integrated, Planned
from tiermem.text import stems
from tiermem.text.question import Question
from tiermem.writing import Writer

SPACE = SpaceId("home")
MAIN = SessionId("main")
START = datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
ASKED = datetime(2023, 9, 1, 12, 0, tzinfo=UTC)


def make_question(text: str) -> Question:
    """A question of that moment."""
    return Question(text, ASKED)


ANSWER = Decision(action="ANSWER", score=1.0, reason="test", router="test")
ESCALATE = Decision(action="ESCALATE", score=1.0, reason="test", router="test")
DONE = Planned(done=True, reason="enough")


class Words:
    """Counts words."""

    name = "words"

    def count(self, text: str) -> int:
        return len(text.split())


class ListIndex:
    """An index that compares every entry by the stems it shares with the query, whosever it is.

    `broken` makes it fail.
    """

    def __init__(self) -> None:
        self.entries: dict[tuple[str, Collection], dict[str, Entry]] = {}
        self.marks: dict[str, History] = {}
        self.broken: Exception | None = None
        self.without_vectors: Exception | None = None
        self.queries: list[tuple[Collection, Mode, str]] = []

    async def put(self, space: SpaceId, collection: Collection, entries: Sequence[Entry]) -> None:
        self.entries.setdefault((name_of(space), collection), {}).update(
            {entry.id: entry for entry in entries}
        )

    async def remove(self, space: SpaceId, collection: Collection, ids: Sequence[str]) -> None:
        for entry_id in ids:
            self.entries.get((name_of(space), collection), {}).pop(entry_id, None)

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
        within: Timeframe | None = None,
        values: tuple[int, ...] = (),
        owners: Iterable[str] | None = None,
    ) -> tuple[Hit, ...]:
        if self.broken is not None:
            raise self.broken
        if self.without_vectors is not None and mode != "words":
            raise self.without_vectors
        self.queries.append((collection, mode, query))
        wanted = set(stems(query))
        hits = []
        for entry in self.entries.get((name_of(space), collection), {}).values():
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
        periods: Sequence[Period] = (),
        within: Timeframe | None = None,
        values: tuple[int, ...] = (),
        owners: Iterable[str] | None = None,
    ) -> Candidates:
        hits = await self.search(space, "turns", question, limit=limit, session=session)
        scores = {hit.id: hit.score for hit in hits}
        ids = sorted(scores, key=int)
        near = np.array([scores[id_] for id_ in ids])
        rarity = dict.fromkeys(stems(question), 1.0)
        contexts = [one.context for one in map(self._turns_of(space).get, ids) if one and one.context]
        adjacent = [[int(other) for other in context.near] for context in contexts]
        return gather_candidates(
            await self.rows(space, ids),
            adjacent,
            len(ids),
            scores=(near, near, near * len(rarity)),
            rarity=rarity,
            total=len(self._turns_of(space)),
        )

    def _turns_of(self, space: SpaceId) -> dict[str, Entry]:
        return self.entries.get((name_of(space), "turns"), {})

    async def rows(self, space: SpaceId, ids: Sequence[str]) -> Block:
        contexts = [one.context for one in map(self._turns_of(space).get, ids) if one and one.context]
        return pack_without_vectors([turn_features(context.page, context.line) for context in contexts])

    async def lexicon(self) -> Lexicon:
        if self.broken is not None:
            raise self.broken
        return Stems()

    async def undated(
        self,
        space: SpaceId,
        collection: Collection,
        *,
        about: About = "said",
        session: SessionId | None = None,
        owners: Iterable[str] | None = None,
    ) -> int:
        raise AssertionError("nobody asks for it here")

    async def count(
        self, space: SpaceId, collection: Collection, *, owners: Iterable[str] | None = None
    ) -> int:
        return len(self.entries.get((name_of(space), collection), {}))

    async def mark(self, space: SpaceId) -> History:
        if self.broken is not None:
            raise self.broken
        return self.marks.get(name_of(space), History())

    async def set_mark(self, space: SpaceId, mark: History) -> None:
        self.marks[name_of(space)] = mark

    async def drop(self, space: SpaceId) -> None:
        self.marks.pop(name_of(space), None)
        for key in [key for key in self.entries if key[0] == name_of(space)]:
            del self.entries[key]

    async def flush(self) -> None:
        return None

    async def close(self) -> None:
        return None


def says(text: str, *cited: int, **more: Any) -> Draft:
    """An answer that cites these pieces of evidence."""
    return Draft(text=text, cited=cited, abstained=False, **more)


def silence(missing: str = "") -> Draft:
    """No answer."""
    return Draft(text="", cited=(), abstained=True, complete=False, missing=missing)


def _first(evidence: Sequence[Evidence]) -> Draft:
    return says(evidence[0].text, 0)


@dataclass
class Judge:
    """Judgements that are functions given by the test; it remembers what it was asked.

    Without `on_route` nobody is asked before the answer is worded (`router="fused"`).
    """

    on_route: Callable[[Sequence[Evidence]], Decision] | None = None
    on_integrate: Callable[[Sequence[PageView]], Integrated] = field(
        default=lambda views: Integrated(claims=(), coverage="nothing")
    )
    on_plan: Callable[[int], Planned] = field(default=lambda turn: DONE)
    on_compose: Callable[[Sequence[Evidence]], Draft] = field(default=_first)
    routed: list[tuple[Evidence, ...]] = field(default_factory=list)
    shown: list[tuple[PageView, ...]] = field(default_factory=list)
    known: list[tuple[Evidence, ...]] = field(default_factory=list)
    planned: list[tuple[Search, ...]] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    composed: list[tuple[Evidence, ...]] = field(default_factory=list)

    def engine(self) -> Engine:
        """An engine of these judgements; any other fails when it is asked for."""
        return engine(
            name="judge",
            route=None if self.on_route is None else self.route,
            integrate=self.integrate,
            plan=self.plan,
            compose=self.compose,
        )

    async def route(self, question: Question, evidence: Sequence[Evidence]) -> Decision:
        assert self.on_route is not None
        self.routed.append(tuple(evidence))
        return self.on_route(evidence)

    async def integrate(
        self, question: Question, pages: Sequence[PageView], known: Sequence[Evidence]
    ) -> Integrated:
        self.shown.append(tuple(pages))
        self.known.append(tuple(known))
        return self.on_integrate(pages)

    async def plan(
        self,
        question: Question,
        known: Sequence[Evidence],
        missing: str,
        done: Sequence[Search],
    ) -> Planned:
        self.planned.append(tuple(done))
        self.missing.append(missing)
        return self.on_plan(len(self.planned))

    async def compose(self, question: Question, evidence: Sequence[Evidence]) -> Draft:
        self.composed.append(tuple(evidence))
        return self.on_compose(evidence)

    def drafts(self, *drafts: Draft) -> None:
        """Word the answers so, one after the other; a wording more than these fails."""
        self.on_compose = lambda evidence: drafts[len(self.composed) - 1]


@dataclass
class World:
    """One space with its parts at hand."""

    ledger: Ledger
    index: ListIndex
    judge: Judge
    _said: int = 0

    @classmethod
    async def new(cls, *, page_tokens: int = 1000) -> World:
        log = new_log(SPACE, options=LogOptions(page_tokens=page_tokens))
        return cls(ledger=await Ledger.open(log), index=ListIndex(), judge=Judge())

    def reader(self, *, reranker: Reranker | None = None, **options: Any) -> Reader:
        chosen = ReadingOptions(**options)
        return Reader(self.ledger, self.index, self.judge.engine(), Words(), chosen, reranker=reranker)

    async def ask(
        self, question: str, *, scope: Scope = EVERYTHING, mode: AskMode = "router", **options: Any
    ) -> Outcome:
        """What a question comes to, asked at `ASKED`."""
        return await self.reader(**options).ask(make_question(question), scope=scope, mode=mode)

    async def look_up(
        self, scope: Scope = EVERYTHING, *, reranker: Reranker | None = None, **options: Any
    ) -> LookUp:
        """Look-ups for one question, over a view of their own."""
        view = await View.open(self.ledger, self.index, scope)
        return LookUp(view, ReadingOptions(**options), reranker=reranker)

    async def recall(self, question: str, scope: Scope = EVERYTHING, **options: Any) -> Recalled:
        """What is at hand for a question."""
        lookup = await self.look_up(scope, **options)
        return await recall(
            make_question(question), lookup, count=Words().count, options=ReadingOptions(**options)
        )

    async def research(
        self,
        question: str,
        scope: Scope = EVERYTHING,
        *,
        reranker: Reranker | None = None,
        **options: Any,
    ) -> Findings:
        """What the research loop finds after recalling units alone, unless `recall_turns` are asked for."""
        options = {"recall_turns": 0} | options
        lookup, chosen = await self.look_up(scope, **options), ReadingOptions(**options)
        asking = AskRequest(
            question=make_question(question),
            view=lookup.view,
            engine=self.judge.engine(),
            options=chosen,
            count=Words().count,
            reranker=reranker,
        )
        recalled = await recall(make_question(question), lookup, count=Words().count, options=chosen)
        rounds = PageRounds(asking, lookup, Composer(asking), recalled)
        await rounds.look()
        return rounds.findings

    async def say(
        self, *lines: str, session: SessionId = MAIN, at: datetime | None = None, **more: Any
    ) -> None:
        """Lines like "Ann: I like tea", a minute apart from `START`, or all said `at` a time."""
        turns = []
        for line in lines:
            speaker, _, text = line.partition(": ")
            said_at = at or START + timedelta(minutes=self._said)
            turns.append(Turn(speaker=speaker, text=text, said_at=said_at, **more))
            self._said += 1
        await self.ledger.append(session, turns)

    async def page(self, *lines: str, session: SessionId = MAIN, at: datetime | None = None) -> Page:
        """One sealed page of these lines, in the index and without a unit."""
        await self.say(*lines, session=session, at=at)
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
        self, *lines: str, session: SessionId = MAIN, at: datetime | None = None
    ) -> tuple[Page, tuple[SummaryUnit, ...]]:
        """A sealed page with one unit a line, which says what the line says."""
        page = await self.page(*lines, session=session, at=at)
        told = [(line.replace(": ", " says "), line.partition(": ")[2]) for line in lines]
        return page, await self.units(page, *told)

    async def project(self) -> None:
        """Bring the index up to the log; turns of open pages are put as well."""
        await Writer(self.ledger, self.index, engine()).projection.project()

    async def now(self) -> datetime:
        """The moment of the last record, after which anything may still be said."""
        return [record.at for record in self.ledger._log.records()][-1]


def make_unit(page: Page, text: str, quote: str) -> SummaryUnit:
    start = page.text.index(quote)
    spans = (Span(page_id=page.id, start=start, end=start + len(quote)),)
    return SummaryUnit(
        id=summary_unit_id(page.space, page.id, text, spans),
        text=text,
        spans=spans,
        support="quoted",
        kind="summary",
        session=page.session,
        said_at=START,
    )


def distilled(page: Page, *units: SummaryUnit) -> DistilledEntry:
    return DistilledEntry(
        page_id=page.id,
        units=units,
        rejected=(),
        omissions=(),
        made_by="test",
        prompts=(),
        usage=Usage(),
        literals=0,
        beside=(),
        open_id=opened_as(page.space, page),
    )


def page_ids(pages: Sequence[Page]) -> list[PageId]:
    return [page.id for page in pages]
