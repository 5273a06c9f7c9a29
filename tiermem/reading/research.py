"""The bounded research loop: read the linked pages, then integrate, plan and search until it is enough.

The rules: the pages of recalled units and turns come first (provenance); at most `max_rounds`
searches follow, each bringing at most `pages_per_round` pages; no page is read twice and no look-up is
made twice; what the last search brought is integrated before anything is answered. Claims become facts by
code alone (`tiermem.proof.link`), against the pages that were shown, in the order they were shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from anyio import to_thread

from pagestore import Page
from tiermem.errors import BudgetExceeded, ModelError, ModelRefused, ModelUnavailable
from tiermem.index.values import Hit
from tiermem.llm.meter import check_budget, step
from tiermem.model import (
    Degradation,
    Evidence,
    Findings,
    LinkedFact,
    Recalled,
    Rejected,
    Round,
    Search,
    SummaryUnit,
    UnitId,
)
from tiermem.proof import link, without_words
from tiermem.reading.compose import Composer
from tiermem.reading.fusion import fuse
from tiermem.reading.request import AskRequest
from tiermem.reading.rerank import reranked
from tiermem.reading.search import FoundEvidence, LookUp, Pages, linked_pages
from tiermem.reasoning import PageView
from tiermem.text.unicode import replace_surrogates

MAX_QUERY = 400
"""Characters of a look-up that are used; a planner's longer ones say nothing more."""

Read = Sequence[tuple[Hit, Page]]
"""Pages as they were read, each with the hit that led to it."""


class Research:
    """One question's way through the pages. Made for one question, run once."""

    def __init__(self, asking: AskRequest, lookup: LookUp, composer: Composer) -> None:
        self._asking = asking
        self._lookup = lookup
        self._composer = composer
        self._findings = Findings(evidence=())
        self._coverage = ""

    @property
    def findings(self) -> Findings:
        """Everything found and read so far, also where that came to nothing."""
        return self._findings

    async def run(self, recalled: Recalled) -> Findings:
        """Everything found. A failing model or a spent budget ends the loop early, and the result says so.

        Raises `ModelUnavailable` or `ModelRefused` when that leaves nothing at all to answer from.
        """
        self._findings = Findings(evidence=recalled.items)
        try:
            reason = await self._loop(recalled)
            self._findings = with_stop_reason(self._findings, reason)
        except (ModelError, BudgetExceeded) as error:
            down = isinstance(error, ModelUnavailable | ModelRefused)
            if down and not self._findings.facts and not self._findings.evidence:
                raise
            self._findings = interrupt(self._findings, error)
        return replace(self._findings, degradations=tuple(dict.fromkeys(self._findings.degradations)))

    async def _loop(self, recalled: Recalled) -> str:
        """Read, then plan and search while there is cause to; returns why it ended."""
        searches, pages = await self._start(recalled)
        for number in range(self._asking.options.max_rounds + 1):
            self._findings = with_round(self._findings, number, searches, pages)
            self._asking.steps.done("read", way="researched", rounds=self._findings.rounds[-1:])
            if not pages:
                return "nothing new turned up"
            await self._integrate(pages)
            self._asking.steps.done("integrate", way="researched", rounds=self._findings.rounds[-1:])
            if number < self._asking.options.max_rounds:
                searches, reason = await self._plan()
                if not searches:
                    return reason
                pages = await self._search(searches)
        return "no rounds left"

    async def _start(self, recalled: Recalled) -> tuple[tuple[Search, ...], Read]:
        """Round 0: the pages of what was recalled, by its rank, and one page that is too new for the index.

        Where nothing is linked, and in the No-Linked ablation, the question itself is searched for.
        """
        linked = linked_pages(recalled.items) if self._asking.options.links else ()
        if linked:
            fresh = await self._read(await self._lookup.unindexed(self._asking.question, limit=1), limit=1)
            room = self._asking.options.pages_per_round - len(fresh)
            pages = await self._read(linked, limit=room, besides=fresh)
            if pages:
                return (), [*pages, *fresh]
        by_words = Search(kind="KEYWORD", query=self._asking.question.text)
        by_meaning = Search(kind="SEMANTIC", query=self._asking.question.text)
        searches = (by_meaning, by_words) if self._asking.options.links else (by_words,)
        return searches, await self._search(searches)

    async def _integrate(self, pages: Read) -> None:
        check_budget()
        views = [PageView(page=page, units=self._units_on(hit, page)) for hit, page in pages]
        integrate = self._asking.engine.integrate
        assert integrate is not None  # noqa: S101  (see `Engine.looks_further`)
        integrated = await integrate(self._asking.question, views, await self._found_evidence())
        shown = [page for _, page in pages]
        self._coverage = replace_surrogates(integrated.coverage)
        # Linking takes milliseconds a claim: other questions do not wait for it.
        outcomes = await to_thread.run_sync(
            lambda: [without_words(link(claim, shown), shown) for claim in integrated.claims]
        )
        self._findings = with_outcomes(self._findings, outcomes, self._coverage)

    async def _found_evidence(self) -> list[Evidence]:
        """What was found so far, the words of worded facts among it."""
        return [item.evidence for item in await self._composer.of_facts(self._findings.facts)]

    async def _plan(self) -> tuple[tuple[Search, ...], str]:
        """What to look up next, and why nothing when there is nothing."""
        check_budget()
        done = [search for r in self._findings.rounds for search in r.searches]
        known = [*await self._found_evidence(), *self._findings.evidence]
        plan = self._asking.engine.plan
        assert plan is not None  # noqa: S101  (as above)
        planned = await plan(self._asking.question, known, self._coverage, done)
        if planned.done:
            return (), "enough was found"
        new = new_searches(planned.searches, done, limit=self._asking.options.searches_per_round)
        return new, "nothing new to look up"

    async def _search(self, searches: Iterable[Search]) -> Read:
        """The new pages that these look-ups lead to, best first."""
        wanted = (
            self._asking.options.rerank_pool
            if self._asking.reranker
            else self._asking.options.pages_per_round
        )
        with step("search"):
            # Every page already read may come before the new ones in a ranking.
            limit = wanted + len(self._findings.pages_read)
            rankings = [await self._look_up(search, limit=limit) for search in searches]
            candidates = await self._read(fuse(*rankings), limit=wanted)
            ordered = await self._rerank(candidates)
        return ordered[: self._asking.options.pages_per_round]

    async def _look_up(self, search: Search, *, limit: int) -> tuple[Hit, ...]:
        question = replace(self._asking.question, text=search.query)
        if search.kind == "KEYWORD":
            found = await self._lookup.pages(question, limit=limit, mode="words")
            self._note(found)
            return found.pages
        units = await self._lookup.units(question, limit=limit)
        pages = await self._lookup.pages(question, limit=limit, mode="hybrid")
        self._note(units)
        self._note(pages)
        self._findings = with_units(self._findings, units, limit=self._asking.options.units)
        return fuse(linked_pages(units.units), pages.pages)

    async def _read(self, hits: Sequence[Hit], *, limit: int, besides: Read = ()) -> Read:
        """The first pages of `hits` that were not read in an earlier round and are not among `besides`."""
        skip = {*self._findings.pages_read, *(page.id for _, page in besides)}
        found = await self._lookup.read(hits, limit=limit, skip=skip)
        self._note(found)
        return found.read

    async def _rerank(self, pages: Read) -> Read:
        if self._asking.reranker is None:
            return pages
        view, protected = self._lookup.view, self._asking.options.protected_similarity
        ordered, degradations = await reranked(
            self._asking.reranker, self._asking.question, pages, view=view, protected=protected
        )
        self._findings = replace(self._findings, degradations=(*self._findings.degradations, *degradations))
        return ordered

    def _units_on(self, hit: Hit, page: Page) -> tuple[SummaryUnit, ...]:
        """The units among the evidence that rest on this page: what it was found by."""
        found = (
            self._lookup.view.unit(item.unit_id)
            for item in self._findings.evidence
            if item.unit_id is not None and any(span.page_id in (hit.id, page.id) for span in item.spans)
        )
        return tuple(unit for unit in found if unit is not None)

    def _note(self, found: FoundEvidence | Pages) -> None:
        self._findings = replace(
            self._findings,
            dropped=self._findings.dropped + found.dropped,
            degradations=(*self._findings.degradations, *found.degradations),
        )


def new_searches(wanted: Iterable[Search], done: Iterable[Search], *, limit: int) -> tuple[Search, ...]:
    """The look-ups that were not made before, each once; letter case and spacing make no new one."""
    seen = {_key(search) for search in done}
    new: list[Search] = []
    for search in wanted:
        cut = replace(search, query=" ".join(replace_surrogates(search.query[:MAX_QUERY]).split()))
        if len(new) < limit and cut.query and _key(cut) not in seen:
            seen.add(_key(cut))
            new.append(cut)
    return tuple(new)


def _key(search: Search) -> tuple[str, str]:
    return search.kind, " ".join(search.query[:MAX_QUERY].casefold().split())


def with_round(findings: Findings, number: int, searches: tuple[Search, ...], pages: Read) -> Findings:
    """A round opened: its pages count as read from now on, whatever becomes of them."""
    ids = tuple(page.id for _, page in pages)
    opened = Round(number=number, searches=searches, pages=ids, facts=0, rejected=0, coverage="")
    return replace(findings, rounds=(*findings.rounds, opened), pages_read=(*findings.pages_read, *ids))


def with_outcomes(findings: Findings, outcomes: Iterable[LinkedFact | Rejected], coverage: str) -> Findings:
    """What linking made of the round's claims; a fact stated twice counts once."""
    outcomes_seen = list(outcomes)
    rejected = [outcome for outcome in outcomes_seen if isinstance(outcome, Rejected)]
    # The pages of a round are never shown again, so only within a round can a fact come twice.
    facts = list(dict.fromkeys(outcome for outcome in outcomes_seen if isinstance(outcome, LinkedFact)))
    last = replace(findings.rounds[-1], facts=len(facts), rejected=len(rejected), coverage=coverage)
    return replace(
        findings,
        facts=(*findings.facts, *facts),
        rejected=(*findings.rejected, *rejected),
        rounds=(*findings.rounds[:-1], last),
    )


def with_units(findings: Findings, found: FoundEvidence, *, limit: int) -> Findings:
    """Units that a search brought join the evidence, each once."""
    known: set[UnitId | None] = {item.unit_id for item in findings.evidence}
    new = tuple(unit for unit in found.units[:limit] if unit.unit_id not in known)
    return replace(findings, evidence=(*findings.evidence, *new))


def with_stop_reason(findings: Findings, reason: str) -> Findings:
    """Why the loop ended, kept in its last round."""
    if not findings.rounds:
        return findings
    last = replace(findings.rounds[-1], stop=reason)
    return replace(findings, rounds=(*findings.rounds[:-1], last))


def interrupt(findings: Findings, error: ModelError | BudgetExceeded) -> Findings:
    """The loop cut short: what was found is kept, with the reason."""
    reason = f"{type(error).__name__}: {error}"
    degraded = Degradation(stage="research", reason=reason, fallback="what was found until then")
    return replace(with_stop_reason(findings, reason), degradations=(*findings.degradations, degraded))
