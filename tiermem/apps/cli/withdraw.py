"""`tiermem withdraw`: what was taken back, and what holds again."""

from __future__ import annotations

from rich.table import Table

import tiermem
from tiermem.apps.cli import options
from tiermem.apps.present.tables import pairs, still_rests


def withdraw(
    unit_id: options.UnitId, *, reason: options.Reason, place: options.Place, output: options.Output
) -> None:
    """Take back a unit: it is recalled no more, nor are its words; what it superseded returns."""
    with place.open() as memory:
        done = memory.withdraw(options.unit_named(memory, unit_id), reason=reason)
    output.show(done, lambda: _withdrawn(done))


def _withdrawn(done: tiermem.Withdrawn) -> Table:
    again = [("holds again", unit.text) for unit in done.returned] or [("holds again", "nothing")]
    return pairs([("withdrawn", done.unit.text), ("unit", done.unit.id), *again, *still_rests(done.beside)])
