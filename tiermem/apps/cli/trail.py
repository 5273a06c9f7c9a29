"""`tiermem trail`: every unit of a trail with its words, oldest first."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group

import tiermem
from tiermem.apps.cli import options
from tiermem.apps.present.tables import short, table
from tiermem.apps.present.terminal import when


def trail(unit_id: options.UnitId, *, place: options.SpaceOptions, looking: options.Looking) -> None:
    """Show what a unit superseded and what superseded it, each with the words it rests on."""
    with place.open(read_only=True) as memory:
        found = memory.trail(options.unit_named(memory, unit_id))
    looking.show({"trail": found}, lambda: _units(found))


def _units(found: Sequence[tiermem.UnitHistory]) -> Group:
    rows = [
        (
            short(one.unit.id),
            one.state + (f": {one.because}" if one.because else ""),
            one.unit.text,
            "\n".join(
                f"{place.speaker}, {when(place.said_at)}: {place.words}" for place in one.words_on_page
            ),
        )
        for one in found
    ]
    outcomes = [
        (short(one.unit.id), when(part.at), part.outcome, f"{part.share:.2f}", part.by, part.answer_id or "")
        for one in found
        for part in one.outcomes
    ]
    columns = ("unit", "judged", "outcome", "share", "by", "answer")
    moved = [table(columns, outcomes, numbers=("share",), whole=("unit",))] if outcomes else []
    return Group(table(("unit", "state", "says", "rests on"), rows, whole=("unit",)), *moved)
