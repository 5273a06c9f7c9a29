"""`tiermem correct`: what is remembered in place of a unit."""

from __future__ import annotations

from typing import Annotated

import typer

from tiermem.apps.cli import options
from tiermem.apps.cli.remember import remembered_table


def correct(
    unit_id: options.UnitOrTurn,
    text: Annotated[str, typer.Argument(help="What holds in its place, in a sentence.")],
    *,
    attribution: options.FactOptions,
    session: Annotated[str | None, typer.Option("--session", help="Said in this one (the unit's).")] = None,
    place: options.SpaceOptions,
    output: options.Output,
) -> None:
    """Remember a fact in place of a unit, which it supersedes."""
    keywords = attribution.keywords()
    with place.open() as memory:
        unit = options.unit_named(memory, unit_id)
        done = memory.correct(unit, text, session=session, **keywords)
    output.show(done, lambda: remembered_table(done))
