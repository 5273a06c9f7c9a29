"""From an answer back to the characters of the pages it rests on, for a person and for a program.

Nothing is taken from the answer but its citations: the words shown are read from the pages again, so
that a difference between what was cited and what is there is seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from pagestore import Page, PageId, SessionId, Span, TurnAddress
from tiermem.model import Answer, Citation, Derivation, Term, Trace, Way
from tiermem.proof.in_words import check_in_words, decision_in_words, derivation_in_words, support_in_words
from tiermem.reading.looking_back.recomputing import recompute
from tiermem.reading.quoting import lines, words
from tiermem.reading.view import FetchedPages
from tiermem.text.unicode import replace_surrogates


@dataclass(frozen=True, slots=True, kw_only=True)
class WordsOnPage:
    """Cited words with their page, the address of their turn, speaker and time, and the text around them.

    `turn` is `None` where the words are on no line of the page.
    """

    page_id: PageId
    session: SessionId
    page_number: int
    turn: TurnAddress | None
    speaker: str
    said_at: datetime | None
    start: int
    end: int
    before: str
    words: str
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditedCitation:
    """One citation, the step that chose it, and its words as they are now.

    `intact` says that they are the words that were cited; `missing` names what cannot be read. For words that
    are `withheld` from the caller, only places and speakers are given, and nothing is compared.
    """

    citation: Citation
    chosen_by: str
    words_on_page: tuple[WordsOnPage, ...]
    missing: tuple[str, ...]
    intact: bool
    withheld: tuple[WordsOnPage, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditedDerivation:
    """A value the answer was said to follow by, and what code computes today from the same words.

    `now` is `None` where their words cannot be read, or give no value. The rules of a new version may compute
    another value, or none, from the same words: the words are as cited where the citations are intact.
    """

    derivation: Derivation
    now: str | None

    @property
    def intact(self) -> bool:
        """Whether the words give the same value again."""
        return self.now == self.derivation.value


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """The trail of one answer."""

    answer: Answer
    citations: tuple[AuditedCitation, ...]
    derivations: tuple[AuditedDerivation, ...] = ()

    @property
    def intact(self) -> bool:
        """Whether every citation is still as it was cited, and every derivation gives its value again."""
        return all(one.intact for one in self.citations) and all(one.intact for one in self.derivations)

    def __str__(self) -> str:
        return self.explain()

    def explain(self) -> str:
        """The trail in plain text."""
        answer, trace = self.answer, self.answer.trace
        decision = trace.decision
        opening = [
            f"Question: {trace.question}",
            f"Answer:   {answer.text}",
            f"Support:  {support_in_words(answer)}",
            *(f"Said:     {one}" for one in answer.sentences),
            *(f"Caution:  {line}" for line in answer.caution_lines),
            *([f"Missing:  {answer.missing_part}"] if answer.missing_part else []),
            *([f"Model:    “{answer.explanation}”, which was not checked"] if answer.explanation else []),
            f"Route:    {decision_in_words(decision)}; {_way_in_words(trace)}",
            *(f"Round {r.number}:  {_round_in_words(r.pages, r.facts, r.stop)}" for r in trace.rounds),
            *(f"Check:    {check_in_words(c)}" for c in trace.checks),
            *(f"Derived:  {derived_in_words(one)}" for one in self.derivations),
            *(f"Degraded: {d.stage}: {d.reason}; instead: {d.fallback}" for d in trace.degradations),
        ]
        return "\n".join([*opening, *(_cited_in_words(cited) for cited in self.citations)])


WAYS: Mapping[Way, str] = {
    "recall": "nothing beyond what was recalled was read",
    "widened": "more turns were read",
    "researched": "what was missing was searched for and read",
}


def _way_in_words(trace: Trace) -> str:
    """How far reading went, also where it was to go further and could not."""
    if trace.way == "recall" and trace.decision.action == "ESCALATE":
        return "nothing came of it beyond what was recalled"
    return WAYS[trace.way]


def derived_in_words(one: AuditedDerivation) -> str:
    """A derivation, and whether computing it again gives the same."""
    now = one.now or "nothing"
    again = "computed again: the same" if one.intact else f"computed again by the rules of today: {now}"
    return f"{derivation_in_words(one.derivation)}; {again}"


def _round_in_words(pages: tuple[PageId, ...], facts: int, stop: str | None) -> str:
    counts = ((len(pages), "page"), (facts, "fact"))
    done = ", ".join(f"{number} {thing}{'s' * (number != 1)}" for number, thing in counts)
    return f"{done}; stopped: {stop}" if stop else done


def _cited_in_words(cited: AuditedCitation) -> str:
    rows = [
        f"\n[{cited.citation.number}] {cited.citation.claim}",
        f"    {cited.citation.support}; {cited.chosen_by}",
    ]
    for place in cited.words_on_page:
        time = f"{place.said_at:%Y-%m-%d %H:%M}" if place.said_at else "no time"
        where = f"session {place.session!r}, page {place.page_number}, turn {place.turn}"
        rows.append(f"    {where} (page id {place.page_id})")
        rows.append(f"    {place.speaker}, {time}, characters {place.start} to {place.end}:")
        rows += [f"    | {row}" for row in f"{place.before}«{place.words}»{place.after}".splitlines()]
    for place in cited.withheld:
        rows.append(f"    {place.speaker}: words that are withheld (page id {place.page_id})")
    rows += [f"    MISSING: {what}" for what in cited.missing]
    if not cited.intact:
        rows.append("    NOT INTACT: the text there is not what was cited")
    return "\n".join(rows)


def audit_answer(answer: Answer, fetched: FetchedPages, *, context: int) -> Audit:
    """The trail of `answer` over the pages its citations name."""
    trail = (_audit_citation(citation, answer.trace, fetched, context) for citation in answer.citations)
    derived = (AuditedDerivation(derivation=one, now=again(one, fetched.pages)) for one in answer.derivations)
    return Audit(answer=answer, citations=tuple(trail), derivations=tuple(derived))


def again(derivation: Derivation, pages: Mapping[PageId, Page]) -> str | None:
    """The value of a derivation, computed from the words that are on the pages now."""
    terms = tuple(_current_term(term, pages) for term in derivation.terms)
    if any(term is None for term in terms):
        return None
    return recompute(replace(derivation, terms=tuple(term for term in terms if term is not None)))


def _current_term(term: Term, pages: Mapping[PageId, Page]) -> Term | None:
    """A term with the words and time now at its spans; as recorded without spans; `None` if unreadable."""
    if not term.spans:
        return term
    found = words_on_pages(term.spans, pages, context=0)
    if len(found) < len(term.spans):
        return None
    # A term without words is the time at which its turn was said.
    text = " … ".join(place.words for place in found) if term.text else ""
    return replace(term, text=text, said_at=found[0].said_at)


def _audit_citation(citation: Citation, trace: Trace, fetched: FetchedPages, context: int) -> AuditedCitation:
    words_on_page = words_on_pages(citation.spans, fetched.pages, context=context)
    kept = [span for span in citation.spans if span.page_id in fetched.closed]
    why = fetched.unread
    unread = dict.fromkeys(span.page_id for span in citation.spans if span.page_id in why)
    shown = " … ".join(place.words for place in words_on_page)
    return AuditedCitation(
        citation=citation,
        chosen_by=chosen_by(citation, trace),
        words_on_page=words_on_page,
        missing=tuple(f"{type(why[i]).__name__}: {why[i]}" for i in unread),
        intact=not unread and citation.quote == shown,
        withheld=tuple(replace(_words_on_page(fetched.closed[s.page_id], s, 0), words="") for s in kept),
    )


def words_on_pages(
    spans: Iterable[Span], pages: Mapping[PageId, Page], *, context: int
) -> tuple[WordsOnPage, ...]:
    """The words now at the spans; spans of pages that cannot be read are left out."""
    return tuple(_words_on_page(pages[s.page_id], s, context) for s in spans if s.page_id in pages)


def _words_on_page(page: Page, span: Span, context: int) -> WordsOnPage:
    touched = lines(page, span)
    turn = touched[0].turn if touched else None
    return WordsOnPage(
        page_id=page.id,
        session=page.session,
        page_number=page.number,
        turn=touched[0].address if touched else None,
        speaker=replace_surrogates(turn.speaker) if turn else "",
        said_at=turn.said_at if turn else None,
        start=span.start,
        end=span.end,
        before=replace_surrogates(page.text[max(0, span.start - context) : span.start]),
        words=words(page, span),
        after=replace_surrogates(page.text[span.end : span.end + context]),
    )


def chosen_by(citation: Citation, trace: Trace) -> str:
    """The step that brought what is cited: a rank of recall or of reading, or a round of research."""
    cited_pages = {span.page_id for span in citation.spans}
    for round_ in trace.rounds:
        if round_.number > 0 and cited_pages & set(round_.pages):
            return f"research, round {round_.number}: found by search"
    for rank, item in enumerate(trace.candidates, start=1):
        if citation.unit_id is not None and item.unit_id == citation.unit_id:
            return f"recall, rank {rank}"
        if item.source == "turn" and item.spans == citation.spans:
            return f"{'recall' if trace.way == 'recall' else 'reading'}, rank {rank}, as a turn"
    for round_ in trace.rounds:
        if cited_pages & set(round_.pages):
            how = "found by search" if round_.searches else "linked from recalled units"
            return f"research, round {round_.number}: {how}"
    return "recall, by keywords over pages"
