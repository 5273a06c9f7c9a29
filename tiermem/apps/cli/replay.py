"""What a person sees of the past: a replayed answer, what summaries lost, and what a second look brought."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from tiermem.apps.present.answers import route
from tiermem.apps.present.tables import counted, pairs, short, table
from tiermem.apps.present.terminal import safe, when
from tiermem.model import Evidence
from tiermem.text.in_words import check_in_words

if TYPE_CHECKING:
    from tiermem.ledger import Redistilled
    from tiermem.reading import Difference, OmissionReport, PageOmissions, Replay

_LONGEST = 200
"""Characters of a candidate that are shown."""
_SHOWN = 12
"""Omissions of a page that are shown by name."""


def replay_view(past: Replay) -> Group:
    """The question, every candidate with its scores, the route, prompts, checks, and what differs."""
    answer, trace = past.answer, past.answer.trace
    head: list[tuple[str, str | Text]] = [
        ("question", trace.question),
        ("asked", f"{when(trace.asked_at)}, record {past.record}, over the ledger up to record {trace.head}"),
        ("engine", ", ".join([trace.engine, *trace.models])),
        ("route", route(answer)),
    ]
    head += [("prompt", prompt) for prompt in past.prompts]
    head += [("check", check_in_words(check)) for check in past.checks]
    head.append(("answer", Text(safe(answer.text), style="bold")))
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


def _differences(past: Replay) -> Group:
    title = "asked again, this differs:" if past.rerun is not None else "not as it was:"
    return Group(Text(title, style="yellow"), *(_difference(one) for one in past.differences))


def _difference(one: Difference) -> Text:
    told = Text(f"  {safe(one.what)}\n", style="bold")
    told.append(f"    then  {safe(one.then)}\n", style="default not bold")
    return told.append(f"    now   {safe(one.now)}", style="yellow not bold")


def _agreement(past: Replay) -> Text:
    if past.rerun is None:
        return Text("The ledger as it stood then holds every candidate in these words.", style="green")
    return Text("Asked again over the memory as it stood: the same in everything.", style="green")


def omissions_view(report: OmissionReport) -> Group:
    """Pages with what their units do not keep, the worst first, then how it came about."""
    rate = "" if report.rate is None else f" ({report.rate:.1%})"
    total = Text(f"{report.lost:,} of {report.literals:,} literals are in no unit{rate}\n", style="bold")
    worst = sorted(report.pages, key=lambda page: -len(page.lost))
    rows = [
        (
            Text(short(page.page_id), style="cyan"),
            f"{page.session}, {page.number}",
            f"{len(page.lost):,} of {page.literals:,}",
            _lost(page),
        )
        for page in worst
    ]
    parts: list[RenderableType] = [
        total,
        table(("page", "session, no", "lost", "what no unit keeps"), rows, numbers=("lost",)),
    ]
    if len(report.over_time) > 1:
        first, last = report.over_time[0], report.over_time[-1]
        parts.append(
            Text(
                f"counted when summarised: {first.lost:,} of {first.literals:,} on {when(first.at)}, "
                f"{last.lost:,} of {last.literals:,} on {when(last.at)}",
                style="dim",
            )
        )
    parts += [Text(f"{page_id} cannot be read", style="red") for page_id in report.unreadable]
    return Group(*parts)


def _lost(page: PageOmissions) -> Text:
    more = len(page.lost) - _SHOWN
    told = Text(safe("; ".join(page.lost[:_SHOWN])) or "nothing")
    if more > 0:
        told.append(f"; and {more:,} more", style="dim")
    if page.redistilled:
        again = f"\nsummarised again {page.redistilled} times, {page.lost_at_first:,} at first"
        told.append(again, style="dim")
    return told


def redistilled_view(done: Redistilled) -> Group:
    """What a second look added, and what is lost even now."""
    rows: list[tuple[str, str | Text]] = [
        ("page", short(done.page_id)),
        ("lost before", f"{len(done.hints):,} literals"),
        ("lost now", f"{len(done.omissions):,} of {done.literals:,}"),
        ("added", f"{counted(len(done.units), 'unit')} by {done.made_by}"),
    ]
    rows += [("", Text(safe(unit.text), style="green")) for unit in done.units]
    if done.rejected:
        rows.append(("rejected", f"{len(done.rejected):,} claims for want of proof"))
    return Group(pairs(rows))
