"""`tiermem withdraw`: what was taken back, and what holds again."""

from __future__ import annotations

from rich.table import Table

import tiermem
from tiermem.apps.cli import options
from tiermem.apps.present.tables import pairs, still_rests


def withdraw(
    unit_id: options.UnitOrTurn,
    *,
    reason: options.ReasonUnlessTried = "",
    dry_run: options.DryRun = False,
    place: options.SpaceOptions,
    output: options.Output,
) -> None:
    """Take back a unit: it is recalled no more, nor are its words; what it superseded returns."""
    options.needs_reason(reason, dry_run=dry_run)
    with place.open(read_only=dry_run) as memory:
        done = memory.withdraw(options.unit_named(memory, unit_id), reason=reason, dry_run=dry_run)
    output.show(done, lambda: _withdrawn(done))


def _withdrawn(done: tiermem.Withdrawn) -> Table:
    would = "would be " if done.proposed else ""
    again = [("holds again", unit.text) for unit in done.returned] or [("holds again", "nothing")]
    rows = [(f"{would}withdrawn", done.unit.text), ("unit", done.unit.id), *again, *still_rests(done.beside)]
    return pairs([*rows, ("done", "nothing: this was a dry run")] if done.proposed else rows)
