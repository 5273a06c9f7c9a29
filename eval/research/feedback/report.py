"""What outcomes of half of the questions did for the other half, as a table."""

from __future__ import annotations

from collections.abc import Iterator

from rich.table import Table

from eval.research.feedback.halves import TOP, Halves, Row
from tiermem.apps.present.tables import table


def terminal(found: Halves) -> Iterator[Table | str]:
    """The table, and under it what it rests on."""
    columns = ("ranked by", f"recall@{TOP}", "difference", "95 % interval", "questions changed")
    yield table(columns, map(_row, found.rows), numbers=columns[1:])
    yield (
        f"{found.questions:,} questions looked up, {found.outcomes:,} outcomes of the other halves; "
        f"{found.moved:,} of {found.units:,} units moved. Units by {found.engine}; data {found.data[:12]}"
    )


def _row(row: Row) -> tuple[str, ...]:
    interval = f"{row.difference.low:+.3f} to {row.difference.high:+.3f}"
    return (
        row.name,
        f"{row.recall.mean:.3f}",
        f"{row.difference.mean:+.3f}",
        interval,
        f"{row.changed:.1%}",
    )
