"""Options that the commands which repeat papers have in common."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

Bits = Literal["fp32", "int8"]
"""How exactly texts are embedded."""
PageTo = Annotated[
    Path | None, typer.Option("--page", help="Write what was found to this file, as Markdown.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")]
Threads = Annotated[int, typer.Option("--threads", min=1, help="Threads of the local embedder.")]
Cache = Annotated[Path | None, typer.Option("--cache", help="Where embeddings are kept between runs.")]
Haystacks = Annotated[Path, typer.Option("--data", help="LongMemEval's JSON, plain, .gz or .xz.")]
