"""Tables and figures for people: text wraps, numbers stand to the right."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from pagestore import Page, PageId, Span, VerifyReport
from tiermem.apps.present.terminal import safe, when
from tiermem.model import Evidence, MarkedPageInfo, SummaryUnit

if TYPE_CHECKING:
    from tiermem.ledger import AnswerInfo
    from tiermem.memory import Stats


def short(identifier: str) -> str:
    """Enough of a page or unit id to name it; `tiermem page` takes such a beginning."""
    return identifier[:15]


def counted(number: int, thing: str) -> str:
    """A number with its noun: `1 page`, `2 pages`."""
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"


def pairs(rows: Iterable[tuple[str, str | Text]]) -> Table:
    """Names and values in two columns; values wrap."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in rows:
        grid.add_row(name, value if isinstance(value, Text) else safe(value))
    return grid


def table(
    columns: Sequence[str],
    rows: Iterable[Sequence[str | Text]],
    *,
    numbers: Sequence[str] = (),
    whole: Sequence[str] = (),
) -> Table:
    """A plain table: text wraps, but not in columns that are `whole`; `numbers` stand to the right."""
    drawn = Table(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False)
    for column in columns:
        right = column in numbers
        drawn.add_column(
            column, justify="right" if right else "left", overflow="fold", no_wrap=right or column in whole
        )
    for row in rows:
        drawn.add_row(*(cell if isinstance(cell, Text) else safe(cell) for cell in row))
    return drawn


def page_ids(spans: Sequence[Span]) -> list[PageId]:
    """The pages spans lie on, each once, in order."""
    return list(dict.fromkeys(span.page_id for span in spans))


def pages_view(sealed: Sequence[MarkedPageInfo], filling: Sequence[Page]) -> Table:
    """Pages, one a line: sealed ones first, then those that still fill. Where passages were taken back, how
    many of each page.
    """
    rows = [(p.id, p.session, p.number, p.turns, p.tokens, when(p.sealed_at), p.taken_back) for p in sealed]
    rows += [(p.id, p.session, p.number, len(p.lines), p.tokens, "still filling", ()) for p in filling]
    taken = any(page.taken_back for page in sealed)
    return table(
        ("page", "session", "no", "turns", "tokens", "sealed", *(["taken back"] if taken else [])),
        [
            (
                Text(short(page_id), style="cyan"), session, f"{number}", f"{turns:,}", f"{tokens:,}",
                sealed_at, *([f"{len(back)}"] if taken else []),
            )
            for page_id, session, number, turns, tokens, sealed_at, back in rows
        ],
        numbers=("no", "turns", "tokens"),
    )  # fmt: skip


def units_view(units: Sequence[SummaryUnit]) -> Table:
    """Summary units, one a row, with where they stand."""
    return table(
        ("unit", "what it says", "said", "rests on"),
        [
            (
                Text(short(unit.id), style="cyan"),
                unit.text
                if unit.kind == "summary"
                else f"{unit.text} ({unit.kind}, revision {unit.revision})",
                when(unit.said_at),
                ", ".join(short(page_id) for page_id in page_ids(unit.spans)),
            )
            for unit in units
        ],
    )


def answers_view(answers: Sequence[AnswerInfo]) -> Table:
    """Answers given, newest last, with the ids to audit them by."""
    tiers = {"ANSWER": "summaries", "ESCALATE": "raw pages"}
    return table(
        ("answer", "asked", "question", "answered from"),
        [
            (
                Text(given.id, style="cyan"),
                when(given.at),
                given.question,
                tiers[given.route] + (", abstained" if given.abstained else ""),
            )
            for given in answers
        ],
        whole=("answer",),
    )


def evidence_view(found: Sequence[Evidence]) -> Table:
    """Search results, best first."""
    return table(
        ("", "score", "said", "what was found"),
        [
            (str(rank), f"{item.score:.3f}", when(item.said_at), _found(item))
            for rank, item in enumerate(found, start=1)
        ],
        numbers=("", "score"),
    )


def _found(item: Evidence) -> Text:
    where = ", ".join(short(page_id) for page_id in page_ids(item.spans))
    return Text(safe(item.text)).append(f"\n{item.source} · {where}", style="dim")


def stats_view(stats: Stats) -> Group:
    """A space in figures."""
    raw, share = stats.tokens_raw, stats.omissions_per_literal
    lost = "" if share is None else f" ({share:.1%})"
    saved = f" ({1 - stats.tokens_read / raw:.0%} saved)" if raw > stats.tokens_read else ""
    rows: list[tuple[str, str | Text]] = [
        ("space", stats.space),
        ("engine", f"{stats.engine}, embeddings by {stats.embedder}"),
        ("said", f"{counted(stats.turns, 'turn')} in {counted(stats.sessions, 'session')}"),
        ("pages", f"{stats.pages:,} sealed, {stats.pages_open:,} still filling"),
        (
            "summarised",
            f"{counted(stats.units, 'unit')}; "
            f"{counted(stats.claims_worded, 'claim')} kept by the words alone, "
            f"{stats.claims_rejected:,} rejected",
        ),
        (
            "waiting",
            f"{counted(stats.pages_pending, 'page')} to summarise, "
            f"{counted(stats.findings_pending, 'finding')} to write back, {_to_index(stats)}"
            + (f"; {counted(stats.pages_aside, 'page')} set aside" if stats.pages_aside else ""),
        ),
        (
            "lost",
            f"{stats.omissions:,} numbers, dates, names, negations and rare words that no unit keeps{lost}",
        ),
        (
            "answers",
            f"{stats.answers:,}: {stats.answered_from_recall:,} from what was recalled, "
            f"{stats.escalated:,} escalated, {stats.abstained:,} abstained",
        ),
        ("tokens", f"worded from {stats.tokens_read:,}; the linked pages hold {raw:,}{saved}"),
        (
            "unread",
            f"{_unread(stats)}; from what was recalled alone all answers would have read "
            f"{stats.tokens_summary:,}",
        ),
        ("today", _today(stats)),
    ]
    rows += [("problem", Text(safe(problem), style="yellow")) for problem in stats.problems]
    return Group(pairs(rows))


def _to_index(stats: Stats) -> str:
    pending = stats.index_pending
    return "the index not looked at" if pending is None else f"{pending:,} turns and units to index"


def _unread(stats: Stats) -> str:
    if stats.tokens_saved < 0:
        return (
            f"nothing: {-stats.tokens_saved:,} tokens more than the linked pages ({stats.tokens_saved_note})"
        )
    return f"{stats.tokens_saved:,} tokens of linked pages"


def _today(stats: Stats) -> str:
    """What was spent today, beside the limits there are."""
    spent, daily = stats.spent_today, stats.daily
    paid = (
        (counted(spent.calls - spent.failed, "call"), daily.calls),
        (f"{spent.input_tokens + spent.output_tokens:,} tokens", daily.tokens),
        (f"{spent.cost or 0:.4f} cost", daily.cost),
    )
    failed = f", {counted(spent.failed, 'failed call')}" if spent.failed else ""
    return ", ".join(told if most is None else f"{told} of {most:g}" for told, most in paid) + failed


def verify_view(reports: Sequence[VerifyReport]) -> Group:
    """What was re-derived a space, and everything that differs."""
    rows = [
        (
            report.space,
            f"{report.records:,}",
            f"{report.turns:,}",
            f"{report.pages:,}",
            f"{report.erased:,}",
            Text("intact", style="green")
            if report.ok
            else Text(f"{len(report.damage)} damaged", style="bold red"),
            report.checkpoint.root[:16],
        )
        for report in reports
    ]
    columns = ("space", "records", "turns", "pages", "erased", "result", "Merkle root")
    parts: list[RenderableType] = [table(columns, rows, numbers=("records", "turns", "pages", "erased"))]
    for report in reports:
        parts += [
            Text(safe(f"{report.space}: {damage.where}: {damage.what}"), style="red")
            for damage in report.damage
        ]
        parts += [
            Text(safe(f"{report.space}: torn write kept in {torn}"), style="yellow") for torn in report.torn
        ]
        parts += [
            Text(safe(f"{report.space}: not proved: {what}"), style="yellow") for what in report.unproved
        ]
    return Group(*parts)
