"""A report for a terminal, as Markdown, and as one HTML page that needs nothing else."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any, Final

from eval.report.values import Chart, Report, Table

if TYPE_CHECKING:
    from rich.console import RenderableType

_ASSETS: Final = Path(__file__).parent / "assets"


def terminal(report: Report, *, full: bool = False) -> list[RenderableType]:
    """What rich prints: the brief tables, or all of them."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as RichTable
    from rich.text import Text

    shown: list[RenderableType] = []
    for table in report.tables:
        if not (table.brief or full):
            continue
        drawn = RichTable(
            title=table.title, title_justify="left", title_style="bold", box=SIMPLE_HEAD, padding=(0, 1, 0, 0)
        )
        for position, column in enumerate(table.columns):
            drawn.add_column(column, justify="right" if position else "left", overflow="fold")
        for row in table.rows:
            drawn.add_row(*(Text(cell) for cell in row))
        shown.append(drawn)
        shown += [Text(note, style="dim") for note in table.notes]
        shown.append(Text(""))
    return shown


def markdown(reports: Sequence[Report]) -> str:
    """Every table, with the facts of each run before them."""
    parts: list[str] = []
    for report in reports:
        parts.append(f"# {report.title}\n")
        parts.append("".join(f"- {name}: {_cell(value)}\n" for name, value in report.facts.items()))
        parts += [f"## {table.title}\n\n{markdown_table(table)}" for table in report.tables]
    return "\n".join(parts)


def markdown_table(table: Table) -> str:
    """Render a table without its title, with its notes below."""
    head = f"| {' | '.join(map(_cell, table.columns))} |"
    rule = f"| {' | '.join(['---'] + ['---:'] * (len(table.columns) - 1))} |"
    rows = (f"| {' | '.join(map(_cell, row))} |" for row in table.rows)
    notes = "".join(f"\n{note}\n" for note in table.notes)
    return "\n".join((head, rule, *rows, notes))


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def page(reports: Sequence[Report]) -> str:
    """One HTML page: tables, pictures, and every question to look through."""
    title = " · ".join(report.title for report in reports)
    return Template((_ASSETS / "page.html").read_text(encoding="utf-8")).substitute(
        title=escape(title),
        style=(_ASSETS / "page.css").read_text(encoding="utf-8"),
        script=(_ASSETS / "page.js").read_text(encoding="utf-8"),
        contents="".join(
            f'<a href="#run{number}">{escape(report.title)}</a>' for number, report in enumerate(reports)
        ),
        runs="\n".join(_run(number, report) for number, report in enumerate(reports)),
    )


def _run(number: int, report: Report) -> str:
    facts = "".join(f"<dt>{escape(k)}</dt><dd>{escape(v)}</dd>" for k, v in report.facts.items())
    brief = "".join(_table(table) for table in report.tables if table.brief)
    rest = "".join(_table(table) for table in report.tables if not table.brief)
    more = f"<details><summary>More tables: by category, with intervals, by route</summary>{rest}</details>"
    return (
        f'<section class="run" id="run{number}"><h1>{escape(report.title)}</h1>'
        f"<details class=facts><summary>How this was measured</summary><dl>{facts}</dl></details>"
        f'<div class="charts">{"".join(map(_chart, report.charts))}</div>'
        f"{brief}{more if rest else ''}"
        f'<h2>Questions</h2><div class="browser" data-of="data{number}"></div>'
        f'<script type="application/json" id="data{number}">{_data(report.questions)}</script></section>'
    )


def _data(questions: Any) -> str:
    """JSON that cannot end its own script element."""
    text = json.dumps(questions, ensure_ascii=False, separators=(",", ":"))
    encodable = text.encode("utf-8", "replace").decode()
    return encodable.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _chart(chart: Chart) -> str:
    note = f"<figcaption>{escape(chart.note)}</figcaption>" if chart.note else ""
    return f"<figure><h3>{escape(chart.title)}</h3>{chart.svg}{note}</figure>"


def _table(table: Table) -> str:
    head = "".join(f"<th scope=col>{escape(column)}</th>" for column in table.columns)
    rows = "".join(
        f"<tr><th scope=row>{escape(name)}</th>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"
        for name, *cells in table.rows
    )
    notes = "".join(f"<p class=note>{escape(note)}</p>" for note in table.notes)
    return (
        f"<h2>{escape(table.title)}</h2><div class=wide><table><thead><tr>{head}</tr></thead>"
        f"<tbody>{rows}</tbody></table></div>{notes}"
    )
