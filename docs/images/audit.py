"""Makes `audit.svg` beside it: what `tiermem audit` prints of a question of the demo.

python docs/images/audit.py
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

PICTURE = Path(__file__).with_suffix(".svg")
QUESTION = "What is Mila allergic to?"
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
_FRAME = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">
<style>.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace;
font-size: {char_height}px; line-height: {line_height}px; }} {styles}</style>
<defs><clipPath id="{unique_id}-clip-terminal">
<rect width="{terminal_width}" height="{terminal_height}"/></clipPath>{lines}</defs>
<rect width="{width}" height="{height}" rx="8" fill="#fafaf8" stroke="#dddddd"/>
<g transform="translate(14, 14)">{backgrounds}<g class="{unique_id}-matrix">{matrix}</g></g>
</svg>
"""


def printed() -> str:
    """What the command prints, with its colours."""
    with TemporaryDirectory() as folder:
        store = ["--store", str(Path(folder, "memory"))]
        _run("demo", *store, "--engine", "local")
        answers = json.loads(_run("answers", *store, "--space", "demo", "--json"))
        (answer,) = (one["id"] for one in answers["answers"] if one["question"] == QUESTION)
        return _run("audit", answer, *store, "--space", "demo", FORCE_COLOR="1")


def draw(shown: str) -> str:
    """The picture of it."""
    console = Console(record=True, width=WIDTH + 1, file=io.StringIO(), force_terminal=True)
    console.print(Text.from_ansi(shown))
    return console.export_svg(theme=_THEME, code_format=_FRAME, title="", unique_id="audit")


def _run(*arguments: str, **environment: str) -> str:
    known = {name: value for name, value in os.environ.items() if not name.startswith("TIERMEM_")}
    known |= {"COLUMNS": str(WIDTH), **environment}
    command = [sys.executable, "-m", "tiermem", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, env=known).stdout  # noqa: S603


if __name__ == "__main__":
    PICTURE.write_text(draw(printed()), encoding="utf-8")
