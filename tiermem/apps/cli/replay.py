"""`tiermem replay`: a past answer as it came about, and what differs where it is asked again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

import tiermem
from tiermem.apps.cli import options
from tiermem.apps.present.answers import route
from tiermem.apps.present.tables import pairs, table
from tiermem.apps.present.terminal import when
from tiermem.model import Evidence
from tiermem.text.unicode import show_controls

if TYPE_CHECKING:
    from tiermem import Difference

_LONGEST = 200
"""Characters of a candidate that are shown."""


def replay(
    answer_id: options.AnswerId = None,
    *,
    place: options.SpaceOptions,
    rerun: Annotated[
        bool, typer.Option("--rerun", help="Ask again over the memory as it stood, and show what differs.")
    ] = False,
    engine: options.Engine = "auto",
    read_only: options.ReadOnly = False,
    output: options.Output,
) -> None:
    """Show how a past answer came about: candidates, scores, route, prompts and checks, as they were."""
    if rerun and read_only:
        raise typer.BadParameter("what asking again costs is recorded", param_hint="--read-only")
    with place.open(read_only=not rerun, engine=engine) as memory:
        past = memory.replay(options.answer_named(memory, answer_id), rerun=rerun)
    output.show(past, lambda: _replay(past))


def _replay(past: tiermem.Replay) -> Group:
    """The question, every candidate with its scores, the route, prompts, checks, and what differs."""
    from tiermem.proof.in_words import check_in_words

    answer, trace = past.answer, past.answer.trace
    head: list[tuple[str, str | Text]] = [
        ("question", trace.question),
        ("asked", f"{when(trace.asked_at)}, record {past.record}, over the ledger up to record {trace.head}"),
        ("engine", ", ".join([trace.engine, *trace.models])),
        ("route", route(answer)),
    ]
    head += [("prompt", prompt) for prompt in past.prompts]
    head += [("check", check_in_words(check)) for check in past.checks]
    head.append(("answer", Text(show_controls(answer.text), style="bold")))
    parts: list[RenderableType] = [pairs(head), _candidates(past.candidates)]
    parts.append(_differences(past) if past.differences else _agreement(past))
    return Group(*parts)


def _candidates(candidates: tuple[Evidence, ...]) -> Table:
    rows = [
        (
            str(rank),
            f"{item.score:.4f}",
            "" if item.similarity is None else f"{item.similarity:.4f}",
            item.source,
            item.text if len(item.text) <= _LONGEST else f"{item.text[: _LONGEST - 1]}…",
        )
        for rank, item in enumerate(candidates, start=1)
    ]
    return table(("", "score", "cosine", "from", "what was found"), rows, numbers=("", "score", "cosine"))


def _differences(past: tiermem.Replay) -> Group:
    title = "asked again, this differs:" if past.rerun is not None else "not as it was:"
    return Group(Text(title, style="yellow"), *(_difference(one) for one in past.differences))


def _difference(one: Difference) -> Text:
    shown = Text(f"  {show_controls(one.what)}\n", style="bold")
    shown.append(f"    then  {show_controls(one.then)}\n", style="default not bold")
    return shown.append(f"    now   {show_controls(one.now)}", style="yellow not bold")


def _agreement(past: tiermem.Replay) -> Text:
    if past.rerun is None:
        return Text("The ledger as it stood then holds every candidate in these words.", style="green")
    return Text("Asked again over the memory as it stood: the same in everything.", style="green")
