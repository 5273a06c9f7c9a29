"""Reads one space: asks, searches, assembles context, audits. It never writes.

Each method makes the parts for one question and runs them; the steps are in the other files of this package.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from functools import cache
from typing import Any, Literal
from uuid import uuid4

from pagestore import Page, PageId, PageInfo, PageLine, SessionId, Span, TokenCounter, TurnAddress
from pagestore.address import is_address, seq_in
from pagestore.codec import opened_as
from tiermem.errors import InvalidInput, UnknownId
from tiermem.index.interface import Searches
from tiermem.index.values import COLLECTIONS, About, Hit
from tiermem.ledger import EVERYTHING_SEEN, NOT_RECORDED, AnswerInfo, Visibility
from tiermem.llm.meter import Meter
from tiermem.model import (
    Answer,
    AnswerId,
    AskMode,
    Citation,
    Degradation,
    Evidence,
    Finding,
    MarkedPage,
    MarkedPageInfo,
    SummaryUnit,
    UnitId,
)
from tiermem.reading.answer import Outcome, build_answer, pending_findings
from tiermem.reading.ask import ask
from tiermem.reading.backlog import Backlog
from tiermem.reading.context import Context, assemble, fits, without_repeats
from tiermem.reading.evidence_lookup import KnownEvidence, look_up_evidence
from tiermem.reading.exact import Exact
from tiermem.reading.interface import ReadsLedger
from tiermem.reading.looking_back.audit import Audit, audit_answer
from tiermem.reading.looking_back.trail import UnitHistory, related_units, unit_history
from tiermem.reading.options import ReadingOptions
from tiermem.reading.page_failure_isolation import PageFailureIsolation
from tiermem.reading.past import empty_past_notes, future_notes
from tiermem.reading.quoting import page_evidence, turn_evidence, turns_under, with_turn
from tiermem.reading.recall import list_once, recall
from tiermem.reading.request import AskRequest
from tiermem.reading.rerank import Reranker, rerank_pages
from tiermem.reading.search import INDEX_LAGS, LookUp, Strategy, scored_by_turns
from tiermem.reading.steps import OnStep, Steps
from tiermem.reading.timeframe import Between
from tiermem.reading.unknown import unknown_answer, unknown_unit, visible_page
from tiermem.reading.view import EVERYTHING, Scope, View
from tiermem.reasoning import Engine
from tiermem.salience import Signals
from tiermem.text.question import Question
from tiermem.text.taken_back import mark_taken_back
from tiermem.text.unicode import replace_surrogates
from tiermem.workspace import Item

log = logging.getLogger("tiermem")

Kind = Literal["any", "units", "pages", "turns"]
"""What is looked for; of any kind are units and turns."""

TURN_TOKENS = 15
"""About the fewest tokens a turn takes: how many may fit into a context."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recollection:
    """What a search for a topic brought, best first, and what there is to say about it.

    `topic` is what was searched for: a timeframe that was taken out of it is not in it any more. `times` are
    those to which it was confined (`None`: to none), `about` says of what. Then `undated` is how many turns
    (units, where it is about events) have no time and so were not found, `None` where that is not known.
    `evicted` are the items that left the workspace it went into, and `refused` the sources for which there
    was no room in it.
    """

    topic: str
    items: tuple[Evidence, ...]
    times: tuple[Between, ...] | None = None
    about: About = "said"
    undated: int | None = 0
    degradations: tuple[Degradation, ...] = ()
    evicted: tuple[Item, ...] = ()
    refused: tuple[Evidence, ...] = ()


class Reader:
    """Reads one space."""

    def __init__(
        self,
        ledger: ReadsLedger,
        index: Searches,
        engine: Engine,
        counter: TokenCounter,
        options: ReadingOptions = ReadingOptions(),  # noqa: B008  (frozen: sharing the default is safe)
        *,
        reranker: Reranker | None = None,
    ) -> None:
        self._ledger = ledger
        self._index = index
        self._engine = engine
        self._counter = counter
        self._options = options
        self._reranker = reranker
        self._backlog = Backlog(ledger, unsearched=options.unsearched_roles)
        self._sees = EVERYTHING_SEEN

    def seen_by(self, sees: Visibility) -> Reader:
        """The same reader for somebody who may not see everything."""
        found = copy(self)
        found._sees = sees  # noqa: SLF001
        return found

    @property
    def sees(self) -> Visibility:
        """Who reads, and what that one may see."""
        return self._sees

    def over(self, ledger: ReadsLedger, index: Searches | None = None) -> Reader:
        """The same reader for another state of the space, with the same index or another."""
        over = Reader(
            ledger,
            index or self._index,
            self._engine,
            self._counter,
            self._options,
            reranker=self._reranker,
        )
        return over.seen_by(self._sees)

    async def ask(
        self,
        question: Question,
        *,
        scope: Scope = EVERYTHING,
        mode: AskMode = "router",
        on_step: OnStep | None = None,
    ) -> Outcome:
        """What one question comes to; see `reading.ask`. Nothing is recorded yet.

        A page on which a step raises something unexpected is left out; the outcome says which and why, and so
        does a last step, in place of those of asking again.
        """
        going = PageFailureIsolation(await self._view(scope))
        first = iter((Steps(on_step),))
        outcome = await going.run(
            lambda view: ask(
                AskRequest(
                    steps=next(first, Steps()),
                    question=question,
                    mode=mode,
                    view=view,
                    engine=self._engine,
                    options=self._options,
                    count=self._counter.count,
                    reranker=self._reranker,
                )
            )
        )
        notes = await self._past_notes(scope, is_empty=not outcome.recalled.items)
        added = (*notes, *going.degradations)
        if added:
            Steps(on_step).done("fallback", way=outcome.way, degradations=added)
        return replace(outcome, degradations=(*outcome.degradations, *added), aside=going.aside)

    def make_answer(
        self, outcome: Outcome, *, meter: Meter, recorded: bool = True
    ) -> tuple[Answer, tuple[Finding, ...]]:
        """The answer under a new id, and the findings it leaves for write-back. Nothing is recorded yet.

        One that is not to be `recorded` is marked so, and its id tells it.
        """
        prefix = "a1:" if recorded else NOT_RECORDED
        answer = build_answer(
            outcome,
            answer_id=AnswerId(f"{prefix}{uuid4().hex}"),
            space=self._ledger.space,
            meter=meter,
            trust=self._options.trust,
        )
        return replace(answer, recorded=recorded), pending_findings(answer, outcome)

    async def search(
        self,
        query: Question,
        *,
        limit: int = 10,
        kind: Kind = "any",
        scope: Scope = EVERYTHING,
    ) -> tuple[Evidence, ...]:
        """The units and turns that fit a query best, or one kind of what is stored; open pages count.

        Among units alone, turns of pages that are not summarised yet represent themselves.
        Where the index cannot be used, keywords in the log answer, and the log of the process says so.
        """
        found = await self.recall(query, limit=limit, kind=kind, scope=scope)
        _log(found.degradations)
        return found.items

    async def recall(
        self,
        topic: Question,
        *,
        limit: int,
        kind: Kind = "any",
        strategy: Strategy = "hybrid",
        scope: Scope = EVERYTHING,
    ) -> Recollection:
        """As `search`, by a strategy of the caller's choice, with all there is to say about it.

        Of any kind are units and turns by one score: a unit has that of the best turn it rests on. A unit
        that only repeats a turn gives way to it; one whose words are in none of the turns has them as its
        `quote`. What contains the topic as it is typed goes first, and phrases in quotation marks must be in
        what is found; those of a question (ending with "?") go first.
        """
        if limit < 1:
            raise InvalidInput(f"limit must be at least 1, not {limit}")

        async def recollect(view: View) -> Recollection:
            lookup = LookUp(
                view,
                self._options,
                strategy=strategy,
                reranker=self._reranker,
                as_typed=True,
                at_least=limit,
            )
            ranked, degradations = await self._search_kind(lookup, topic, limit, kind)
            first = {item: item.spans[0].page_id for item in ranked if item.source == "unit"}
            pages = (await view.fetch(first.values())).pages
            items = tuple(with_turn(item, pages) if item in first else item for item in ranked)
            undated = 0 if scope.within is None else await lookup.undated()
            return Recollection(topic=topic.text, items=items, undated=undated, degradations=degradations)

        going = PageFailureIsolation(await self._view(scope))
        recollection = await going.run(recollect)
        degradations = dict.fromkeys((*recollection.degradations, *going.degradations))
        return replace(recollection, degradations=tuple(degradations))

    async def look_up(self, items: Sequence[Evidence]) -> tuple[KnownEvidence | None, ...]:
        """What memory knows of pieces of evidence that are held elsewhere; see `reading.evidence_lookup`."""
        return await look_up_evidence(await self._view(EVERYTHING), items)

    async def context(
        self,
        question: Question,
        *,
        max_tokens: int = 1000,
        scope: Scope = EVERYTHING,
    ) -> Context:
        """Numbered sources for a prompt, units and turns, best first, in at most `max_tokens`."""
        options = _as_many_as_fit(max_tokens, self._options)
        count = cache(self._counter.count)  # what fits by itself is counted again with the others

        async def fill(view: View) -> tuple[Context, tuple[Degradation, ...]]:
            lookup = LookUp(view, options, reranker=self._reranker)
            recalled = await recall(
                question,
                lookup,
                count=count,
                options=options,
                fits=lambda item: fits(item, max_tokens=max_tokens, count=count),
                fits_cut=lambda item: fits(item, max_tokens=max_tokens // 2, count=count),
            )
            items = without_repeats(recalled.items)
            context = assemble(items, max_tokens=max_tokens, count=count)
            if not context.sources:
                any_size = await recall(question, lookup, count=count, options=self._options)
                context = replace(context, found=len(without_repeats(any_size.items)))
            return context, recalled.degradations

        going = PageFailureIsolation(await self._view(scope))
        context, degradations = await going.run(fill)
        all_degradations = tuple(dict.fromkeys((*degradations, *going.degradations)))
        _log(all_degradations)
        return replace(context, degradations=all_degradations)

    async def audit(self, answer_id: AnswerId) -> Audit:
        """The trail from an answer to the words it rests on, read from the pages; raises `UnknownId`."""
        answer = await self.answer(answer_id)
        view = await self._view(EVERYTHING, whole=True)
        spans = [span for citation in answer.citations for span in citation.spans]
        spans += [s for one in answer.derivations for term in one.terms for s in term.spans]
        fetched = await view.fetch(span.page_id for span in spans)
        return audit_answer(answer, fetched, context=self._options.context_chars)

    async def lowest_trust(self, spans: Sequence[Span]) -> str:
        """The level of the least trusted turn that spans touch; the lowest level where one cannot be read."""
        levels, view = self._options.trust, await self._view(EVERYTHING, whole=True)
        pages = (await view.fetch(span.page_id for span in spans)).pages
        turns = turns_under(spans, pages)
        is_known = all(span.page_id in pages for span in spans) and None not in turns
        lowest = levels.lowest(levels.of(turn) for turn in turns if turn is not None)
        return lowest if is_known and lowest is not None else levels.names[0]

    async def page(self, wanted: PageId | TurnAddress) -> MarkedPage:
        """A page, or that of a turn, with all its words, and which were taken back.

        Raises `Corrupt`, and `UnknownId` for the id of no page and the address of no turn that may be seen.
        """
        if is_address(wanted):
            page = await self._page_of_turn(TurnAddress(wanted))
        else:
            page = await visible_page(self._ledger, PageId(wanted), self._sees)
        return MarkedPage(**_fields(page), taken_back=self._ledger.tier1.taken_back(page.id))

    async def _page_of_turn(self, address: TurnAddress) -> Page:
        ids = await self._ledger.locate_turns([seq_in(address)])
        read = await self._ledger.read([page_id for page_id in ids if page_id is not None])
        for page in read:
            if isinstance(page, Page) and any(line.address == address for line in page.lines):
                if self._sees.page(page):
                    return page
            elif not isinstance(page, Page) and self._sees.all:
                raise page
        raise UnknownId(
            f"space {self._ledger.space!r} has no turn {address!r}: copy an address that `search`, `page` or "
            "`audit` displays"
        )

    async def _line_of_turn(self, address: TurnAddress) -> tuple[Page, PageLine]:
        page = await self.page(address)
        return page, next(line for line in page.lines if line.address == address)

    async def units_of_turn(self, address: TurnAddress) -> tuple[SummaryUnit, ...]:
        """The units that hold and rest on a turn, of those that may be seen; raises `UnknownId`."""
        page, line = await self._line_of_turn(address)
        ids = (page.id, opened_as(page.space, page))
        spans = [Span(page_id=page_id, start=line.body, end=line.end) for page_id in ids]
        units = map(self._ledger.tier1.unit, self._ledger.tier1.units_on(spans))
        return tuple(unit for unit in units if unit is not None and self._sees.unit(unit))

    async def unit_on_turn(self, named: UnitId | TurnAddress, *, withdrawn: bool = False) -> UnitId:
        """The unit of an id, or that which rests on the turn of an address, or did until it was `withdrawn`.

        Extracts count where nothing else rests on the turn, and one of all its words before parts of them.
        Raises `UnknownId` for no turn, and `InvalidInput` where no unit is named so, or several are.
        """
        if not is_address(named):
            return UnitId(named)
        (page, line), tier1 = await self._line_of_turn(TurnAddress(named)), self._ledger.tier1
        units = [
            unit
            for unit in tier1.units_of_page(page.id, inactive=True)
            if self._sees.unit(unit)
            and (not withdrawn or tier1.retired_because(unit.id) is not None)
            and any(line.touches(span) for span in unit.spans)
        ]
        words = Span(page_id=page.id, start=line.body, end=line.end)
        whole = [unit for unit in units if unit.spans == (words,)]
        worded = [unit for unit in units if not unit.is_extract]
        found = (whole or worded) if withdrawn else (worded or whole or units)
        if len(found) != 1:
            listed = "".join(f"\n  {unit.id}: {unit.text}" for unit in units)
            if units:
                raise InvalidInput(
                    f"turn {named!r} does not say which unit is meant; name one by its id:{listed}"
                )
            missing = "nothing of it was withdrawn" if withdrawn else "no unit rests on it"
            raise InvalidInput(f"turn {named!r} names no unit: {missing}")
        return found[0].id

    async def turn(self, address: TurnAddress) -> Evidence:
        """A turn as evidence; raises `UnknownId` for the address of no turn that may be seen."""
        page, line = await self._line_of_turn(address)
        return turn_evidence(page, line, score=0.0)

    async def open_pages(self, session: SessionId | None = None) -> tuple[Page, ...]:
        """The pages being filled, with their words."""
        return tuple(filter(self._sees.page, await self._ledger.open_pages(session)))

    async def units(
        self, session: SessionId | None = None, *, as_of: datetime | None = None
    ) -> tuple[SummaryUnit, ...]:
        """What Tier 1 holds, now or as it stood, of that which may be seen now.

        The log of the process says why there is none, and when `as_of` is in the future.
        """
        tier1 = self._ledger.tier1 if as_of is None else (await self._ledger.as_of(as_of))[0]
        units = tuple(filter(self._sees.unit, tier1.units(session)))
        _log(await self._past_notes(Scope(session=session, as_of=as_of), is_empty=not units))
        return units

    def unit(self, unit_id: UnitId) -> SummaryUnit:
        """A unit, also one that no longer holds; raises `UnknownId`, as for one that there is not."""
        unit = self._ledger.tier1.unit(unit_id)
        if unit is None or not self._sees.unit(unit):
            raise unknown_unit(self._ledger.space, unit_id)
        return unit

    async def answers(self) -> tuple[AnswerInfo, ...]:
        """The answers that were given and may be seen, as by `answer`, oldest first."""
        listed = tuple(self._ledger.tier1.answers.values())
        return tuple([info for info in listed if await self._sees_answer(info)])

    async def answer(self, answer_id: AnswerId) -> Answer:
        """One answer with its trace; raises `UnknownId`, as for one that there is not.

        It is seen by those who may see the agent that asked, and everything that it was made of.
        """
        known = self._ledger.tier1.answers.get(answer_id)
        if self._sees.all or (known is None and answer_id.startswith(NOT_RECORDED)):
            return await self._ledger.answer(answer_id)
        if known is None or not await self._sees_answer(known):
            raise unknown_answer(self._ledger.space, answer_id)
        return await self._ledger.answer(answer_id)

    async def _sees_answer(self, info: AnswerInfo) -> bool:
        """Whether an answer and everything that it was made of may be seen."""
        if self._sees.all or not self._sees.answer(info):
            return self._sees.all
        return await self._sees_all_of(await self._ledger.answer(info.id))

    async def _sees_all_of(self, answer: Answer) -> bool:
        """Whether everything that was put before the engine for an answer, or displayed, may be seen.

        False as well where a unit or a page of it cannot be read, so that its owner is not known.
        """
        shown: tuple[Evidence | Citation, ...] = (*answer.trace.candidates, *answer.citations)
        units = [self._ledger.tier1.unit(item.unit_id) for item in shown if item.unit_id is not None]
        if not all(unit is not None and self._sees.unit(unit) for unit in units):
            return False
        # A unit may be shared, and the words under it not.
        spans = [span for item in shown if item.unit_id is None or item.quote for span in item.spans]
        said = [line for one in answer.said for line in (one, one.next) if line is not None]
        spans += [line.span for line in (*answer.sentences, *said) if line.span is not None]
        rounds = (page_id for one in answer.trace.rounds for page_id in one.pages)
        ids = dict.fromkeys((*(span.page_id for span in spans), *rounds))
        read = await self._ledger.read(tuple(ids), kept=True)
        return all(isinstance(page, Page) and self._sees.page(page) for page in read)

    async def pages(self, session: SessionId | None = None) -> Sequence[MarkedPageInfo]:
        """Sealed pages, oldest first, without their words, and what of them was taken back."""
        pages, tier1 = filter(self._sees.page, await self._ledger.pages(session)), self._ledger.tier1
        return tuple(MarkedPageInfo(**_fields(page), taken_back=tier1.taken_back(page.id)) for page in pages)

    async def trail(self, unit_id: UnitId) -> tuple[UnitHistory, ...]:
        """A unit with all it supersedes and all that supersedes it, each with its words; `UnknownId`."""
        view = await self._view(EVERYTHING, whole=True)
        self.unit(unit_id)
        units = tuple(filter(self._sees.unit, related_units(view.tier1, unit_id)))
        fetched = await view.fetch(span.page_id for unit in units for span in unit.spans)
        context = self._options.context_chars
        found = (unit_history(view.tier1, unit, fetched.pages, context=context) for unit in units)
        return tuple(found) if self._sees.all else tuple([await self._history_seen(one) for one in found])

    async def _history_seen(self, history: UnitHistory) -> UnitHistory:
        """It without the ids of units and answers that may not be seen."""
        tier1 = self._ledger.tier1
        newer = (tier1.unit(unit_id) for unit_id in history.superseded_by)
        judged = [(one, tier1.answers.get(one.answer_id)) for one in history.outcomes if one.answer_id]
        return replace(
            history,
            superseded_by=tuple(one.id for one in newer if one is not None and self._sees.unit(one)),
            outcomes=tuple([one for one, of in judged if of is not None and await self._sees_answer(of)]),
        )

    async def signals(self, unit_id: UnitId, *, as_of: datetime | None = None) -> Signals:
        """What is known of a unit besides what it says, now or at a past moment; raises `UnknownId`."""
        view = await self._view(Scope(as_of=as_of), whole=True)
        unit = view.tier1.unit(unit_id)
        if unit is None or not self._sees.unit(unit):
            raise unknown_unit(view.space, unit_id)
        fetched = await view.fetch(span.page_id for span in unit.spans)
        turns = turns_under(unit.spans, fetched.pages)
        return view.tier1.signals(unit, tuple(turn.role for turn in turns if turn is not None))

    async def index_pending(self) -> int | None:
        """How many turns and units the index has yet to take in; `None` where it cannot be asked."""
        view = await self._view(EVERYTHING, whole=True)
        if await view.mark() is None:
            return None
        waiting = await view.waiting()
        return sum([await waiting.count(one, sees=self._sees) for one in COLLECTIONS])

    async def _search_kind(
        self, lookup: LookUp, question: Question, limit: int, kind: Kind
    ) -> tuple[tuple[Evidence, ...], tuple[Degradation, ...]]:
        """The best units, pages or turns, and what could not run as meant."""
        view = lookup.view
        if view.scope.happened is not None:
            found = await lookup.units(question, limit=limit)
            return found.units, found.degradations
        if kind == "any":
            return await _side_by_side(lookup, question, limit)
        if kind == "units":
            found = await lookup.units_or_turns(question, limit=limit)
            return found.units, found.degradations
        if kind == "turns":
            turns = await lookup.turns(question, limit=limit)
            marked_turns = (
                _mark_withdrawn(turn.evidence(), turn.page, turn.line, view) for turn in turns.turns
            )
            return tuple(marked_turns), turns.degradations
        pages, degradations = await self._pages(lookup, question, limit)
        evidence = (page_evidence(p, score=hit.score, similarity=hit.similarity) for hit, p in pages)
        shown = (_mark_withdrawn(one, p, None, view) for one, (_, p) in zip(evidence, pages, strict=True))
        return tuple(shown), degradations

    async def _pages(
        self, lookup: LookUp, question: Question, limit: int
    ) -> tuple[Sequence[tuple[Hit, Page]], tuple[Degradation, ...]]:
        """The best pages; of more, where a reranker judges them."""
        pool = limit if self._reranker is None else max(limit, self._options.rerank_pool)
        ranked = await lookup.pages(question, limit=pool, mode="hybrid")
        read = await lookup.read(ranked.pages, limit=pool)
        exact = lookup.exact(question)
        if self._reranker is None:
            return _in_exact_order(read.read, exact), ranked.degradations
        protected = self._options.protected_similarity
        ordered, degradations = await rerank_pages(
            self._reranker, question, read.read, view=lookup.view, protected=protected
        )
        return _in_exact_order(ordered, exact)[:limit], (*ranked.degradations, *degradations)

    async def _past_notes(self, scope: Scope, *, is_empty: bool) -> tuple[Degradation, ...]:
        """Explain a result at a moment in the future, and an empty one at a past moment."""
        if scope.as_of is None:
            return ()
        notes = future_notes(scope.as_of, now=datetime.now(UTC))
        return notes if notes or not is_empty else await empty_past_notes(await self._view(scope))

    async def _view(self, scope: Scope, *, whole: bool = False) -> View:
        return await View.open(
            self._ledger,
            self._index,
            replace(scope, sees=self._sees, unsearched=() if whole else self._options.unsearched_roles),
            backlog=self._backlog,
            trust=self._options.trust,
            whole=whole,
        )


def _fields(value: Page | PageInfo) -> dict[str, Any]:
    return {field.name: getattr(value, field.name) for field in fields(value)}


async def _side_by_side(
    lookup: LookUp, question: Question, limit: int
) -> tuple[tuple[Evidence, ...], tuple[Degradation, ...]]:
    """Units and turns by one score, as many as are wanted: a unit has that of the best turn it rests on."""
    found, ranked = await lookup.units(question, limit=limit), await lookup.rank(question)
    turns = await lookup.turns(question, limit=limit)
    pages = (await lookup.view.fetch(span.page_id for unit in found.units for span in unit.spans)).pages
    exact = lookup.exact(question)
    units = scored_by_turns(found.units, ranked.turns, exact)
    items = list_once(units, turns.turns, pages, exact)
    return items[:limit], tuple(dict.fromkeys((*found.degradations, *turns.degradations)))


def _mark_withdrawn(evidence: Evidence, page: Page, line: PageLine | None, view: View) -> Evidence:
    """A turn or a page as it is shown: marked where words of it were taken back, and why."""
    taken = view.taken_back(page)
    if not taken:
        return evidence
    start, end = (0, len(page.text)) if line is None else (line.body, line.end)
    head = "" if line is None or line.turn is None else f"{line.turn.speaker}: "
    words = mark_taken_back(page, start, end, taken)
    return replace(
        evidence, text=replace_surrogates(head + (words if line is None else words.replace("\n\t", "\n")))
    )


def _in_exact_order(pages: Iterable[tuple[Hit, Page]], exact: Exact) -> list[tuple[Hit, Page]]:
    """Leave out pages without a required phrase, and put first what contains most of what is preferred."""
    allowed = [pair for pair in pages if exact.is_allowed(pair[1].text)]
    return sorted(allowed, key=lambda pair: -exact.count_in(pair[1].text))


def _as_many_as_fit(max_tokens: int, options: ReadingOptions) -> ReadingOptions:
    """Return options that recall enough to fill a context, also when half of it are repeats left out."""
    most = max_tokens // TURN_TOKENS
    return replace(
        options,
        units=max(options.units, most),
        recall_turns=max(options.recall_turns, most),
        recall_tokens=2 * max_tokens,
        ranking=replace(options.ranking, candidates=max(options.ranking.candidates, most)),
    )


def _log(degradations: Iterable[Degradation]) -> None:
    """Log degradations of results that have no trace.

    An index that lags for a moment is ordinary: it is logged for debugging, and `stats` counts what it lacks.
    """
    for degraded in dict.fromkeys(degradations):
        level = logging.DEBUG if degraded.reason.startswith(INDEX_LAGS) else logging.WARNING
        log.log(level, "%s: %s; instead: %s", degraded.stage, degraded.reason, degraded.fallback)
