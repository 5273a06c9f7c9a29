"""Learning curves as one picture that needs nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from eval.report.charts import Mark

_POINTS: Final = 24
"""Means a curve is drawn from."""


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
