"""From spans back to what is there: the words, the turns they belong to, and what surrounds them.

A span may name its page by the id it had while open (`o1:`); the page that came back then carries
another id and the same text, so offsets are used and ids are not compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from pagestore import Page, PageId, PageLine, Span, Turn
from tiermem.model import Evidence, SummaryUnit
from tiermem.proof import is_concluded
from tiermem.text import Source, stems
from tiermem.text.taken_back import LEFT_OUT, kept_spans, readable, remaining
from tiermem.text.unicode import replace_surrogates
from tiermem.trust import DEFAULT_TRUST


def words(page: Page, span: Span) -> str:
    """The characters `span` covers, with surrogates replaced."""
    return replace_surrogates(page.text[span.start : span.end])


def lines(page: Page, span: Span) -> tuple[PageLine, ...]:
    """The lines of the page that `span` touches."""
    return tuple(line for line in page.lines if line.touches(span))


def turns_under(spans: Iterable[Span], pages: Mapping[PageId, Page]) -> list[Turn | None]:
    """The turns that spans touch, on those of their pages that are given; `None` for each without words."""
    placed = ((span, pages[span.page_id]) for span in spans if span.page_id in pages)
    return [line.turn for span, page in placed for line in lines(page, span)]


def sources_in_span(page: Page, span: Span) -> tuple[Source, ...]:
    """The turns that `span` touches, as something an answer may rest on; erased ones are left out."""
    return tuple(
        Source(
            replace_surrogates(remaining(page, line.body, line.end)),
            line.turn.said_at,
            replace_surrogates(line.turn.speaker),
            kept_spans(page, line.body, line.end),
            is_concluded(line.turn),
            line.turn.role or "",
        )
        for line in lines(page, span)
        if line.turn is not None
    )


def with_turn(evidence: Evidence, pages: Mapping[PageId, Page]) -> Evidence:
    """The evidence with the address, session, speaker and role of the first turn that its spans touch.

    A unit in the words of that turn says who speaks, as turns do (`Ann: words`). The evidence is unchanged
    where it has an address, and where the page of that turn is not given.
    """
    if evidence.turn is not None or not evidence.spans or evidence.spans[0].page_id not in pages:
        return evidence
    page = pages[evidence.spans[0].page_id]
    touched = lines(page, evidence.spans[0])
    if not touched:
        return evidence
    found = _at_line(evidence, page, touched[0])
    if evidence.source != "unit" or len(found.spans) != 1 or not found.speaker:
        return found
    said = " ".join(words(page, found.spans[0]).split())
    return replace(found, text=f"{found.speaker}: {said}") if found.text == said else found


def _at_line(evidence: Evidence, page: Page, line: PageLine) -> Evidence:
    turn = line.turn
    return replace(
        evidence,
        turn=line.address,
        session=page.session,
        speaker=replace_surrogates(turn.speaker) if turn is not None else "",
        role=turn.role if turn is not None else None,
    )


def turn_evidence(
    page: Page, line: PageLine, *, score: float = 0.0, similarity: float | None = None
) -> Evidence:
    """One turn as evidence: its text says who speaks (`Ann: words`), its spans cover the words alone.

    Words that were taken back are not among them; an ellipsis is in their place.
    """
    turn = line.turn
    said = replace_surrogates(remaining(page, line.body, line.end)).replace("\n\t", "\n").rstrip("\n")
    evidence = Evidence(
        text=f"{replace_surrogates(turn.speaker)}: {said}" if turn is not None else said,
        spans=kept_spans(page, line.body, line.end),
        score=score,
        source="turn",
        said_at=turn.said_at if turn is not None else None,
        similarity=similarity,
        trust=DEFAULT_TRUST.of(turn) if turn is not None else None,
    )
    return _at_line(evidence, page, line)


def unit_evidence(unit: SummaryUnit, *, score: float, similarity: float | None = None) -> Evidence:
    """A unit as evidence."""
    return Evidence(
        text=unit.text,
        spans=unit.spans,
        score=score,
        source="unit",
        unit_id=unit.id,
        said_at=unit.said_at,
        event_at=unit.event_at,
        similarity=similarity,
        trust=unit.trust,
    )


def part_evidence(page: Page, line: PageLine, turn: Evidence, parts: Sequence[Span]) -> Evidence:
    """Evidence of a turn cut to some parts of it, in order: an ellipsis replaces what is left out."""
    texts = [replace_surrogates(page.text[part.start : part.end]).replace("\n\t", "\n") for part in parts]
    if page.text[line.body : parts[0].start].strip():
        texts.insert(0, "")
    if page.text[parts[-1].end : line.end].strip():
        texts.append("")
    speaker = "" if line.turn is None else f"{replace_surrogates(line.turn.speaker)}: "
    return replace(turn, text=speaker + f" {LEFT_OUT} ".join(texts).strip(), spans=tuple(parts))


def quote_spans(spans: Iterable[Span], pages: Mapping[PageId, Page]) -> str:
    """The words of spans, each with who said them; spans of pages that are not at hand are left out."""
    return " … ".join(_quote_span(pages[span.page_id], span) for span in spans if span.page_id in pages)


def _quote_span(page: Page, span: Span) -> str:
    speakers = dict.fromkeys(turn.speaker for turn in sources_in_span(page, span))
    return f'{" and ".join(speakers)}: "{words(page, span)}"'


def page_evidence(page: Page, *, score: float = 0.0, similarity: float | None = None) -> Evidence:
    """A whole page as evidence."""
    first = next((line.turn for line in page.lines if line.turn is not None), None)
    return Evidence(
        text=replace_surrogates(readable(page.text)),
        spans=(Span(page_id=page.id, start=0, end=len(page.text)),),
        score=score,
        source="page",
        said_at=first.said_at if first else None,
        similarity=similarity,
        session=page.session,
    )


def size(items: Iterable[Evidence], count: Callable[[str], int]) -> int:
    """The tokens of pieces of evidence with their quotes."""
    return sum(count(f"{item.text}\n{item.quote}") for item in items)


def closest_turns(page: Page, answer: str, question: str) -> tuple[Span, ...]:
    """The turns a whole page is cited for: the one that shares most content words with answer and question,
    and those that hold further words of the answer, in the order of the page.
    """
    turns = (turn_evidence(page, line) for line in page.lines if line.turn is not None)
    stems_of = {turn.spans: set(stems(turn.text)) for turn in turns}
    if not stems_of:
        return (Span(page_id=page.id, start=0, end=len(page.text)),)
    wanted = set(stems(answer))
    about = wanted.union(stems(question))
    chosen = [max(stems_of, key=lambda spans: len(about & stems_of[spans]))]
    while True:
        lacking = wanted.difference(*(stems_of[spans] for spans in chosen))
        best = max(stems_of, key=lambda spans: len(lacking & stems_of[spans]))
        if not lacking & stems_of[best]:
            return tuple(sorted((span for spans in chosen for span in spans), key=lambda span: span.start))
        chosen.append(best)
