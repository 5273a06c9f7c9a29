"""The table of what was measured, as Markdown, and pictures of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from eval.bench.measure import Measured
from eval.report.charts import Mark
from eval.report.pictures import picture

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


_PICTURES: Final = {"open": "to open", "search": "a search", "erase": "to erase a turn"}


def render_page(measured: Sequence[Measured]) -> str:
    """Render a table: processor time in milliseconds, memory and disk in megabytes."""
    head = f"| {' | '.join(_COLUMNS)} |\n{'|---' * len(_COLUMNS)}|\n"
    return head + "".join(map(_row, measured))


def write_page(page: Path, measured: Sequence[Measured]) -> None:
    """Write the table to a file, and a picture of each of three times by size next to it."""
    page.write_text(render_page(measured), encoding="utf-8")
    for name, words in _PICTURES.items():
        series: dict[str, list[Mark]] = {}
        for one in measured:
            series.setdefault(one.engine, []).append(Mark(one.turns, getattr(one, name)))
        drawn = picture(series, x="turns", y=f"ms of processor time {words}", log=True)
        page.with_name(f"{page.stem}-{name}.svg").write_text(drawn, encoding="utf-8")


def _row(one: Measured) -> str:
    times = (one.add, one.open, one.first, one.search, one.context, one.erase)
    cells = [one.engine, f"{one.turns:,}", *map(_round, times), f"{one.recall:.2f}".replace("0.", ".")]
    cells += [f"{one.resident:,.0f}", f"{one.disk:,.1f}", f"{one.files:,}"]
    return f"| {' | '.join(cells)} |\n"


def _round(milliseconds: float) -> str:
    """Two digits of what is below a hundred, and whole milliseconds above."""
    return f"{milliseconds:.2g}" if milliseconds < 99.5 else f"{milliseconds:,.0f}"
