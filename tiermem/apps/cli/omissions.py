"""`tiermem omissions`: what the summaries of each page lost, the worst first, then how it came about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Group, RenderableType
from rich.text import Text

import tiermem
from tiermem.apps.cli import options
from tiermem.apps.present.progress import show_activity
from tiermem.apps.present.tables import short, table
from tiermem.apps.present.terminal import when
from tiermem.text.unicode import show_controls

if TYPE_CHECKING:
    from tiermem import PageOmissions

_SHOWN = 12
"""Omissions of a page that are shown by name."""


def omissions(
    page: Annotated[str | None, typer.Option(help="Only this page (a beginning of its id).")] = None,
    *,
    place: options.SpaceOptions,
    session: options.Session = None,
    looking: options.Looking,
) -> None:
    """Say what the summaries lost: numbers, dates, names, negations and rare words no unit keeps."""
    with place.open(read_only=True) as memory, show_activity("reading pages"):
        report = memory.omissions(page and options.page_named(memory, page), session=session)
    looking.show(
        {"literals": report.literals, "lost": report.lost, "rate": report.rate, "report": report},
        lambda: _report(report) if report.pages else "no summarised pages yet",
    )


def _report(report: tiermem.OmissionReport) -> Group:
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
    shown = Text(show_controls("; ".join(page.lost[:_SHOWN])) or "nothing")
    if more > 0:
        shown.append(f"; and {more:,} more", style="dim")
    if page.redistilled:
        again = f"\nsummarised again {page.redistilled} times, {page.lost_at_first:,} at first"
        shown.append(again, style="dim")
    return shown
