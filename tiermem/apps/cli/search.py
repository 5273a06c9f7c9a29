"""`tiermem search`: summaries, pages or turns, best first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from tiermem.apps.cli import options
from tiermem.apps.present.progress import show_activity
from tiermem.apps.present.tables import page_ids, short, table
from tiermem.apps.present.terminal import when
from tiermem.apps.present.titles import title_suffix, titles_by_session
from tiermem.model import Evidence, trust_mark
from tiermem.text.unicode import show_controls


def search(
    query: str,
    *,
    place: options.SpaceOptions,
    kind: Annotated[
        options.Kind, typer.Option(help="Search summaries and turns (any), one of them, or pages.")
    ] = "any",
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="How many results at most.")] = 10,
    filters: options.FilterOptions,
    read_only: options.ReadOnly = False,
    output: options.Output,
) -> None:
    """Find summaries, turns or pages by meaning and by words; a "phrase" in quotation marks exactly."""
    keywords = filters.keywords()
    with place.look(read_only=read_only) as memory:
        with show_activity("searching"):
            found = memory.search(query, limit=limit, kind=kind, **keywords)
            titles = titles_by_session(memory)
        shown = {"query": query, "kind": kind, "results": found}
        output.show(shown, lambda: results(found, titles) if found else "nothing found")


def results(found: Sequence[Evidence], titles: Mapping[str, str]) -> Table:
    """Results as a table, best first, with the titles of their chats."""
    return table(
        ("", "score", "said", "what was found"),
        [
            (str(rank), f"{item.score:.3f}", when(item.said_at), _evidence_text(item, titles))
            for rank, item in enumerate(found, start=1)
        ],
        numbers=("", "score"),
    )


def _evidence_text(item: Evidence, titles: Mapping[str, str]) -> Text:
    where = ", ".join(short(page_id) for page_id in page_ids(item.spans))
    unit = short(item.unit_id) if item.unit_id is not None else None
    source = " · ".join(filter(None, (item.source, unit, item.turn, trust_mark(item.trust))))
    source += title_suffix(item.session, titles, separator=" · ")
    return Text(show_controls(item.text)).append(f"\n{source} · {where}", style="dim")
