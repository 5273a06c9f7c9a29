"""What is held outside of memory, looked up in it: by which key it is known, and whether it is so still."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pagestore import Page, PageId, PageLine, Turn
from pagestore.codec import open_page_id
from tiermem.index.interface import turn_id
from tiermem.model import Evidence, Named
from tiermem.reading.quoting import lines, turn_evidence
from tiermem.reading.view import View
from tiermem.workspace import UNKNOWN_IMPORTANCE


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What memory knows of a piece of evidence: its key, how much it matters, how far it is believed.

    The key is the id of the unit; of a page or a turn it is made of the id that its page had from the first
    turn on, which `memory.page` knows after it has sealed as well.
    """

    key: str
    importance: float
    trust: Named | None


async def known(view: View, items: Sequence[Evidence]) -> tuple[Known | None, ...]:
    """What the view knows of each; `None` of what it does not hold, not in these words, or not any more."""
    pages = (await view.fetch(span.page_id for item in items for span in item.spans)).pages
    return tuple(_known(view, item, pages) for item in items)


def _known(view: View, item: Evidence, pages: Mapping[PageId, Page]) -> Known | None:
    if item.source == "unit":
        unit = view.unit(item.unit_id) if item.unit_id is not None else None
        if unit is None or (unit.text, unit.spans) != (item.text, item.spans):
            return None
        return Known(key=unit.id, importance=unit.importance, trust=unit.trust)
    if not item.spans or any(span.page_id not in pages for span in item.spans):
        return None
    placed = [(pages[span.page_id], line) for span in item.spans for line in lines(pages[span.page_id], span)]
    if not placed or any(_is_gone(view, page, line) for page, line in placed):
        return None
    page, first = placed[0]
    own = open_page_id(page.space, page.session, page.number)
    if item.source == "page":
        return Known(key=own, importance=UNKNOWN_IMPORTANCE, trust=None)
    if said_by(placed).text != item.text or first.turn is None:
        return None
    key = turn_id(own, page.lines.index(first))
    return Known(key=key, importance=importance_of(first.turn), trust=first.turn.trust)


def said_by(placed: Sequence[tuple[Page, PageLine]]) -> Evidence:
    """A turn where it stands, or where its parts stand, as evidence of its words."""
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
