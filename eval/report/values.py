"""What a report consists of, before anybody decides how it looks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from eval.metrics.intervals import Estimate
from eval.report.charts import Mark


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows of text under a title. `brief` tables are the ones a terminal shows."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()
    brief: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A picture, as SVG that needs nothing else, and what to see in it."""

    title: str
    svg: str
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Everything there is to say about one run. `questions` are what a person may look through."""

    title: str
    facts: Mapping[str, str]
    tables: tuple[Table, ...]
    charts: tuple[Chart, ...]
    questions: Sequence[Mapping[str, Any]]
    numbers: Mapping[str, Any]
    """The same figures unrounded, for programs."""


UNKNOWN = "–"


def share(value: float | None, digits: int = 3) -> str:
    """A share as `.851`; a dash when it is unknown."""
    if value is None:
        return UNKNOWN
    text = f"{value:.{digits}f}"
    return text[1:] if text.startswith("0.") else text


def percent(value: float | None) -> str:
    """A share as `85.1`."""
    return UNKNOWN if value is None else f"{100 * value:.1f}"


def number(value: float | None, digits: int = 0) -> str:
    """A number with thin thousands: `7,398`."""
    return UNKNOWN if value is None else f"{value:,.{digits}f}"


def interval(estimate: Estimate) -> str:
    """A mean with its interval: `.851 [.83, .87]`; the mean alone where one conversation is all there is."""
    if estimate.clusters < 2:
        return share(estimate.mean)
    return f"{share(estimate.mean)} [{share(estimate.low, 2)}, {share(estimate.high, 2)}]"


def mark(x: float, estimate: Estimate) -> Mark:
    """A mean with its interval as a point; the mean alone where one conversation is all there is."""
    if estimate.clusters < 2:
        return Mark(x, estimate.mean)
    return Mark(x, estimate.mean, estimate.low, estimate.high)


INTERVALS: Final = "Shaded or drawn through a point: 95 % intervals, whole conversations drawn together."


def mean(values: Sequence[float]) -> float | None:
    """The mean; `None` of nothing."""
    return sum(values) / len(values) if values else None


def quantile(values: Sequence[float], at: float) -> float | None:
    """The value that a share `at` of all values does not exceed; `None` of nothing."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(at * len(ordered)))] if ordered else None
