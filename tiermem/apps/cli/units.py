"""`tiermem units`: the summary units, with the pages they rest on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from tiermem.apps.cli import options
from tiermem.apps.present.tables import page_ids, short, table
from tiermem.apps.present.terminal import when
from tiermem.model import SummaryUnit


def units(
    *,
    place: options.SpaceOptions,
    session: options.Session = None,
    as_of: Annotated[str | None, typer.Option(help="As they stood then.")] = None,
    looking: options.Looking,
) -> None:
    """List the summary units and the pages they rest on."""
    with place.open(read_only=True) as memory:
        listed = memory.units(session, as_of=options.moment("--as-of", as_of))
    nothing = "no summary units yet" if as_of is None else "no summary units at that moment"
    looking.show({"units": listed}, lambda: units_table(listed) if listed else nothing)


def units_table(listed: Sequence[SummaryUnit]) -> Table:
    """A row a unit, with the pages it rests on."""
    return table(
        ("unit", "what it says", "said", "rests on"),
        [
            (
                Text(short(unit.id), style="cyan"),
                unit.text
                if unit.kind == "summary"
                else f"{unit.text} ({unit.kind}, revision {unit.revision})",
                when(unit.said_at),
                ", ".join(short(page_id) for page_id in page_ids(unit.spans)),
            )
            for unit in listed
        ],
    )
