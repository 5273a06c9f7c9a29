"""`tiermem reinstate`: what holds again, and what it supersedes."""

from __future__ import annotations

from rich.table import Table

import tiermem
from tiermem.apps.cli import options
from tiermem.apps.present.tables import pairs, short


def reinstate(
    unit_id: options.UnitOrTurn,
    *,
    reason: options.Reason,
    place: options.SpaceOptions,
    output: options.Output,
) -> None:
    """Undo `withdraw`: the unit holds again, and so do its words."""
    with place.open() as memory:
        done = memory.reinstate(options.unit_named(memory, unit_id), reason=reason)
    output.show(done, lambda: _reinstated_table(done))


def _reinstated_table(done: tiermem.ReinstatedUnit) -> Table:
    superseded = [("superseded", unit.text) for unit in done.superseded]
    newer = [("but not shown", f"{short(unit_id)} supersedes it") for unit_id in done.superseded_by]
    return pairs([("reinstated", done.unit.text), *superseded, *newer])
