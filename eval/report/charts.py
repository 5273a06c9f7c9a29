"""Pictures as SVG written here: lines, points and stacked bars. Colours come from the page's style sheet.

What goes up begins at zero, unless something is below it; a logarithmic axis says that it is one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final, NamedTuple

Point = tuple[float, float]


class Mark(NamedTuple):
    """A point, and the interval its `y` may be in where there is one."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None

    @property
    def reach(self) -> tuple[float, float]:
        """From where to where it goes up."""
        return self.y if self.low is None else self.low, self.y if self.high is None else self.high


WIDTH: Final = 640
HEIGHT: Final = 360
_LEFT, _RIGHT, _TOP, _BOTTOM = 58, 16, 14, 46
LETTER: Final = 6.4
"""About how wide a letter of a label is."""
_OURS: Final = "tiermem"
COLOURS: Final = 10
"""Colours the style sheet has, as classes `c0` to `c9`."""


@dataclass(frozen=True)
class _Axis:
    """Maps values to places between `start` and `end`."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def at(self, value: float) -> float:
        low, high, here = (
            map(math.log10, (self.low, self.high, value)) if self.log else (self.low, self.high, value)
        )
        return self.start + (here - low) / ((high - low) or 1) * (self.end - self.start)

    def ticks(self) -> list[float]:
        if self.log:
            powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
            steps = (1,) if self.high > 1000 * self.low else (1, 2, 5)
            found = [m * 10.0**p for p in powers for m in steps if self.low <= m * 10.0**p <= self.high]
            return found[:: max(1, len(found) // 6)]
        step = _nice((self.high - self.low) / 5)
        first = math.ceil(self.low / step - 1e-9)
        return [step * n for n in range(first, math.floor(self.high / step + 1e-9) + 1)]


def lines(
    series: Mapping[str, Sequence[Mark]],
    *,
    x: str,
    y: str,
    high: float | None = None,
    ticks: Sequence[float] = (),
    log: bool = False,
) -> str:
    """Draw one line a series, with a dot at each value, a band for the intervals and a legend.

    With `log` both axes are logarithmic, and every value is above zero.
    """
    horizontal, vertical = _axes(series, log=log, high=high, upward_log=log)
    parts = [_frame(horizontal, vertical, x, y, ticks or horizontal.ticks())]
    for number, (name, points) in enumerate(series.items()):
        placed = [(horizontal.at(one.x), vertical.at(one.y)) for one in points]
        path = " ".join(f"{a:.1f},{b:.1f}" for a, b in placed)
        dots = "".join(
            f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3.5"><title>{escape(name)}: {_plain(v)}</title></circle>'
            for (a, b), v in zip(placed, (one.y for one in points), strict=True)
        )
        band = _band(points, horizontal, vertical)
        ours = " ours" if name.startswith(_OURS) else ""
        parts.append(f'<g class="c{number % COLOURS}{ours}">{band}<polyline points="{path}"/>{dots}</g>')
    return _svg(parts, list(series))


def _band(points: Sequence[Mark], horizontal: _Axis, vertical: _Axis) -> str:
    if not any(one.low != one.high for one in points):
        return ""
    up = [(one.x, one.reach[1]) for one in points]
    down = [(one.x, one.reach[0]) for one in reversed(points)]
    corners = " ".join(f"{horizontal.at(a):.1f},{vertical.at(b):.1f}" for a, b in (*up, *down))
    return f'<polygon class="band" points="{corners}"/>'


def scatter(points: Mapping[str, Mark], *, x: str, y: str) -> str:
    """One named point a system, `x` on a log scale, and a dashed line through those nobody beats on both.

    A line through a point, up and down, is its interval.
    """
    horizontal, vertical = _axes({name: [point] for name, point in points.items()}, log=True)
    parts = [_frame(horizontal, vertical, x, y, horizontal.ticks())]
    front = " ".join(f"{horizontal.at(a):.1f},{vertical.at(b):.1f}" for a, b in pareto(points.values()))
    parts.append(f'<polyline class="front" points="{front}"/>')
    places = [(horizontal.at(one.x), vertical.at(one.y)) for one in points.values()]
    taken = [_Box(left - 6, left + 6, top - 6, top + 6) for left, top in places]
    for number, ((name, one), (left, top)) in enumerate(zip(points.items(), places, strict=True)):
        low, high = map(vertical.at, one.reach)
        label = _free(name, left, top, taken)
        taken.append(label)
        parts.append(
            f'<g class="c{number % COLOURS}">'
            f'<line class="interval" x1="{left:.1f}" x2="{left:.1f}" y1="{low:.1f}" y2="{high:.1f}"/>'
            f'<circle cx="{left:.1f}" cy="{top:.1f}" r="5.5">'
            f"<title>{escape(name)}: {_plain(one.y)} at {_plain(one.x)}</title></circle>"
            f'<text x="{label.left:.1f}" y="{label.bottom:.1f}">{escape(name)}</text></g>'
        )
    return _svg(parts, ())


class _Box(NamedTuple):
    left: float
    right: float
    top: float
    bottom: float

    def meets(self, other: _Box) -> bool:
        beside = self.right <= other.left or other.right <= self.left
        return not beside and self.top < other.bottom and other.top < self.bottom


def _free(name: str, left: float, top: float, taken: Sequence[_Box]) -> _Box:
    """Where a label stands free of dots and other labels, as near its dot as can be."""
    wide = LETTER * len(name)
    either = (left + 8, left - 8 - wide)
    sides = [start for start in either if start >= _LEFT and start + wide <= WIDTH] or either[:1]
    boxes = [
        _Box(start, start + wide, top + down - 10, top + down)
        for down in (-9, 4, 17, -22, 30, -35, 43, -48)
        for start in sides
    ]
    return next((box for box in boxes if not any(map(box.meets, taken))), boxes[0])


def stacked(rows: Mapping[str, Sequence[float]], parts_of: Sequence[str], *, unit: str) -> str:
    """One bar a row, made of parts in the order of `parts_of`, with their sizes written in."""
    largest = max((sum(sizes) for sizes in rows.values()), default=1) or 1
    step, left = 30, 130
    height = step * len(rows) + 40
    drawn: list[str] = []
    for row, (name, sizes) in enumerate(rows.items()):
        top, at = 8 + row * step, float(left)
        drawn.append(f'<text x="{left - 8}" y="{top + 15}" text-anchor="end">{escape(name)}</text>')
        for number, size in enumerate(sizes):
            wide = (WIDTH - left - 10) * size / largest
            title = f"<title>{escape(parts_of[number])}: {_plain(size)} {escape(unit)}</title>"
            drawn.append(
                f'<rect class="part{number}" x="{at:.1f}" y="{top}" '
                f'width="{wide:.1f}" height="20">{title}</rect>'
            )
            if wide > 28:
                drawn.append(
                    f'<text class="in" x="{at + wide / 2:.1f}" y="{top + 14}" text-anchor="middle">'
                    f"{_plain(size)}</text>"
                )
            at += wide
    key, at = [], float(left)
    for number, part in enumerate(parts_of):
        key.append(
            f'<rect class="part{number}" x="{at:.0f}" y="{height - 20}" width="11" height="11"/>'
            f'<text x="{at + 15:.0f}" y="{height - 10}">{escape(part)}</text>'
        )
        at += 34 + 6.2 * len(part)
    return _wrapped(height, [*drawn, *key])


def pareto(points: Iterable[Mark]) -> list[Point]:
    """The points no other beats in both less `x` and more `y`, by `x`."""
    best: list[Point] = []
    for point in sorted(((one.x, one.y) for one in points), key=lambda p: (p[0], -p[1])):
        if not best or point[1] > best[-1][1]:
            best.append(point)
    return best


def _axes(
    series: Mapping[str, Sequence[Mark]], *, log: bool, high: float | None = None, upward_log: bool = False
) -> tuple[_Axis, _Axis]:
    across = [one.x for points in series.values() for one in points] or [1.0]
    upward = [end for points in series.values() for one in points for end in one.reach] or [0.0]
    room = (max(upward) - min(0.0, *upward) or 1) * 0.12
    bottom = 0.0 if min(upward) >= 0 else min(upward) - room
    top = max(upward) + room if high is None else high
    if upward_log:
        bottom, top = min(upward) / 1.6, max(upward) * 1.6
    side = (min(across) / 1.6, max(across) * 1.6) if log else (min(across), max(across))
    return (
        _Axis(max(side[0], 0.5) if log else side[0], side[1], _LEFT, WIDTH - _RIGHT, log),
        _Axis(bottom, top, HEIGHT - _BOTTOM, _TOP, upward_log),
    )


def _frame(horizontal: _Axis, vertical: _Axis, x: str, y: str, ticks: Sequence[float]) -> str:
    right, under = WIDTH - _RIGHT, HEIGHT - _BOTTOM + 17
    marks = [
        f'<line class="grid" x1="{_LEFT}" x2="{right}" y1="{at:.1f}" y2="{at:.1f}"/>'
        f'<text x="{_LEFT - 6}" y="{at + 4:.1f}" text-anchor="end">{_plain(value)}</text>'
        for value, at in ((value, vertical.at(value)) for value in vertical.ticks())
    ]
    marks += [
        f'<text x="{horizontal.at(value):.1f}" y="{under}" text-anchor="middle">{_plain(value)}</text>'
        for value in ticks
    ]
    middle = (_LEFT + WIDTH - _RIGHT) / 2
    marks.append(f'<text class="axis" x="{middle}" y="{HEIGHT - 8}" text-anchor="middle">{escape(x)}</text>')
    marks.append(
        f'<text class="axis" transform="translate(13 {(HEIGHT - _BOTTOM + _TOP) / 2}) rotate(-90)" '
        f'text-anchor="middle">{escape(y)}</text>'
    )
    return "".join(marks)


def _svg(parts: Sequence[str], legend: Sequence[str]) -> str:
    rows: list[str] = []
    left, row = float(_LEFT), 0
    for number, name in enumerate(legend):
        wide = 30 + 6.6 * len(name)
        if left + wide > WIDTH:
            left, row = float(_LEFT), row + 1
        top = HEIGHT + 6 + 18 * row
        rows.append(
            f'<g class="c{number % COLOURS}"><circle cx="{left + 5:.0f}" cy="{top}" r="4.5"/>'
            f'<text x="{left + 14:.0f}" y="{top + 4}">{escape(name)}</text></g>'
        )
        left += wide
    return _wrapped(HEIGHT + (18 * (row + 1) if legend else 0), [*parts, *rows])


def _wrapped(height: float, parts: Sequence[str]) -> str:
    return (
        f'<svg viewBox="0 0 {WIDTH} {height:.0f}" role="img" xmlns="http://www.w3.org/2000/svg">'
        + "".join(parts)
        + "</svg>"
    )


def _nice(step: float) -> float:
    power = 10.0 ** math.floor(math.log10(step)) if step > 0 else 1.0
    fits: Callable[[float], bool] = lambda m: m * power >= step * 0.999  # noqa: E731
    return next((m * power for m in (1, 2, 2.5, 5, 10) if fits(m)), power)


def _plain(value: float) -> str:
    if abs(value) >= 1000:
        return f"{value / 1000:,.1f}k".replace(".0k", "k")
    return f"{value:.3g}"
