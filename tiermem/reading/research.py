"""Rounds over pages: what is on them is integrated as facts, and from these the answer is worded at the end.

The pages of recalled units and turns come first (provenance); at most `max_rounds` searches follow, each
bringing at most `pages_per_round` pages; what the last search brought is integrated before anything is
answered. Claims become facts by code alone (`tiermem.proof.link`), against the pages that were shown, in the
order they were shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from anyio import to_thread

from pagestore import Page, PageId
from tiermem.errors import BudgetExceeded, ModelError, ModelRefused, ModelUnavailable
from tiermem.index.values import Hit
from tiermem.llm.meter import check_budget, step
from tiermem.model import (
    Evidence,
    Findings,
    LinkedFact,
    Recalled,
    Rejected,
    Search,
    SummaryUnit,
    UnitId,
)
from tiermem.proof import link, without_words
from tiermem.reading.compose import Composer
from tiermem.reading.fusion import fuse
from tiermem.reading.look_further import Rounds
from tiermem.reading.request import AskRequest
from tiermem.reading.rerank import rerank_pages
from tiermem.reading.search import FoundEvidence, LookUp, Pages, linked_pages
from tiermem.reasoning import PageView
from tiermem.text.unicode import replace_surrogates

FoundPage = tuple[Hit, Page]
"""A page as it was read, with the hit that led to it."""


class PageRounds(Rounds[FoundPage]):
    """The rounds over pages; number 0 reads those of what was recalled, of which all searches come on top."""

    stage = "research"
    fallback = "what was found until then"

    def __init__(self, asking: AskRequest, lookup: LookUp, composer: Composer, recalled: Recalled) -> None:
        super().__init__(asking, lookup, composer)
        self.numbers = range(asking.options.max_rounds + 1)
        self.findings = Findings(evidence=recalled.items)
        self._coverage = ""

    def is_fatal(self, error: ModelError | BudgetExceeded) -> bool:
        """Where the model is down, and nothing at all was found."""
        down = isinstance(error, ModelUnavailable | ModelRefused)
        return down and not self.findings.facts and not self.findings.evidence

    def missing(self) -> str:
        """What the last pages are said to cover, and to miss."""
        return self._coverage

    def coverage(self) -> str:
        """Nothing, until its own pages are integrated."""
        return ""

    async def known_evidence(self) -> Sequence[Evidence]:
        """The facts of the pages, and what was recalled."""
        return [*await self._found_evidence(), *self.findings.evidence]

    def pages(self, found: Sequence[FoundPage]) -> Iterable[PageId]:
        """Their ids."""
        return (page.id for _, page in found)

    def end(self, number: int, searches: tuple[Search, ...], reason: str) -> None:
        """Keep why nothing is read: of a look-up in its round, else in the round before."""
        if searches:
            super().end(number, searches, "nothing new turned up")
        else:
            self.stop(reason)

    async def find(self, number: int) -> tuple[tuple[Search, ...], Sequence[FoundPage], str]:
        """Round 0: the pages of what was recalled, by its rank, and one page that is too new for the index.

        Where nothing is linked, and in the No-Linked ablation, the question itself is searched for.
        """
        if number:
            return await super().find(number)
        question, links = self._asking.question, self._asking.options.links
        linked = linked_pages(self.findings.evidence) if links else ()
        if linked:
            fresh = await self._read(await self._lookup.find_unindexed_pages(question, limit=1), limit=1)
            room = self._asking.options.pages_per_round - len(fresh)
            pages = await self._read(linked, limit=room, besides=fresh)
            if pages:
                return (), [*pages, *fresh], ""
        by_words = Search(kind="KEYWORD", query=question.text)
        by_meaning = Search(kind="SEMANTIC", query=question.text)
        searches = (by_meaning, by_words) if links else (by_words,)
        return searches, await self.search(searches), ""

    async def read(self, found: Sequence[FoundPage]) -> bool:
        """Facts of these pages; whether they are enough is for the planner to say."""
        check_budget()
        views = [PageView(page=page, units=self._units_on(hit, page)) for hit, page in found]
        integrate = self._asking.engine.integrate
        assert integrate is not None  # noqa: S101  (see `Engine.looks_further`)
        integrated = await integrate(self._asking.question, views, await self._found_evidence())
        self.is_read = True
        shown = [page for _, page in found]
        self._coverage = replace_surrogates(integrated.coverage)
        # Linking takes milliseconds a claim: other questions do not wait for it.
        outcomes = await to_thread.run_sync(
            lambda: [without_words(link(claim, shown), shown) for claim in integrated.claims]
        )
        self.findings = with_outcomes(self.findings, outcomes, self._coverage)
        self._asking.steps.done("integrate", way="researched", rounds=self.findings.rounds[-1:])
        return False

    async def _found_evidence(self) -> list[Evidence]:
        """What was found so far, the words of worded facts among it."""
        return [item.evidence for item in await self._composer.of_facts(self.findings.facts)]

    async def search(self, searches: Sequence[Search]) -> Sequence[FoundPage]:
        """The new pages that these look-ups lead to, best first."""
        wanted = (
            self._asking.options.rerank_pool
            if self._asking.reranker
            else self._asking.options.pages_per_round
        )
        with step("search"):
            # Every page already read may come before the new ones in a ranking.
            limit = wanted + len(self.findings.pages_read)
            rankings = [await self._look_up(search, limit=limit) for search in searches]
            candidates = await self._read(fuse(*rankings), limit=wanted)
            ordered = await self._rerank(candidates)
        return ordered[: self._asking.options.pages_per_round]

    async def _look_up(self, search: Search, *, limit: int) -> tuple[Hit, ...]:
        question = self.question_of(search)
        if search.kind == "KEYWORD":
            found = await self._lookup.pages(question, limit=limit, mode="words")
            self._note_search(found)
            return found.pages
        units = await self._lookup.units(question, limit=limit)
        pages = await self._lookup.pages(question, limit=limit, mode="hybrid")
        self._note_search(units)
        self._note_search(pages)
        self.findings = with_units(self.findings, units, limit=self._asking.options.units)
        return fuse(linked_pages(units.units), pages.pages)

    async def _read(
        self, hits: Sequence[Hit], *, limit: int, besides: Sequence[FoundPage] = ()
    ) -> Sequence[FoundPage]:
        """The first pages of `hits` that were not read in an earlier round and are not among `besides`."""
        skip = {*self.findings.pages_read, *(page.id for _, page in besides)}
        found = await self._lookup.read(hits, limit=limit, skip=skip)
        self._note_search(found)
        return found.read

    async def _rerank(self, pages: Sequence[FoundPage]) -> Sequence[FoundPage]:
        if self._asking.reranker is None:
            return pages
        view, protected = self._lookup.view, self._asking.options.protected_similarity
        ordered, degradations = await rerank_pages(
            self._asking.reranker, self._asking.question, pages, view=view, protected=protected
        )
        self.note(degradations)
        return ordered

    def _units_on(self, hit: Hit, page: Page) -> tuple[SummaryUnit, ...]:
        """The units among the evidence that rest on this page: what it was found by."""
        found = (
            self._lookup.view.unit(item.unit_id)
            for item in self.findings.evidence
            if item.unit_id is not None and any(span.page_id in (hit.id, page.id) for span in item.spans)
        )
        return tuple(unit for unit in found if unit is not None)

    def _note_search(self, found: FoundEvidence | Pages) -> None:
        self.findings = replace(self.findings, dropped=self.findings.dropped + found.dropped)
        self.note(found.degradations)


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
