"""`tiermem ask`: what was said about a question or an answer, how it was found, and its sources."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from tiermem.apps.cli import options
from tiermem.apps.cli.group import remark
from tiermem.apps.present.answers import answer_rows, next_step, said_lines, tokens
from tiermem.apps.present.as_json import plain
from tiermem.apps.present.progress import show_activity
from tiermem.apps.present.reading_cost import ReadingCost, reading_cost
from tiermem.apps.present.steps import describe_step
from tiermem.apps.present.tables import numbered_table, pairs, plural
from tiermem.apps.present.terminal import out, when
from tiermem.apps.present.titles import title_suffix, titles_by_session
from tiermem.model import Answer, AskMode, AskStep, Citation
from tiermem.text.unicode import show_controls


def ask(
    question: str,
    *,
    place: options.SpaceOptions,
    mode: Annotated[AskMode, typer.Option(help="Let the router choose, or fix the route.")] = "router",
    as_of: Annotated[str | None, typer.Option(help="Ask the memory as it stood then.")] = None,
    filters: options.FilterOptions,
    steps: Annotated[bool, typer.Option("--steps", help="Tell each step on stderr as it is done.")] = False,
    budget: Annotated[
        str | None,
        typer.Option(help="Limits of this question, as calls=5,tokens=4000,seconds=20,cost=0.05."),
    ] = None,
    engine: options.Engine = "auto",
    read_only: options.ReadOnly = False,
    output: options.Output,
) -> None:
    """Display what was said about a question, with who said it and when; with a model, answer it.

    What is displayed is recorded, and `audit` shows it, but where the memory is opened read-only.
    """
    at_most, keywords = options.limits(budget), filters.keywords()
    with place.look(engine=engine, read_only=read_only) as memory:
        with nullcontext() if steps else show_activity("asking"):
            answer = memory.ask(
                question,
                mode=mode,
                as_of=options.moment("--as-of", as_of),
                budget=at_most,
                on_step=_tell if steps else None,
                **keywords,
            )
            cost = reading_cost(memory, answer)
            titles = titles_by_session(memory)
        further = _next_steps(question, answer, place)
        output.show(
            plain(answer),
            lambda: (_answer(answer, cost, titles), *further) if further else _answer(answer, cost, titles),
        )


def _tell(step: AskStep) -> None:
    remark(show_controls(describe_step(step)))


def _answer(answer: Answer, cost: ReadingCost, titles: Mapping[str, str]) -> Group:
    """The words, how they were come by, and their numbered sources."""
    words = Text(show_controls(answer.text), style="yellow" if answer.abstained else "bold")
    head: list[RenderableType] = said_lines(answer, titles) or [Padding(words, (0, 2))]
    parts: list[RenderableType] = [*head, Text(), pairs(_came_by(answer, cost))]
    if answer.citations and not answer.said:
        sources = [(citation.number, _source(citation, titles)) for citation in answer.citations]
        parts += [Text(), numbered_table(sources)]
    return Group(*parts)


def _came_by(answer: Answer, cost: ReadingCost) -> list[tuple[str, str | Text]]:
    trace, usage = answer.trace, answer.usage
    rows = [*answer_rows(answer, out()), ("read", tokens(cost))]
    if usage.calls:
        price = ", cost unknown" if usage.cost is None else f", ${usage.cost:.4f}"
        said = f"{plural(usage.calls, 'call')}, {usage.input_tokens:,} in, {usage.output_tokens:,} out{price}"
        rows.append(("model", f"{', '.join(trace.models)}: {said}"))
    rows += [("degraded", f"{d.stage}: {d.reason}; instead: {d.fallback}") for d in trace.degradations]
    unknown = ("recorded", "no: the memory was opened read-only; `audit` does not know it")
    return [*rows, ("answer id", answer.id) if answer.recorded else unknown]


def _source(citation: Citation, titles: Mapping[str, str]) -> Text:
    source = Text(f"{show_controls(citation.speaker)}, {when(citation.said_at)}", style="cyan")
    source.append(title_suffix(citation.session, titles, separator=", "))
    if citation.support == "worded":
        source.append(" · the quote is exact; the wording is its maker's", style="yellow")
    return source.append(f"\n“{show_controls(citation.quote)}”", style="default")


def _next_steps(question: str, answer: Answer, place: options.SpaceOptions) -> list[Text]:
    steps = []
    if answer.recorded:
        steps.append(next_step("how it came about", place.command("audit", answer.id)))
    if answer.said and answer.said[0].turn is not None:
        turn = place.command("page", answer.said[0].turn)
        steps.append(next_step("read the nearest on its page", turn))
    if answer.said and answer.trace.way == "recall" and answer.trace.decision.router != "said":
        again = place.command("ask", question) + " --mode raw"
        steps.append(next_step("have the pages read for it", again))
    return steps
