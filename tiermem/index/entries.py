"""What an index is given of the turns of a page."""

from __future__ import annotations

from pagestore import Page, Turn
from tiermem.index.values import Entry, TurnContext, turn_id

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
    lines = [number for number, line in enumerate(page.lines) if line.turn is not None]
    ids = [known_as for known_as, _ in turns]
    texts = [_words(turn) for _, turn in turns]
    return [
        Entry(
            id=ids[at],
            session=page.session,
            text=texts[at],
            said_at=turn.said_at,
            owner=owner,
            context=TurnContext(
                page=page,
                line=lines[at - len(earlier)],
                speaker=_name(turn),
                before=_spoken(turns[at - 1][1]) if at else "",
                around="\n".join(texts[max(0, at - AROUND) : at + AROUND + 1]),
                near=tuple(ids[i] for i in (at - 1, at + 1) if 0 <= i < len(ids)),
            ),
        )
        for at, (_, turn) in enumerate(turns)
        if at >= len(earlier)
    ]


def _turns(page: Page) -> list[tuple[str, Turn]]:
    """The turns of a page with the ids that the index knows them by."""
    return [(turn_id(line.seq), line.turn) for line in page.lines if line.turn is not None]


def _words(turn: Turn) -> str:
    return turn.text.encode(errors="replace").decode()


def _name(turn: Turn) -> str | None:
    """Who spoke, where that is more than a role."""
    return turn.speaker if turn.speaker != turn.role else None


def _spoken(turn: Turn) -> str:
    name = _name(turn)
    return f"{name}: {_words(turn)}" if name else _words(turn)
