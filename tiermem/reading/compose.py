"""From evidence to a worded answer with numbered sources and its check, or to an abstention.

Nothing is asserted here: the engine words, `check` grades. A wording that cites nothing is no answer; one
with unsupported words or cautions is an answer, and is displayed with them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from anyio import to_thread

from pagestore import Page, PageId, Span
from tiermem.errors import InvalidInput, shown
from tiermem.model import (
    AnswerSupport,
    Check,
    Citation,
    CitationSupport,
    CitedSentence,
    Claim,
    Degradation,
    Evidence,
    LinkedFact,
    Search,
    Unproved,
)
from tiermem.proof import ONLY_CONCLUDED, link, proof_rank, without_words
from tiermem.reading.check import check
from tiermem.reading.quoting import (
    closest_turns,
    quote_spans,
    size,
    sources_in_span,
    turns_under,
    with_turn,
    words,
)
from tiermem.reading.request import AskRequest
from tiermem.reasoning import Draft
from tiermem.text import Source
from tiermem.text.unicode import replace_surrogates
from tiermem.trust import TrustLevels

ABSTENTION = "Nothing that was found in memory answers this."
NOTHING_FITS = "Nothing in memory fits the session, the time and the other filters of this question."


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceItem:
    """One piece of evidence as it is put before the composer, and the fact it gives, if any."""

    evidence: Evidence
    fact: LinkedFact | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ComposedAnswer:
    """A worded answer that is not recorded yet. `checks` are those of every wording, the last one last.

    `declined` says why a wording is not given as an answer; it is empty where one is. `cited` are the
    pieces of evidence behind the citations.
    """

    text: str
    abstained: bool
    citations: tuple[Citation, ...] = ()
    cited: tuple[Evidence, ...] = ()
    facts: tuple[LinkedFact, ...] = ()
    checks: tuple[Check, ...] = ()
    sentences: tuple[CitedSentence, ...] = ()
    is_unmarked: bool = False
    """`Grade.is_unmarked` of the wording."""
    said: tuple[CitedSentence, ...] = ()
    """Lines that were said about the question, where nothing is worded."""
    read_tokens: int = 0
    complete: bool = True
    missing: str = ""
    explanation: str = ""
    """What the engine says where it abstains."""
    searches: tuple[Search, ...] | None = None
    """What to look up for what is missing, where the wording says so."""
    statement: LinkedFact | None = None
    declined: str = ""
    probability: float | None = None
    """Probability that it is right, if the engine that worded it is calibrated."""
    degradations: tuple[Degradation, ...] = ()

    @property
    def gap(self) -> str:
        """What is not known yet, for a search: what is missing, and what an abstention says."""
        return "; ".join(dict.fromkeys(part for part in (self.missing, self.explanation) if part))

    @property
    def holds(self) -> bool:
        """Whether there is an answer that may be given."""
        return not self.abstained and not self.declined

    @property
    def suffices(self) -> bool:
        """Whether nothing more is to be read: all is answered, or no reading would answer it."""
        return self.complete and not self.declined

    @property
    def support(self) -> AnswerSupport | None:
        """What code checked of the answer, or that it is lines as they were said; `None` where it is none."""
        if self.said and self.holds:
            return "said"
        if self.check is None or self.check.support == "contradicted":
            return None
        return self.check.support

    @property
    def check(self) -> Check | None:
        """The check of the answer; `None` without an answer."""
        return self.checks[-1] if self.holds and self.checks else None


def abstention(after: ComposedAnswer | None = None) -> ComposedAnswer:
    """No answer; what was tried before stays on record."""
    if after is None:
        return ComposedAnswer(text=ABSTENTION, abstained=True, complete=False)
    return replace(
        after,
        text=ABSTENTION,
        abstained=True,
        complete=after.abstained and after.complete,
        citations=(),
        cited=(),
        facts=(),
        sentences=(),
        statement=None,
        probability=None,
        missing=after.missing or after.declined,
    )


def better(new: ComposedAnswer, before: Iterable[ComposedAnswer]) -> ComposedAnswer:
    """The new wording; where that is no answer, the first before it that is one."""
    if new.holds:
        return new
    return next((one for one in before if one.holds), new)


class Composer:
    """Words the answers to one question, from whatever evidence it is given."""

    def __init__(self, asking: AskRequest) -> None:
        self._asking = asking
        self._degradations: dict[Degradation, None] = {}

    async def word(self, items: Sequence[EvidenceItem]) -> ComposedAnswer:
        """One wording and its check. Without evidence no model is asked. Raises `BudgetExceeded`."""
        if not items:
            return abstention()
        draft = await self._draft([item.evidence for item in items])
        text = replace_surrogates(draft.text).strip()
        if draft.abstained or not text:
            worded = replace(
                abstention(),
                complete=draft.abstained and draft.complete,
                missing=draft.missing,
                explanation=text,
                searches=draft.searches,
            )
        else:
            cited = [items[i] for i in dict.fromkeys(draft.cited) if 0 <= i < len(items)]
            if not cited:
                numbers = f": {shown(draft.cited)} are not among 0 to {len(items) - 1}" if draft.cited else ""
                self._note(f"compose cites none of its evidence{numbers}", "no answer")
            worded = await self._check_wording(text, draft, cited)
            if _is_of_assistant(worded.checks):
                worded = await self._in_own_words(text, draft, items) or worded
        tokens = size((item.evidence for item in items), self._asking.count)
        degradations = tuple(self._degradations)
        return replace(worded, read_tokens=tokens, degradations=degradations)

    async def _check_wording(self, text: str, draft: Draft, cited: Sequence[EvidenceItem]) -> ComposedAnswer:
        spans = [span for item in cited for span in item.evidence.spans]
        pages = await self._pages(spans)
        closed = (await self._asking.view.fetch(span.page_id for span in spans)).closed
        exact = [_of_turns(item, pages, text, self._asking.question.text) for item in cited]
        verdict, grade = check(
            self._asking.question.text,
            text,
            sources(exact, pages),
            is_inferred=draft.inferred,
        )
        return ComposedAnswer(
            text=text,
            abstained=False,
            citations=citations(exact, pages, trust=self._asking.view.trust, closed=closed),
            cited=tuple(item.evidence for item in cited),
            facts=tuple(item.fact for item in cited if item.fact is not None),
            checks=(verdict,),
            sentences=grade.sentences,
            is_unmarked=grade.is_unmarked,
            complete=draft.complete,
            missing=draft.missing,
            searches=draft.searches,
            probability=draft.probability,
            statement=None if _is_of_assistant((verdict,)) else await self._statement(draft, cited, pages),
            declined=_reason_to_decline(verdict, self._asking.options.unproved),
        )

    async def _in_own_words(
        self, text: str, draft: Draft, items: Sequence[EvidenceItem]
    ) -> ComposedAnswer | None:
        """The answer with the first evidence that leaves it unmarked, and so is not an assistant's alone."""
        for item in items:
            worded = await self._check_wording(text, draft, [item])
            if worded.is_unmarked:
                return worded
        return None

    async def _draft(self, evidence: Sequence[Evidence]) -> Draft:
        compose = self._asking.engine.compose
        assert compose is not None  # noqa: S101  (nothing is worded without it)
        draft = await compose(self._asking.question, evidence)
        if not isinstance(draft, Draft):
            raise InvalidInput(f"the engine's 'compose' gave {type(draft).__name__}, which must be a `Draft`")
        return draft

    async def _statement(
        self, draft: Draft, cited: Sequence[EvidenceItem], pages: Mapping[PageId, Page]
    ) -> LinkedFact | None:
        """Return what was found as a fact of the turns it cites, or `None` if code cannot confirm it."""
        turns = [item.evidence.spans for item in cited if item.evidence.source == "turn"]
        quotes = tuple(words(pages[s.page_id], s) for spans in turns for s in spans if s.page_id in pages)
        if not draft.statement.strip() or not quotes:
            return None
        claim = Claim(text=replace_surrogates(draft.statement).strip(), quotes=quotes)
        linked = await to_thread.run_sync(link, claim, tuple(pages.values()))
        linked = without_words(linked, tuple(pages.values()))
        return linked if isinstance(linked, LinkedFact) and linked.is_supported else None

    async def of_facts(self, facts: Sequence[LinkedFact]) -> list[EvidenceItem]:
        """Return facts as evidence: a confirmed claim with its quotes, of other claims the quotes alone."""
        pages = await self._pages(span for fact in facts for span in fact.spans)
        return [fact_item(fact, pages, self._asking.view.trust) for fact in facts]

    async def _pages(self, spans: Iterable[Span]) -> Mapping[PageId, Page]:
        fetched = await self._asking.view.fetch(span.page_id for span in spans)
        for page_id, error in fetched.unread.items():
            self._note(f"{type(error).__name__}: {error}", f"without the words of {page_id}")
        return fetched.pages

    def _note(self, reason: str, fallback: str) -> None:
        self._degradations[Degradation(stage="compose", reason=reason, fallback=fallback)] = None


def _is_of_assistant(checks: Sequence[Check]) -> bool:
    """Whether only an assistant says so, by the last check."""
    return any(caution.code == "assistant" for check in checks[-1:] for caution in check.cautions)


def _reason_to_decline(verdict: Check, unproved: Unproved) -> str:
    if verdict.refused:
        return verdict.reason or "the words cited say otherwise"
    if unproved == "mark":
        return ""
    why = verdict.reason
    if verdict.unsupported:
        why = f"not in the cited words: {', '.join(verdict.unsupported)}"
    elif any(caution.code == "memory" for caution in verdict.cautions):
        why = ONLY_CONCLUDED
    return f"only what somebody said may be answered: {why}" if why else ""


def fact_item(fact: LinkedFact, pages: Mapping[PageId, Page], trust: TrustLevels) -> EvidenceItem:
    """A fact as evidence. Of a wording that could not be confirmed only its words are shown."""
    turns = _turns(fact.spans, pages)
    quote = quote_spans(fact.spans, pages)
    proved = fact.is_supported or not quote
    evidence = Evidence(
        text=replace_surrogates(fact.claim if proved else quote),
        quote=quote if proved else "",
        spans=fact.spans,
        score=1.0,
        source="turn",
        said_at=turns[0].said_at if turns else None,
        event_at=fact.event_at if proved else None,
        trust=trust.lowest(trust.of(turn) for turn in turns_under(fact.spans, pages) if turn is not None),
    )
    return EvidenceItem(evidence=evidence, fact=fact)


def sources(cited: Iterable[EvidenceItem], pages: Mapping[PageId, Page]) -> list[Source]:
    """What an answer that cites these may rest on: their text, their dates, and the turns of their spans."""
    found: dict[Source, None] = {}
    for item in cited:
        evidence = item.evidence
        turns = _turns(evidence.spans, pages)
        found.update(dict.fromkeys(turns))
        concluded = bool(turns) and all(turn.concluded for turn in turns)
        role = turns[0].role if len({turn.role for turn in turns}) == 1 else ""
        if evidence.source == "unit" or not turns:
            found[Source(evidence.text, evidence.said_at, concluded=concluded, role=role)] = None
        if evidence.event_at is not None:
            found[Source(evidence.event_at, concluded=concluded, role=role)] = None
    return list(found)


def citations(
    cited: Iterable[EvidenceItem],
    pages: Mapping[PageId, Page],
    *,
    trust: TrustLevels,
    closed: Mapping[PageId, Page],
) -> tuple[Citation, ...]:
    """Numbered sources with their words; of words on `closed` pages only speaker and time are given."""
    numbered = enumerate(cited, start=1)
    return tuple(_citation(number, item, pages, trust, closed) for number, item in numbered)


def _of_turns(item: EvidenceItem, pages: Mapping[PageId, Page], answer: str, question: str) -> EvidenceItem:
    """A whole page as the turns that the answer needs of it: what is checked is what is cited."""
    evidence = item.evidence
    if evidence.source != "page":
        return item
    spans = tuple(
        turn
        for span in evidence.spans
        for turn in (
            closest_turns(pages[span.page_id], answer, question) if span.page_id in pages else (span,)
        )
    )
    return replace(item, evidence=replace(evidence, spans=spans))


def _citation(
    number: int,
    item: EvidenceItem,
    pages: Mapping[PageId, Page],
    trust: TrustLevels,
    closed: Mapping[PageId, Page],
) -> Citation:
    evidence, spans = item.evidence, item.evidence.spans
    turns = _turns(spans, {**pages, **closed})
    quote = " … ".join(words(pages[span.page_id], span) for span in spans if span.page_id in pages)
    claimed = evidence.source == "unit" or item.fact is not None
    first = with_turn(evidence, pages)
    return Citation(
        number=number,
        claim=(item.fact.claim if item.fact is not None else evidence.text) if claimed else quote,
        quote=quote,
        spans=spans,
        support="worded" if turns and all(turn.concluded for turn in turns) else _support_of(item),
        speaker=turns[0].speaker if turns else "",
        said_at=turns[0].said_at if turns else evidence.said_at,
        unit_id=evidence.unit_id,
        trust=_trust(item, spans, pages, trust),
        turn=first.turn,
        session=first.session,
        role=first.role,
    )


def _support_of(item: EvidenceItem) -> CitationSupport:
    """The support of what is cited: that of a fact; units have been confirmed, and turns quote themselves."""
    if item.fact is not None:
        return item.fact.support
    return "stated" if item.evidence.source == "unit" else "quoted"


def _trust(
    item: EvidenceItem, spans: Sequence[Span], pages: Mapping[PageId, Page], trust: TrustLevels
) -> str | None:
    """The level of the least trusted turn that a citation needs; `None` when its turns cannot be read."""
    there = {span.page_id: pages[span.page_id] for span in spans if span.page_id in pages}
    levels = [trust.of(turn) for turn in turns_under(spans, there) if turn is not None]
    if levels and item.evidence.source == "unit":
        levels.append(item.evidence.trust or trust.names[0])
    if levels and item.fact is not None and item.fact.is_supported:
        claim = Claim(text=item.fact.claim, quotes=item.fact.quotes, event_at=item.fact.event_at)
        levels.append(trust.names[proof_rank(claim, spans, tuple(there.values()), trust.rank_of)])
    return trust.lowest(levels)


def _turns(spans: Iterable[Span], pages: Mapping[PageId, Page]) -> list[Source]:
    return [
        turn for span in spans if span.page_id in pages for turn in sources_in_span(pages[span.page_id], span)
    ]
