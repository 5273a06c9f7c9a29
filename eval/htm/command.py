"""`python -m eval htm`: the cases HTM's documents print."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Page = Annotated[Path | None, typer.Option("--page", help="Write what was found to this file, as Markdown.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")]


def htm_command(*, page: Page = None, as_json: JsonOption = False) -> None:
    """HTM's printed cases of eviction and of balanced contexts, by its own algorithm."""
    from eval.htm.page import found
    from eval.reproduction import present

    present(found(), page_to=page, as_json=as_json)
