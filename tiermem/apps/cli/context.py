"""`tiermem context`: a block for a prompt. `tiermem profile` prints its block in the same way."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.text import Text

import tiermem
from tiermem.apps.cli import options
from tiermem.apps.present.progress import show_activity
from tiermem.text.unicode import show_controls

MaxTokens = Annotated[int, typer.Option(min=0, help="What the block may take at most.")]


def context(
    question: str,
    *,
    place: options.SpaceOptions,
    max_tokens: MaxTokens = 1000,
    filters: options.FilterOptions,
    read_only: options.ReadOnly = False,
    output: options.Output,
) -> None:
    """Print what memory holds for a question as a block for a prompt: no model is asked."""
    keywords = filters.keywords()
    with place.look(read_only=read_only) as memory:
        with show_activity("searching"):
            found = memory.context(question, max_tokens=max_tokens, **keywords)
        show_context(found, output)


def show_context(found: tiermem.Context, output: options.Output) -> None:
    """Print a block for a prompt, or why there is none."""
    output.show(
        found,
        # Not wrapped: a line of a source that does not begin with "| " would pass for one of the block.
        lambda: (
            (Text(show_controls(found.text)),) if found.sources else (found.empty_reason or "nothing found")
        ),
    )
