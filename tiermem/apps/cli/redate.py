"""`tiermem redate`: which units have other dates now, and which have to be looked at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.text import Text

import tiermem
from tiermem.apps.cli import options
from tiermem.apps.present.progress import progress
from tiermem.apps.present.tables import counted, pairs, short
from tiermem.text.unicode import show_controls

_SHOWN = 20
"""Units of each kind that are printed; `--json` prints all."""


def redate(
    *,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Do nothing: say which units would be changed.")
    ] = False,
    place: options.Place,
    output: options.Output,
) -> None:
    """Compute the dates of units again where rules of dates have changed. A unit keeps its id."""
    with place.open(read_only=dry_run) as memory, progress("computing dates", "pages") as report:
        done = memory.redate(dry_run=dry_run, progress=report)
    output.show(done, lambda: Group(*_report(done, place)))


def _report(done: tiermem.DateReport, place: options.Place) -> Iterator[RenderableType]:
    yield pairs([
        ("to be dated again" if done.proposed else "dated again", counted(len(done.redated), "unit")),
        ("to look at", counted(len(done.listed), "unit")),
    ])  # fmt: skip
    for each in done.redated[:_SHOWN]:
        yield Text(f"  {short(each.after.id)}  {show_controls(each.after.text)}")
        yield Text(f"  before: {show_controls(each.before.text)}", style="dim")
    yield from _rest(done.redated)
    for unit in done.listed[:_SHOWN]:
        yield Text(f"  {short(unit.id)}  {show_controls(unit.text)} ({unit.made_by})", style="yellow")
    yield from _rest(done.listed)
    if done.listed:
        correct = place.command("correct", short(done.listed[0].id))
        yield Text("The rules do not compute the day of these units now, and leave them as they are.")
        yield Text(f"correct one: {correct} TEXT", style="dim")


def _rest(shown: Sequence[object]) -> Iterator[Text]:
    if len(shown) > _SHOWN:
        yield Text(f"  and {len(shown) - _SHOWN:,} more: --json prints all", style="dim")
