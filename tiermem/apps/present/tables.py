"""Tables for people: text wraps, numbers are aligned to the right."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

from pagestore import PageId, Span
from tiermem.model import SummaryUnit
from tiermem.text.unicode import show_controls


def short(identifier: str) -> str:
    """Enough of a page or unit id to name it; `tiermem page` takes such a beginning."""
    return identifier[:15]


def plural(number: int, thing: str) -> str:
    """A number with its noun: `1 page`, `2 pages`."""
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"


def pairs(rows: Iterable[tuple[str, str | Text]]) -> Table:
    """Names and values in two columns; values wrap."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in rows:
        grid.add_row(name, value if isinstance(value, Text) else show_controls(value))
    return grid


def table(
    columns: Sequence[str],
    rows: Iterable[Sequence[str | Text]],
    *,
    numbers: Sequence[str] = (),
    whole: Sequence[str] = (),
) -> Table:
    """A plain table: text wraps, but not in columns that are `whole`; `numbers` are right-aligned."""
    drawn = Table(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False)
    for column in columns:
        right = column in numbers
        drawn.add_column(
            column, justify="right" if right else "left", overflow="fold", no_wrap=right or column in whole
        )
    for row in rows:
        drawn.add_row(*(cell if isinstance(cell, Text) else show_controls(cell) for cell in row))
    return drawn


def figures_table(spaces: Iterable[Any], figures: Sequence[str]) -> Table:
    """A row a space: its name, then these of its figures."""
    rows = [(one.space, *(f"{getattr(one, name):,}" for name in figures)) for one in spaces]
    return table(("space", *figures), rows, numbers=figures)


def numbered_table(items: Sequence[tuple[int, Text]]) -> Table:
    """Texts with numbers in brackets before them."""
    grid = Table.grid(padding=(0, 1))
    grid.add_column(style="cyan", no_wrap=True)
    grid.add_column(overflow="fold")
    for number, text in items:
        grid.add_row(f"[{number}]", text)
    return grid


def page_ids(spans: Sequence[Span]) -> list[PageId]:
    """The pages spans lie on, each once, in order."""
    return list(dict.fromkeys(span.page_id for span in spans))


def still_rests(units: Sequence[SummaryUnit]) -> list[tuple[str, str]]:
    """Units that keep some of the words of another evidence, for `pairs`."""
    return [("still rests on its words", f"{short(unit.id)} {unit.text}") for unit in units]
