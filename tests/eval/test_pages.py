"""Pages of results have the headings, columns, rows, sentences and commands of what writes them today."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from eval.cli import app

DOCS = Path(__file__).parents[2] / "docs"
_FIGURE = re.compile(r"\.?\d+(?:[.,]\d+)*|–(?= %)")
_OF_VERDICTS = ("## What agrees", "## What comes out", "## What does not hold", "| the source | here |")
"""Which verdict a claim gets depends on the data."""
_OF_A_RUN = ("Data (", "Dataset: ")
"""Begins of the lines that name data, code and machine."""


def outline(page: str) -> list[str]:
    """The headings, columns, first cells, sentences and commands of a page, sorted, without the figures."""
    lines = page.splitlines()
    found = []
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if not line or line.startswith(("|---", "| ---", *_OF_VERDICTS, *_OF_A_RUN)):
            continue
        if line.startswith("|"):
            is_head = following.startswith(("|---", "| ---"))
            found.append(" | ".join(sorted(line.split(" | "))) if is_head else line.split(" | ")[0])
        else:
            found.append(line if line.startswith("    ") else _FIGURE.sub("#", line))
    return sorted(found)


def commands(page: str, module: str = "eval") -> list[list[str]]:
    """The commands of evaluation that a page shows, as arguments."""
    shown = re.findall(
        rf"^    .*\bpython -m {re.escape(module)} (.+)", page.replace("\\\n", " "), re.MULTILINE
    )
    return [shlex.split(command) for command in shown]


@pytest.mark.parametrize(
    "page", [DOCS / "compare.md", *sorted((DOCS / "results").glob("*.md"))], ids=lambda page: page.stem
)
def test_every_command_of_a_page_is_accepted(page: Path) -> None:
    group: Any = get_command(app)
    text = page.read_text()
    inline = [shlex.split(command) for command in re.findall(r"`(?:tiermem|python -m) eval ([^`]+)`", text)]
    for command, *arguments in [*commands(text), *inline]:
        if "…" not in arguments:
            group.commands[command].make_context(command, arguments)


@pytest.mark.parametrize(
    ("old", "new"),
    [("## Figures", "## Numbers"), ("Acc.", "Accuracy"), ("| bm25", "| BM25"), ("a sentence", "sentences")],
)
def test_a_heading_column_row_or_sentence_that_differs_is_found(old: str, new: str) -> None:
    page = "## Figures\n\n| System | Acc. |\n|---|---|\n| bm25 | .5 |\n\nOf 12, a sentence.\n"
    assert outline(page.replace(old, new)) != outline(page)
    assert outline(page.replace(".5", ".6").replace("12", "13")) == outline(page)
