"""Learning curves as one picture that needs nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from eval.report.charts import COLOURS, Mark, lines

_POINTS: Final = 24
"""Means a curve is drawn from."""
_HUES: Final = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#8c564b", "#17becf", "#7f7f7f")
_STYLE: Final = (
    "text{font:11px sans-serif;fill:#333}.grid{stroke:#ddd}polyline{fill:none;stroke-width:1.6}"
    + "".join(f".c{n}{{stroke:{hue};fill:{hue}}}" for n, hue in enumerate((*_HUES, *_HUES)[:COLOURS]))
    + "g text{stroke:none;fill:#333}"
)


def picture(series: Mapping[str, Sequence[Mark]], *, y: str, x: str = "steps") -> str:
    """One line a series by `x`, as SVG with its colours in it."""
    drawn = lines(series, x=x, y=y)
    opening, rest = drawn.split(">", 1)
    return f'{opening}><style>{_STYLE}</style><rect width="100%" height="100%" fill="#fff"/>{rest}\n'


def losses(of: Sequence[Mapping[str, float]]) -> dict[str, list[Mark]]:
    """The loss of every task, as means of as many steps in a row."""
    names = dict.fromkeys(name for one in of for name in one if name != "step")
    size = max(1, len(of) // _POINTS)
    curves: dict[str, list[Mark]] = {name: [] for name in names}
    for start in range(0, len(of), size):
        group = of[start : start + size]
        for name, marks in curves.items():
            there = [one[name] for one in group if name in one]
            if there:
                marks.append(Mark(group[-1]["step"], sum(there) / len(there)))
    return curves


def looks(of: Sequence[Mapping[str, float]]) -> dict[str, list[Mark]]:
    """What looking at `dev` found, by mark."""
    names = dict.fromkeys(name for one in of for name in one if name != "step")
    return {name: [Mark(one["step"], one[name]) for one in of if name in one] for name in names}
