"""From evidence to a worded answer with numbered sources, checked, or to an abstention.

From summaries one wording is made; whether it holds decides if the pages must be read. From research
a wording that does not hold is made once more, from the exact words of the proved facts alone, and
when that does not hold either there is no answer: an unsupported literal never leaves this file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from pagestore import Page, PageId, Span, TokenCounter
from tiermem.dialogue.trust import DEFAULT_TRUST, TrustLevels
from tiermem.errors import BudgetExceeded
from tiermem.ledger import Ledger
from tiermem.model import Check, Citation, Claim, Degradation, Evidence, Findings, Grade, LinkedFact, Recalled
from tiermem.reading.check import check
from tiermem.reading.quoting import closest_line, lines, page_evidence, printable, said, words
from tiermem.reading.scope import Scope
from tiermem.reading.shelf import fetch
from tiermem.reasoning import Draft, Reasoner
from tiermem.text import Source, proof_rank

ABSTENTION = "Nothing in memory answers this."


@dataclass(frozen=True, slots=True, kw_only=True)
class Exhibit:
    """One piece of evidence as it is put before the composer, and the fact it stands for, if any."""

    evidence: Evidence
    grade: Grade
    fact: LinkedFact | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Composed:
    """A worded answer that is not recorded yet. `checks` are those of every wording, the last one last."""

    text: str
    abstained: bool
    citations: tuple[Citation, ...] = ()
    facts: tuple[LinkedFact, ...] = ()
    checks: tuple[Check, ...] = ()
    read_tokens: int = 0
    degradations: tuple[Degradation, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether there is an answer and its check passed."""
        return not self.abstained and bool(self.checks) and self.checks[-1].passed


def abstention(after: Composed | None = None) -> Composed:
    """No answer; what was tried before stays on record."""
    if after is None:
        return Composed(text=ABSTENTION, abstained=True)
    return replace(after, text=ABSTENTION, abstained=True, citations=(), facts=())


class Composer:
    """Words the answer to one question."""

    def __init__(
        self,
        question: str,
        *,
        asked_at: datetime,
        ledger: Ledger,
        reasoner: Reasoner,
        counter: TokenCounter,
        scope: Scope,
    ) -> None:
        self._question = question
        self._asked_at = asked_at
        self._ledger = ledger
        self._reasoner = reasoner
        self._counter = counter
        self._scope = scope
        self._degradations: dict[Degradation, None] = {}

    async def from_summaries(self, recalled: Recalled) -> Composed:
        """One wording from units and tail, with its check."""
        return self._finished(
            await self._word([_exhibit(item) for item in (*recalled.units, *recalled.tail)])
        )

    async def from_findings(self, findings: Findings, *, pages: int) -> Composed:
        """A wording that holds, from the facts found, or where none was from `pages` pages; else abstain."""
        shown = [fact for fact in findings.facts if fact.grade != "page"]
        first = await self._word(await self._of_facts(shown) or await self._of_pages(findings, pages))
        if first.holds or first.abstained:
            return self._finished(first)
        proved = await self._of_facts([fact for fact in shown if fact.grade == "verbatim"], in_words=True)
        if not proved:
            return self._finished(abstention(first))
        second = await self._word(proved)
        both = replace(second, checks=(*first.checks, *second.checks))
        return self._finished(both if second.holds else abstention(both))

    async def _word(self, exhibits: Sequence[Exhibit]) -> Composed:
        """One wording and its check. Without evidence nobody is asked."""
        if not exhibits:
            return abstention()
        draft = await self._draft([exhibit.evidence for exhibit in exhibits])
        tokens = sum(self._counter.count(exhibit.evidence.text) for exhibit in exhibits)
        text = printable(draft.text).strip()
        if draft.abstained or not text:
            return replace(abstention(), read_tokens=tokens)
        cited = [exhibits[i] for i in dict.fromkeys(draft.cited) if 0 <= i < len(exhibits)]
        pages = await self._pages(span for exhibit in cited for span in exhibit.evidence.spans)
        verdict = check(self._question, text, sources(cited, pages))
        return Composed(
            text=text,
            abstained=False,
            citations=citations(cited, pages, about=(self._question, text), trust=self._scope.trust),
            facts=tuple(exhibit.fact for exhibit in cited if exhibit.fact is not None),
            checks=(verdict,),
            read_tokens=tokens,
        )

    async def _draft(self, evidence: Sequence[Evidence]) -> Draft:
        try:
            return await self._reasoner.compose(self._question, evidence, asked_at=self._asked_at)
        except BudgetExceeded as error:
            # A spent budget still owes the answer that what was read can give; local rules cost nothing.
            from tiermem.reasoning import Local

            self._note(Degradation(stage="compose", reason=str(error), fallback="worded by local rules"))
            return await Local().compose(self._question, evidence, asked_at=self._asked_at)

    async def _of_facts(self, facts: Sequence[LinkedFact], *, in_words: bool = False) -> list[Exhibit]:
        pages = await self._pages(span for fact in facts for span in fact.spans)
        return [fact_exhibit(fact, pages, in_words=in_words) for fact in facts]

    async def _of_pages(self, findings: Findings, limit: int) -> list[Exhibit]:
        read = await self._pages(Span(page_id=i, start=0, end=0) for i in findings.pages_read[:limit])
        whole = (page_evidence(page) for page in read.values())
        return [_exhibit(item) for item in (*findings.evidence, *whole)]

    async def _pages(self, spans: Iterable[Span]) -> Mapping[PageId, Page]:
        shelf = await fetch(self._ledger, (span.page_id for span in spans))
        for page_id, reason in shelf.missing.items():
            self._note(
                Degradation(stage="compose", reason=reason, fallback=f"without the words of {page_id}")
            )
        return {page_id: self._scope.seen(page) for page_id, page in shelf.pages.items()}

    def _note(self, degradation: Degradation) -> None:
        self._degradations[degradation] = None

    def _finished(self, composed: Composed) -> Composed:
        return replace(composed, degradations=tuple(self._degradations))


def _exhibit(evidence: Evidence) -> Exhibit:
    return Exhibit(evidence=evidence, grade="page" if evidence.source == "page" else "verbatim")


def fact_exhibit(fact: LinkedFact, pages: Mapping[PageId, Page], *, in_words: bool) -> Exhibit:
    """A fact as evidence: its claim, or `in_words` the exact words it rests on and who said them."""
    turns = _turns(fact.spans, pages)
    text = fact.claim
    if in_words and turns:
        quoted = " … ".join(words(pages[s.page_id], s) for s in fact.spans if s.page_id in pages)
        text = f"{turns[0].speaker}: {quoted}"
    evidence = Evidence(
        text=printable(text),
        spans=fact.spans,
        score=1.0,
        source="page",
        said_at=turns[0].said_at if turns else None,
        event_at=fact.event_at,
    )
    return Exhibit(evidence=evidence, grade=fact.grade, fact=fact)


def sources(cited: Iterable[Exhibit], pages: Mapping[PageId, Page]) -> list[Source]:
    """What an answer that cites these may rest on: their text, their dates, and the turns of their spans."""
    found: list[Source] = []
    for exhibit in cited:
        item = exhibit.evidence
        found.append(Source(item.text, item.said_at))
        if item.event_at is not None:
            found.append(Source(item.event_at))
        found += _turns(item.spans, pages)
    return found


def citations(
    cited: Iterable[Exhibit],
    pages: Mapping[PageId, Page],
    *,
    about: Sequence[str],
    trust: TrustLevels = DEFAULT_TRUST,
) -> tuple[Citation, ...]:
    """Numbered sources with their words. A whole page is cited for the turn closest to `about`."""
    return tuple(
        _citation(number, exhibit, pages, about, trust) for number, exhibit in enumerate(cited, start=1)
    )


def _citation(
    number: int, exhibit: Exhibit, pages: Mapping[PageId, Page], about: Sequence[str], trust: TrustLevels
) -> Citation:
    item, spans = exhibit.evidence, exhibit.evidence.spans
    whole_page = exhibit.grade == "page"
    if whole_page:
        spans = tuple(closest_line(pages[s.page_id], about) if s.page_id in pages else s for s in spans)
    turns = _turns(spans, pages)
    quote = " … ".join(words(pages[span.page_id], span) for span in spans if span.page_id in pages)
    return Citation(
        number=number,
        claim=quote if whole_page else item.text,
        quote=quote,
        spans=spans,
        grade=exhibit.grade,
        speaker=turns[0].speaker if turns else "",
        said_at=turns[0].said_at if turns else item.said_at,
        unit_id=item.unit_id,
        trust=_trust(exhibit, spans, pages, trust),
    )


def _trust(
    exhibit: Exhibit, spans: Sequence[Span], pages: Mapping[PageId, Page], trust: TrustLevels
) -> str | None:
    """The level of the least trusted turn that a citation needs; `None` when its turns cannot be read."""
    held = {span.page_id: pages[span.page_id] for span in spans if span.page_id in pages}
    turns = [line.turn for span in spans if span.page_id in held for line in lines(held[span.page_id], span)]
    levels = [trust.of(turn) for turn in turns if turn is not None]
    if levels and exhibit.evidence.source == "unit":
        levels.append(exhibit.evidence.trust or trust.names[0])
    if levels and exhibit.fact is not None and exhibit.grade == "verbatim":
        claim = Claim(text=exhibit.fact.claim, quotes=exhibit.fact.quotes, event_at=exhibit.fact.event_at)
        levels.append(trust.names[proof_rank(claim, spans, tuple(held.values()), trust.rank_of)])
    return trust.lowest(levels)


def _turns(spans: Iterable[Span], pages: Mapping[PageId, Page]) -> list[Source]:
    return [turn for span in spans if span.page_id in pages for turn in said(pages[span.page_id], span)]
