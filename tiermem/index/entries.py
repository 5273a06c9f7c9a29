"""What an index is given of the turns of a page."""

from __future__ import annotations

from pagestore import Page, Turn
from tiermem.index.values import Entry, TurnContext, turn_id
from tiermem.text.unicode import join_surrogates

AROUND = 3
"""How many turns before and after a turn are the words around it."""


def turn_entries(page: Page, before: Page | None, *, owner: str = "") -> list[Entry]:
    """The turns of a page, found also by what was said around them.

    That reaches back to the page before. It does not reach on to the next page, which may not exist
    yet, and the turns just before new ones of an open page are put again with these: what is in the
    index never depends on when it was put there.
    """
    earlier = [] if before is None else _turns(before)[-AROUND:]
    turns = [*earlier, *_turns(page)]
    ids = [turn_id(seq) for seq, _, _ in turns]
    texts = [join_surrogates(turn.text) for _, _, turn in turns]
    return [
        Entry(
            id=ids[at],
            session=page.session,
            text=texts[at],
            said_at=turns[at][2].said_at,
            owner=owner,
            context=TurnContext(
                page=page,
                line=turns[at][1],
                around="\n".join(texts[max(0, at - AROUND) : at + AROUND + 1]),
                near=tuple(ids[max(0, at - 1) : at] + ids[at + 1 : at + 2]),
            ),
        )
        for at in range(len(earlier), len(turns))
    ]


def _turns(page: Page) -> list[tuple[int, int, Turn]]:
    """The turns of a page with their numbers in the log and those of their lines."""
    return [(line.seq, number, line.turn) for number, line in enumerate(page.lines) if line.turn is not None]
