"""`tiermem consolidate`: what one pass did, what is near and stays apart, and what was left."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.text import Text

import tiermem
from tiermem.apps.cli import options
from tiermem.apps.present.progress import progress
from tiermem.apps.present.tables import pairs, plural, short, table
from tiermem.text.unicode import show_controls

_SHOWN = 20
"""Units that are near each other and stay apart, at most; `--json` prints all."""


def consolidate(
    *,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Do nothing: say what a pass would begin with.")
    ] = False,
    place: options.SpaceOptions,
    engine: options.Engine = "auto",
    output: options.Output,
) -> None:
    """Do what waits, and merge the units that tell the same. A merge is recorded, and can be undone."""
    with (
        place.open(engine=engine, read_only=dry_run) as memory,
        progress("consolidating", "steps") as report,
    ):
        done = memory.consolidate(dry_run=dry_run, progress=report)
    output.show(done, lambda: Group(*_parts(done, place)))


def _parts(done: tiermem.Consolidation, place: options.SpaceOptions) -> Iterator[RenderableType]:
    would = "to be " if done.proposed else ""
    tokens = done.usage.input_tokens + done.usage.output_tokens
    yield pairs([
        (f"{would}sealed", plural(len(done.sealed), "session")),
        (f"{would}summarised", _pages(done)),
        (f"{would}decided on", plural(done.findings, "finding")),
        (f"{would}merged", _merges(done)),
        ("spent", f"{plural(done.usage.calls, 'model call')}, {tokens:,} tokens"),
        *(("left", why) for why in done.left),
    ])  # fmt: skip
    for one in done.merged:
        yield Text(f"  {short(one.unit.id)}  {show_controls(one.unit.text)}")
        yield Text(f"  in place of {', '.join(map(short, one.of))}: {one.reason}", style="dim")
    if done.merged and not done.proposed:
        undo = place.command("withdraw", short(done.merged[0].unit.id))
        yield Text(f"undo: {undo} --reason …", style="dim")
    if done.near:
        rows = [(f"{one.similarity:.3f}", "\n".join(one.texts), one.reason) for one in done.near[:_SHOWN]]
        yield table(("cosine", "near each other, and apart", "because"), rows)
    if len(done.near) > _SHOWN:
        yield Text(f"and {len(done.near) - _SHOWN:,} more pairs: --json prints all", style="dim")


def _pages(done: tiermem.Consolidation) -> str:
    units = f", {plural(done.units, 'unit')}" if done.units else ""
    return plural(done.pages, "page") + units


def _merges(done: tiermem.Consolidation) -> str:
    merged = sum(len(one.of) for one in done.merged)
    return f"{plural(merged, 'unit')} to {len(done.merged):,}" if merged else "no units"
