"""What is held outside of memory, looked up in it: by which key it is known, and whether it is so still."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pagestore import Page, PageId, PageLine, Turn
from pagestore.codec import opened_as
from tiermem.model import Evidence, Named
from tiermem.reading.quoting import (
    lines,
    page_evidence,
    quote_spans,
    turn_evidence,
    unit_evidence,
    with_turn,
)
from tiermem.reading.view import View
from tiermem.text.unicode import replace_surrogates
from tiermem.text.withheld import withheld
from tiermem.workspace import UNKNOWN_IMPORTANCE


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownEvidence:
    """What memory knows of a piece of evidence: its key, how much it matters, how far it is believed.

    The key is the id of the unit; of a page or a turn it is made of the id that its page had from the first
    turn on, which `memory.page` knows after it has sealed as well. `part_of` is the record with which a turn
    begins of which the evidence is a part.
    """

    key: str
    importance: float
    trust: Named | None
    part_of: int | None = None


async def look_up_evidence(view: View, items: Sequence[Evidence]) -> tuple[KnownEvidence | None, ...]:
    """What the view knows of each; `None` of what it does not hold, not in these words, or not any more."""
    pages = (await view.fetch(span.page_id for item in items for span in item.spans)).pages
    return tuple(_look_up(view, item, pages) for item in items)


def _look_up(view: View, item: Evidence, pages: Mapping[PageId, Page]) -> KnownEvidence | None:
    if item.source == "unit":
        return _look_up_unit(view, item, pages)
    if not item.spans or any(span.page_id not in pages for span in item.spans):
        return None
    placed = [(pages[span.page_id], line) for span in item.spans for line in lines(pages[span.page_id], span)]
    if not placed or any(_is_gone(view, page, line) for page, line in placed):
        return None
    page, first = placed[0]
    own_id = opened_as(page.space, page)
    there = _page_like(page, item.text) if item.source == "page" else turn_from_parts(placed)
    if not _same(item, there) or first.turn is None:
        return None
    if item.source == "page":
        return KnownEvidence(key=own_id, importance=UNKNOWN_IMPORTANCE, trust=None)
    return KnownEvidence(
        key=f"{own_id}/{page.lines.index(first)}",
        importance=importance_of(first.turn),
        trust=first.turn.trust,
        part_of=None if len(dict.fromkeys(placed)) >= first.parts else first.seq - first.part + 1,
    )


def _look_up_unit(view: View, item: Evidence, pages: Mapping[PageId, Page]) -> KnownEvidence | None:
    unit = view.unit(item.unit_id) if item.unit_id is not None else None
    if unit is None or not _quotes(item, pages):
        return None
    shown = unit_evidence(unit, score=item.score)
    own, current = ((one.spans, one.said_at, one.event_at) for one in (item, shown))
    if own != current or item.text not in (shown.text, with_turn(shown, pages).text):
        return None
    return KnownEvidence(key=unit.id, importance=view.tier1.importance(unit), trust=unit.trust)


def _same(item: Evidence, there: Evidence) -> bool:
    """Whether evidence says no more and no other than what is there; a page is known by either id."""
    places = [[(span.start, span.end) for span in one.spans] for one in (item, there)]
    own, current = ((one.text, one.quote, one.said_at, one.event_at) for one in (item, there))
    return own == current and places[0] == places[1]


def _page_like(page: Page, text: str) -> Evidence:
    """The page as evidence, without the turns that are withheld in this text of it."""
    said = replace_surrogates(page.text)
    seen = withheld(page, lambda line: text[line.start : line.end] == said[line.start : line.end])
    return page_evidence(seen)


def _quotes(item: Evidence, pages: Mapping[PageId, Page]) -> bool:
    """Whether the quote of a unit is of words that it rests on, in their order."""
    left = item.quote
    for span in item.spans:
        words = quote_spans([span], pages)
        if left == words:
            return True
        left = left.removeprefix(f"{words} … ") if words else left
    return not left


def turn_from_parts(placed: Sequence[tuple[Page, PageLine]]) -> Evidence:
    """A turn, or its parts, as evidence of its words."""
    parts = [turn_evidence(page, line) for page, line in placed]
    turns = [line.turn for _, line in dict.fromkeys(placed) if line.turn is not None]
    if len(set(placed)) == 1 or not turns:
        return parts[0]
    text = f"{turns[0].speaker}: {''.join(turn.text for turn in turns)}"
    return replace(parts[0], text=text, spans=tuple(dict.fromkeys(s for part in parts for s in part.spans)))


def importance_of(turn: Turn) -> float:
    """How much a turn matters, as was said when it was stored."""
    return UNKNOWN_IMPORTANCE if turn.importance is None else turn.importance


def _is_gone(view: View, page: Page, line: PageLine) -> bool:
    """Whether the words of the line were erased, or some of them taken back."""
    taken = (one.span for one in view.taken_back(page))
    return line.turn is None or any(one.start < line.end and line.body < one.end for one in taken)
