"""`tiermem feedback`: how an answer turned out, and what that did to the units behind it."""

from __future__ import annotations

from typing import Annotated, Literal

import typer
from rich.table import Table

import tiermem
from tiermem.apps.cli import options
from tiermem.apps.present.tables import plural, short, table


def feedback(
    answer_id: options.AnswerId = None,
    *,
    outcome: Annotated[
        Literal["success", "failure", "neutral"], typer.Option("--outcome", help="How it turned out.")
    ],
    units: Annotated[
        list[str] | None,
        typer.Option("--unit", metavar="UNIT_ID", help="Judge these units, and no answer; may be repeated."),
    ] = None,
    made: Annotated[
        str | None, typer.Option("--output", help="What was made of it: credit goes to what it says.")
    ] = None,
    by: Annotated[str, typer.Option("--by", help="How far who judges is trusted.")] = "user",
    place: options.SpaceOptions,
    output: options.Output,
) -> None:
    """Record how an answer turned out, and credit the units behind it."""
    with place.open() as memory:
        if units:
            named = [options.unit_named(memory, unit) for unit in units]
            done = memory.feedback(answer_id, sources=named, outcome=outcome, output=made, by=by)
        else:
            answer = options.answer_named(memory, answer_id)
            done = memory.feedback(answer, outcome=outcome, output=made, by=by)
        texts = {unit.id: unit.text for unit in memory.units()}
    output.show(done, lambda: _judgement_view(done, texts) or "no unit or turn is behind it")


def _judgement_view(done: tiermem.Judged, texts: dict[tiermem.UnitId, str]) -> tuple[Table | str, ...]:
    turns = f"{plural(len(done.turns), 'cited turn')} without a unit credited: units made of them inherit it"
    units = (_judgement_table(done, texts),) if done.credits else ()
    return (*units, turns) if done.turns else units


def _judgement_table(done: tiermem.Judged, texts: dict[tiermem.UnitId, str]) -> Table:
    return table(
        ("unit", "what it says", "share", "weight"),
        [
            (
                short(one.unit_id),
                texts.get(one.unit_id, "(holds no longer)"),
                f"{one.share:.2f}",
                f"{one.before:+.2f} → {one.after:+.2f}",
            )
            for one in done.credits
        ],
        numbers=("share", "weight"),
        whole=("unit",),
    )
