"""`tiermem recall`: what memory holds on a topic, also of some time alone."""

from __future__ import annotations

from typing import Annotated, Literal

import typer
from rich.console import RenderableType
from rich.text import Text

import tiermem
from tiermem.apps.cli import options
from tiermem.apps.cli.search import results
from tiermem.apps.present.progress import show_activity
from tiermem.apps.present.titles import titles_by_session
from tiermem.text.unicode import show_controls


def recall(
    topic: str,
    *,
    place: options.SpaceOptions,
    timeframe: Annotated[
        str | None,
        typer.Option(
            help="Only of then: “last week”, 2024-05, 2024-05-01/2024-05-08, or auto: as the topic says."
        ),
    ] = None,
    about: Annotated[
        Literal["said", "event"], typer.Option(help="When it was said, or when it happened.")
    ] = "said",
    strategy: Annotated[
        Literal["hybrid", "vector", "fulltext"], typer.Option(help="By meaning, by words, or both.")
    ] = "hybrid",
    kind: Annotated[options.Kind, typer.Option(help="Summaries and turns (any), or one kind.")] = "any",
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="How many results at most.")] = 20,
    filters: options.FilterOptions,
    read_only: options.ReadOnly = False,
    output: options.Output,
) -> None:
    """Find what was said on a topic, also in some time alone, by meaning, by words or both."""
    keywords = filters.keywords()
    with place.look(read_only=read_only) as memory:
        with show_activity("searching"):
            found = memory.recall(
                topic,
                limit=limit,
                kind=kind,
                strategy=strategy,
                timeframe=timeframe,
                about=about,
                **keywords,
            )
            titles = titles_by_session(memory)
        output.show(
            found, lambda: (results(found.items, titles) if found.items else "nothing found", *_notes(found))
        )


def _notes(found: tiermem.Recollection) -> tuple[RenderableType, ...]:
    """What there is to say about a search, apart from what it found."""
    what = (
        "turns tell not when they were said" if found.about == "said" else "units tell not when it happened"
    )
    undated = [f"{found.undated:,} {what}: they are left out"] if found.undated else []
    gone = [f"{one.reason}; instead: {one.fallback}" for one in found.degradations]
    return tuple(Text(show_controls(note), style="dim") for note in (*undated, *gone))
