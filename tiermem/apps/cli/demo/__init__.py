"""`tiermem demo`, printed while it runs."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console, Group
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from tiermem.apps.cli import options
from tiermem.apps.cli.demo.replies import check_store, plan_with, read_replies
from tiermem.apps.cli.demo.run import Demo, DemoAnswer, DemoPlan, dialogue, run_demo
from tiermem.apps.cli.ingest import IngestSummary
from tiermem.apps.cli.units import units_table
from tiermem.apps.present.answers import (
    caution_rows,
    cited_in_page,
    how_likely,
    missing_rows,
    next_step,
    route,
    said_lines,
    support,
    tokens,
)
from tiermem.apps.present.as_json import print_json
from tiermem.apps.present.tables import pairs, short, table
from tiermem.apps.present.terminal import out, program
from tiermem.model import SummaryUnit
from tiermem.text.unicode import show_controls

FIRST, ONE_OF_THREE, SAID_WITHOUT_ANSWER = 0.617, 0.801, 0.250
"""Of the questions of half of LoCoMo that have an answer, those whose first line, or one of whose lines,
holds it; of those without an answer, those under "Said about this". As in docs/results/probability.md.
"""

_UNITS_SHOWN = 4
"""Units of the newest page that are displayed, where a model made them."""
_TIERS = {"recall": "recall", "widened": "more turns", "researched": "pages"}


def demo(
    *,
    store: Annotated[
        Path | None, typer.Option("--store", help="Keep the memory here instead of throwing it away.")
    ] = None,
    is_recorded: Annotated[
        bool,
        typer.Option(
            "--recorded",
            help="Show the whole pipeline with a language model, in recorded replies of a careful reader.",
        ),
    ] = False,
    engine: options.Engine = "auto",
    output: options.Output,
) -> None:
    """Ingest a dialogue that ships with TierMem, ask questions, and show the way to the words."""
    plan = _recorded_plan(store, engine) if is_recorded else DemoPlan()
    if output.as_json:
        print_json(run_demo(store, engine, plan=plan))
    else:
        _show(store, engine, plan)


def _recorded_plan(store: Path | None, engine: options.EngineName) -> DemoPlan:
    if engine == "local":
        raise typer.BadParameter("local asks no model, and --recorded replays one", param_hint="--engine")
    if store is not None:
        check_store(store)
    return plan_with(read_replies())


def _show(store: Path | None, engine: options.EngineName, plan: DemoPlan) -> None:
    """Run the demo and print every step: what was stored, each answer, the way to its words, the sums."""
    console, numbers = out(), count(1)
    if plan.notice:
        console.print(Text(plan.notice, style="yellow"), soft_wrap=True)
    console.print(_opening())
    result = run_demo(
        store,
        engine,
        plan=plan,
        on_ingested=lambda ingested, units: console.print(_ingested_text(ingested), *_by_model(units)),
        on_answer=lambda asked: console.print(_answer_view(next(numbers), asked, console)),
    )
    console.print(_sums(result))
    for part in _expectation_texts(result):
        console.print(part)
    for step in _next(result):
        console.print(step, soft_wrap=True)


def _opening() -> Text:
    (conversation,) = dialogue()
    turns = [turn for session in conversation.sessions for turn in session.turns]
    speakers = " and ".join(dict.fromkeys(turn.speaker for turn in turns))
    first, last = (f"{turn.said_at:%B %Y}" for turn in (turns[0], turns[-1]))
    words = f"{len(turns)} turns in {len(conversation.sessions)} sessions, {first} to {last}.\n"
    return Text(f"{speakers} plan a party. ", style="bold").append(words, style="not bold")


def _ingested_text(ingested: IngestSummary) -> Text:
    known = f" ({ingested.known} were known)" if ingested.known else ""
    words = f"Stored {ingested.new} turns{known} on {ingested.pages} pages"
    return Text(f"{words}, distilled to {ingested.units} summary units, in {ingested.seconds:.1f} s.")


def _by_model(units: Sequence[SummaryUnit]) -> list[Text | Table]:
    """How many units have a model's words, and some of them; nothing where no model made them."""
    if not any(unit.made_by.startswith("model:") for unit in units):
        return []
    quotes = sum(unit.kind == "quote" for unit in units)
    words = (
        f"{len(units) - quotes} are in the words of the model. {quotes} are quotes: code could not confirm "
        "the words of the model, and the unit has those of the speaker. Some of the newest page:"
    )
    newest = [unit for unit in units if unit.spans[0].page_id == units[-1].spans[0].page_id]
    return [Text(words), units_table(newest[:_UNITS_SHOWN])]


def _answer_view(number: int, one: DemoAnswer, console: Console) -> Group:
    answer = one.answer
    head = Text(f"{number}  ", style="cyan").append(show_controls(one.question.question), style="bold")
    why = Text(one.question.why, style="dim italic")
    text = Text(show_controls(answer.text), style="yellow" if answer.abstained else "bold green")
    words = said_lines(answer) or [Text(), text]
    rows = pairs(
        [
            ("support", support(answer)),
            *caution_rows(answer),
            *missing_rows(answer),
            *how_likely(answer),
            ("route", route(answer)),
            ("read", tokens(one.cost)),
            *_model_rows(one),
        ]
    )
    shown = answer.citations[:1] if answer.said else answer.citations
    spans = [span for citation in shown for span in citation.spans]
    trail = [
        cited_in_page(page, spans, console)
        for page in one.pages
        if any(span.page_id == page.id for span in spans)
    ]
    return Group(Text(), Rule(style="dim"), head, Padding(Group(why, *words, Text(), rows, *trail), (0, 3)))


def _model_rows(one: DemoAnswer) -> list[tuple[str, str | Text]]:
    """What a model was asked, what its answer cites and its findings became; nothing without a model."""
    answer = one.answer
    calls = [f"{used.step} {used.usage.calls}" for used in answer.trace.usage if used.usage.calls]
    if not calls:
        return []
    rows: list[tuple[str, str | Text]] = [("model calls", f"{', '.join(calls)}, to answer")]
    if answer.abstained:
        return rows
    cited = [short(citation.unit_id or citation.turn or "") for citation in answer.citations]
    state = ("intact", "green") if one.intact else ("NOT INTACT", "bold red")
    rows.append(("cites", Text(f"{', '.join(dict.fromkeys(cited))}: ").append(*state)))
    rows += [("written back", f"{decision.op}: {decision.reason}") for decision in one.decisions]
    return [*rows, *((short(unit.id), Text(show_controls(unit.text), style="green")) for unit in one.units)]


def _sums(result: Demo) -> Group:
    read, asked = sum(one.cost.read for one in result.answers), len(result.answers)
    rows = [
        (str(number), one.question.question, _tier(one), f"{one.cost.read:,}", f"{result.dialogue_tokens:,}")
        for number, one in enumerate(result.answers, start=1)
    ]
    whole = result.dialogue_tokens * asked
    rows.append(("", "all", f"{1 - read / whole:.0%} saved", f"{read:,}", f"{whole:,}"))
    columns = ("", "question", "answered from", "tokens read", "raw dialogue")
    verified = result.verified
    counts = f"{verified.records} records, {verified.turns} turns, {verified.pages} pages"
    state = ("intact", "green") if verified.ok else ("DAMAGED", "bold red")
    return Group(
        Text(),
        Rule(style="dim"),
        table(columns, rows, numbers=("tokens read", "raw dialogue")),
        Text(f"{counts}: every hash re-derived, ").append(*state),
    )


def _tier(one: DemoAnswer) -> str:
    return _TIERS[one.answer.trace.way] + (", abstained" if one.answer.abstained else "")


def _next(result: Demo) -> list[Text]:
    own = next_step("Your own chats (exports of WhatsApp, Slack, ChatGPT, …)", f"{program()} ingest FILE")
    if not result.kept:
        again = f"{program()} demo {'--recorded ' if result.notice else ''}--store demo-memory"
        return [next_step("This memory is gone now. Keep one to look around", again), own]
    where = shlex.join(["--store", str(result.store), "--space", result.space])
    asked = shlex.quote("When is the canoe ready?")
    return [
        next_step("The whole trail of the last answer", f"{program()} audit {where}"),
        next_step("Ask something", f"{program()} ask {asked} {where}"),
        own,
    ]


def _expectation_texts(result: Demo) -> list[Text]:
    """What is to be expected of other chats without a model: what was measured."""
    if all(one.answer.probability is None for one in result.answers):
        return []
    words = (
        f"No model was asked: lines are displayed as they were said. Of chats of people (LoCoMo) {FIRST:.0%} "
        "of the questions that have an answer have it in the first line, "
        f"{ONE_OF_THREE:.0%} in one of three; of those without an answer {SAID_WITHOUT_ANSWER:.0%} are under "
        "“Said about this” (docs/results/probability.md). A model (TIERMEM_MODEL) words answers from what is "
        "found."
    )
    return [Text(f"\n{words}", style="yellow")]
