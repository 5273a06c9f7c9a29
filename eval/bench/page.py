"""The table of what was measured, as Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from eval.bench.measure import Measured

_COLUMNS = (
    "engine",
    "turns",
    "add a turn",
    "open",
    "first question",
    "search",
    "context",
    "erase a turn",
    "R@5",
    "resident",
    "disk",
    "files",
)


def render_page(measured: Sequence[Measured]) -> str:
    """Render a table: processor time in milliseconds, memory and disk in megabytes."""
    head = f"| {' | '.join(_COLUMNS)} |\n{'|---' * len(_COLUMNS)}|\n"
    return head + "".join(map(_row, measured))


def _row(one: Measured) -> str:
    times = (one.add, one.open, one.first, one.search, one.context, one.erase)
    cells = [one.engine, f"{one.turns:,}", *map(_round, times), f"{one.recall:.2f}".replace("0.", ".")]
    cells += [f"{one.resident:,.0f}", f"{one.disk:,.1f}", f"{one.files:,}"]
    return f"| {' | '.join(cells)} |\n"


def _round(milliseconds: float) -> str:
    """Two digits of what is below a hundred, and whole milliseconds above."""
    return f"{milliseconds:.2g}" if milliseconds < 99.5 else f"{milliseconds:,.0f}"
