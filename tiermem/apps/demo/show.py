"""The demo as a person sees it, printed while it runs."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console, Group
from rich.padding import Padding
from rich.rule import Rule
from rich.text import Text

from tiermem.apps.demo import SPACE, Asked, Demo, dialogue, run_demo
from tiermem.apps.ingest import Engine, Ingested
from tiermem.apps.tables import pairs, table
from tiermem.apps.terminal import out, safe, when
from tiermem.apps.views import cited_in_page, next_step, route, tokens


def show_demo(store: Path | None, engine: Engine) -> None:
    """Run the demo and print every step: what was stored, each answer, the way to its words, the sums."""
    console = out()
    (conversation,) = dialogue()
    said = [turn for session in conversation.sessions for turn in session.turns]
    speakers = " and ".join(dict.fromkeys(turn.speaker for turn in said))
    console.print(Text(f"{speakers} plan a party", style="bold"))
    console.print(
        f"{len(said)} turns in {len(conversation.sessions)} sessions, "
        f"{when(said[0].said_at)} to {when(said[-1].said_at)}. Nothing leaves this machine.\n"
        if engine == "local"
        else f"{len(said)} turns in {len(conversation.sessions)} sessions, "
        f"{when(said[0].said_at)} to {when(said[-1].said_at)}.\n"
    )
    number = iter(range(1, 100))
    result = run_demo(
        store,
        engine,
        on_ingested=lambda ingested: console.print(_stored(ingested)),
        on_answer=lambda asked: console.print(_answered(next(number), asked, console)),
    )
    console.print(_sums(result))


def _stored(ingested: Ingested) -> Text:
    return Text(
        f"Stored {ingested.new} turns ({ingested.known} known) as {ingested.pages} pages, "
        f"distilled to {ingested.units} summary units in {ingested.seconds:.1f} s."
    )


def _answered(number: int, asked: Asked, console: Console) -> Group:
    answer = asked.answer
    head = Text(f"{number}  ", style="cyan").append(safe(asked.asked.question), style="bold")
    words = Text(safe(answer.text), style="yellow" if answer.abstained else "bold green")
    trail = [
        cited_in_page(page, citation.spans, console)
        for citation in answer.citations[:1]
        for page in asked.pages
        if any(span.page_id == page.id for span in citation.spans)
    ]
    rows = pairs([("route", route(answer)), ("evidence", tokens(answer))])
    why = Text(asked.asked.why, style="dim italic")
    return Group(
        Text(), Rule(style="dim"), head, Padding(Group(why, Text(), words, Text(), rows, *trail), (0, 3))
    )


def _sums(result: Demo) -> Group:
    rows = [
        (
            str(number),
            one.asked.question,
            {"ANSWER": "summaries", "ESCALATE": "raw pages"}[one.answer.route]
            + (", abstained" if one.answer.abstained else ""),
            f"{one.answer.trace.read_tokens:,}",
            f"{one.answer.trace.raw_tokens:,}",
        )
        for number, one in enumerate(result.answers, start=1)
    ]
    read = sum(one.answer.trace.read_tokens for one in result.answers)
    raw = sum(one.answer.trace.raw_tokens for one in result.answers)
    rows.append(("", "all", "", f"{read:,}", f"{raw:,}"))
    columns = ("", "question", "answered from", "tokens read", "raw pages")
    verified = result.verified
    intact = f"{verified.records} records, {verified.turns} turns and {verified.pages} pages re-derived: "
    return Group(
        Text(),
        Rule(style="dim"),
        table(columns, rows, numbers=("tokens read", "raw pages")),
        Text(intact).append(
            "intact" if verified.ok else "DAMAGED", style="green" if verified.ok else "bold red"
        ),
        *_next(result),
    )


def _next(result: Demo) -> Sequence[Text]:
    if not result.kept:
        return (next_step("keep it to look around", "tiermem demo --store demo-memory"),)
    where = ["--store", str(result.store), "--space", SPACE]
    cited = next(one.answer for one in result.answers if one.answer.citations)
    return (
        next_step("the whole trail of an answer", shlex.join(["tiermem", "audit", cited.id, *where])),
        next_step("ask yourself", shlex.join(["tiermem", "ask", "What is in the garage?", *where])),
    )
