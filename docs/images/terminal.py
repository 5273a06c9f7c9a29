"""How a terminal is drawn: the colours, the frame, and the text of it as an SVG."""

from __future__ import annotations

import io

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

WIDTH = 92

_THEME = TerminalTheme(
    (250, 250, 248),
    (40, 42, 46),
    [
        (40, 42, 46),
        (178, 34, 34),
        (46, 120, 60),
        (245, 208, 96),
        (40, 90, 170),
        (130, 60, 140),
        (0, 115, 125),
        (110, 112, 116),
    ],
)
_READABLE = {"33m": "38;2;128;92;0m", "2m": "37m", "2;": ""}
"""Yellow and dim letters are hard to read on this background: the codes that replace theirs."""
_FRAME = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">
<style>.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace;
font-size: {char_height}px; line-height: {line_height}px; }} {styles}
@media (prefers-color-scheme: dark) {{ svg {{ filter: invert(.94) hue-rotate(180deg); }} }}</style>
<defs><clipPath id="{unique_id}-clip-terminal">
<rect width="{terminal_width}" height="{terminal_height}"/></clipPath>{lines}</defs>
<rect width="{width}" height="{height}" rx="8" fill="#fafaf8" stroke="#dddddd"/>
<g transform="translate(14, 14)">{backgrounds}<g class="{unique_id}-matrix">{matrix}</g></g>
</svg>
"""


def draw(shown: str, name: str) -> str:
    """The picture of what a terminal shows, with its colours; `name` keeps its styles apart from others'."""
    for code, readable in _READABLE.items():
        shown = shown.replace(f"\033[{code}", f"\033[{readable}")
    console = Console(record=True, width=WIDTH + 1, file=io.StringIO(), force_terminal=True)
    console.print(Text.from_ansi(shown))
    return console.export_svg(theme=_THEME, code_format=_FRAME, title="", unique_id=name)
