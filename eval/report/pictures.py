"""Charts as SVG files that need no style sheet, and that are dark where the page is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from eval.report.charts import COLOURS, Mark, lines

_HUES: Final = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#c75300", "#8c564b", "#00838f", "#7f7f7f")
_STYLE: Final = (
    "text{font:11px sans-serif;fill:#333}.grid{stroke:#ddd}polyline{fill:none;stroke-width:1.6}"
    + "".join(f".c{n}{{stroke:{hue};fill:{hue}}}" for n, hue in enumerate((*_HUES, *_HUES)[:COLOURS]))
    + "g text{stroke:none;fill:#333}"
    + "@media(prefers-color-scheme:dark){svg{filter:invert(.94) hue-rotate(180deg)}}"
)


def picture(series: Mapping[str, Sequence[Mark]], *, y: str, x: str, log: bool = False) -> str:
    """Draw one line a series by `x`, with its colours in the file; on logarithmic axes with `log`."""
    drawn = lines(series, x=x, y=y, log=log)
    opening, rest = drawn.split(">", 1)
    return f'{opening}><style>{_STYLE}</style><rect width="100%" height="100%" fill="#fff"/>{rest}\n'
