"""`tiermem pages`: the pages, sealed ones first, then those that still fill."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.table import Table
from rich.text import Text

from pagestore import Page
from tiermem.apps.cli import options
from tiermem.apps.present.tables import short, table
from tiermem.apps.present.terminal import when
from tiermem.apps.present.titles import session_label, titles_by_session
from tiermem.model import MarkedPageInfo


def pages(*, place: options.SpaceOptions, session: options.Session = None, looking: options.Looking) -> None:
    """List the pages, sealed ones and those still filling."""
    with place.open(read_only=True) as memory:
        sealed, filling = memory.pages(session), memory.open_pages(session)
        titles = titles_by_session(memory)
    looking.show(
        {"pages": sealed, "open": [page.id for page in filling], "titles": titles},
        lambda: _pages_table(sealed, filling, titles) if sealed or filling else "no pages yet",
    )


def _pages_table(
    sealed: Sequence[MarkedPageInfo], filling: Sequence[Page], titles: Mapping[str, str]
) -> Table:
    """One a line. Where passages were taken back, how many of each page."""
    rows = [(p.id, p.session, p.number, p.turns, p.tokens, when(p.sealed_at), p.taken_back) for p in sealed]
    rows += [(p.id, p.session, p.number, len(p.lines), p.tokens, "still filling", ()) for p in filling]
    taken = any(page.taken_back for page in sealed)
    return table(
        ("page", "session", "no", "turns", "tokens", "sealed", *(["taken back"] if taken else [])),
        [
            (
                Text(short(page_id), style="cyan"), session_label(session, titles), f"{number}",
                f"{turns:,}", f"{tokens:,}", sealed_at, *([f"{len(back)}"] if taken else []),
            )
            for page_id, session, number, turns, tokens, sealed_at, back in rows
        ],
        numbers=("no", "turns", "tokens"),
    )  # fmt: skip
