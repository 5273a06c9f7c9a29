"""`tiermem stats`: a memory in figures."""

from __future__ import annotations

from rich.console import Group
from rich.text import Text

import tiermem
from tiermem.apps.cli import options
from tiermem.apps.present.tables import pairs, plural
from tiermem.model import Usage
from tiermem.text.unicode import show_controls


def stats(*, place: options.SpaceOptions, looking: options.Looking) -> None:
    """Count what a memory holds, what waits, what the summaries lost, and tokens saved."""
    with place.open(read_only=True, engine="auto") as memory:
        figures = memory.stats()
    looking.show(figures, lambda: stats_view(figures))


def stats_view(figures: tiermem.Stats) -> Group:
    """A space in figures."""
    share = figures.omissions_per_literal
    lost = "" if share is None else f" ({share:.1%})"
    cold = f" ({figures.units_cold:,} cold)" if figures.units_cold else ""
    rows: list[tuple[str, str | Text]] = [
        ("space", figures.space),
        ("engine", f"{figures.engine}, embeddings by {figures.embedder}"),
        (
            "said",
            f"{plural(figures.turns, 'turn')} in {plural(figures.sessions, 'session')}; "
            "of a turn too long for a page each part counts",
        ),
        *([("agents", ", ".join(figures.agents))] if figures.agents else []),
        ("pages", f"{figures.pages:,} sealed, {figures.pages_open:,} still filling"),
        (
            "summarised",
            f"{plural(figures.units, 'unit')}{cold}; "
            f"{plural(figures.claims_worded, 'claim')} kept by the words alone, "
            f"{figures.claims_rejected:,} rejected",
        ),
        (
            "waiting",
            f"{plural(figures.pages_pending, 'page')} to summarise, "
            f"{plural(figures.findings_pending, 'finding')} to write back, {_to_index(figures)}"
            + (f"; {plural(figures.pages_aside, 'page')} set aside" if figures.pages_aside else ""),
        ),
        (
            "lost",
            f"{figures.omissions:,} numbers, dates, names, negations and rare words that no unit keeps{lost}",
        ),
        (
            "answers",
            f"{figures.answers:,}: {figures.answered_from_recall:,} from what was recalled, "
            + ("" if figures.escalated is None else f"{figures.escalated:,} escalated, ")
            + f"{figures.abstained:,} abstained",
        ),
        ("tokens", _tokens(figures)),
        *_unread(figures),
        ("today", _today(figures)),
    ]
    rows += [("problem", Text(show_controls(problem), style="yellow")) for problem in figures.problems]
    return Group(pairs(rows))


def _to_index(figures: tiermem.Stats) -> str:
    pending = figures.index_pending
    return "the index not looked at" if pending is None else f"{pending:,} turns and units to index"


def _tokens(figures: tiermem.Stats) -> str:
    """What answers were worded from, and the pages they link to; without a model what they displayed."""
    read, raw = figures.tokens_read, figures.tokens_raw
    if figures.tokens_saved is None:
        return f"{read:,} in lines that were displayed"
    saved = f" ({1 - read / raw:.0%} saved)" if raw > read else ""
    return f"worded from {read:,}; the linked pages hold {raw:,}{saved}"


def _unread(figures: tiermem.Stats) -> list[tuple[str, str | Text]]:
    """A row with what was not read of the linked pages; none where no model reads them."""
    if figures.tokens_saved is None:
        return []
    unread = f"{figures.tokens_saved:,} tokens of linked pages"
    if figures.tokens_saved < 0:
        more, why = -figures.tokens_saved, figures.tokens_saved_note
        unread = f"nothing: {more:,} tokens more than the linked pages ({why})"
    summary = f"from what was recalled alone all answers would have read {figures.tokens_summary:,}"
    return [("unread", f"{unread}; {summary}")]


def _cost(spent: Usage) -> str:
    return "unknown cost" if spent.cost is None and spent.calls else f"{spent.cost or 0:.4f} cost"


def _today(figures: tiermem.Stats) -> str:
    """What was spent today, and the limits there are."""
    spent, daily = figures.spent_today, figures.daily
    paid = (
        (plural(spent.calls - spent.failed, "call"), daily.calls),
        (f"{spent.input_tokens + spent.output_tokens:,} tokens", daily.tokens),
        (_cost(spent), daily.cost),
    )
    failed = f", {plural(spent.failed, 'failed call')}" if spent.failed else ""
    return ", ".join(amount if most is None else f"{amount} of {most:g}" for amount, most in paid) + failed
