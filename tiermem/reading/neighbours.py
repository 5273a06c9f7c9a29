"""More turns than were recalled, each with its neighbours, in the order they were said."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from pagestore import Page, PageId
from tiermem.model import Evidence
from tiermem.reading.quoting import turn_evidence
from tiermem.reading.turns import FoundTurn
from tiermem.text.dates import timestamp

Place = tuple[PageId, int]
"""A page, and which line of it."""


def with_neighbours(
    turns: Sequence[FoundTurn],
    *,
    limit: int,
    tokens: int,
    count: Callable[[str], int],
) -> tuple[Evidence, ...]:
    """The best `limit` turns with their neighbours, as many as fit in `tokens`, oldest first.

    Better turns are taken in first, a turn before its neighbours.
    """
    taken: dict[Place, Evidence] = {}
    left = tokens
    for page, number in _by_worth(turns[:limit]):
        place = (page.id, number)
        if place in taken:
            continue
        evidence = turn_evidence(page, page.lines[number])
        needed = count(evidence.text)
        if needed <= left:
            taken[place] = evidence
            left -= needed
    pages = {turn.page.id: turn.page for turn in turns}
    ordered = sorted(taken, key=lambda place: _order(pages[place[0]], place[1]))
    return tuple(taken[place] for place in ordered)


def _by_worth(turns: Sequence[FoundTurn]) -> Iterable[tuple[Page, int]]:
    """The better half of the turns, their neighbours, then the others and theirs."""
    half = (len(turns) + 1) // 2
    for group in (turns[:half], turns[half:]):
        places = [(turn.page, turn.page.lines.index(turn.line)) for turn in group]
        yield from places
        for page, number in places:
            yield from (
                (page, beside)
                for beside in (number - 1, number + 1)
                if 0 <= beside < len(page.lines) and page.lines[beside].turn is not None
            )


def _order(page: Page, number: int) -> tuple[float, str, int, int]:
    turn = page.lines[number].turn
    said_at = timestamp(turn.said_at if turn is not None else None)
    return said_at, page.session, page.number, number
