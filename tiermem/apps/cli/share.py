"""`tiermem share`: the units that are everybody's now, or no longer."""

from __future__ import annotations

from typing import Annotated

import typer

from tiermem.apps.cli import options
from tiermem.apps.present.tables import short, table


def share(
    unit_ids: Annotated[list[str], typer.Argument(metavar="UNIT_ID...", help="Units, as in `withdraw`.")],
    *,
    reason: options.Reason,
    undo: Annotated[bool, typer.Option("--undo", help="Let the others see them no longer.")] = False,
    place: options.SpaceOptions,
    output: options.Output,
) -> None:
    """Let every agent see units of one of them, as they read; the words they rest on stay its own."""
    with place.open() as memory:
        named = [options.unit_named(memory, unit_id) for unit_id in unit_ids]
        done = (memory.unshare if undo else memory.share)(*named, reason=reason)
    rows = [(short(unit.id), unit.text) for unit in done]
    nothing = "they were not shared" if undo else "they are shared already"
    output.show({"units": done}, lambda: table(("unit", "what it says"), rows) if rows else nothing)
