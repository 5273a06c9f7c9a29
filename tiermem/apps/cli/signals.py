"""`tiermem signals`: what is known of a unit besides what it says."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table

import tiermem
from tiermem.apps.cli import options
from tiermem.apps.present.tables import pairs, plural
from tiermem.apps.present.terminal import when


def signals(
    unit_id: options.UnitId,
    *,
    as_of: Annotated[str | None, typer.Option(help="As they stood then.")] = None,
    place: options.SpaceOptions,
    looking: options.Looking,
) -> None:
    """Tell how much a unit matters, how often it was cited, and how that turned out."""
    with place.open(read_only=True) as memory:
        unit = options.unit_named(memory, unit_id)
        found = memory.signals(unit, as_of=options.moment("--as-of", as_of))
    looking.show(found, lambda: _in_words(found))


def _in_words(found: tiermem.Signals) -> Table:
    last = f", last {when(found.last_used)}" if found.last_used else ""
    return pairs(
        [
            ("importance", f"{found.importance:.2f}"),
            ("cited by", f"{plural(found.uses, 'answer')}{last}"),
            ("weight", f"{found.weight:+.2f}"),
            ("said", when(found.said_at)),
            ("tier", found.tier),
        ]
    )
