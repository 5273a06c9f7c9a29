"""`tiermem profile`: what is known of people without a question, as a block for a prompt."""

from __future__ import annotations

from tiermem.apps.cli import options
from tiermem.apps.cli.context import MaxTokens, show_context


def profile(
    *,
    place: options.SpaceOptions,
    max_tokens: MaxTokens = 1000,
    read_only: options.ReadOnly = False,
    output: options.Output,
) -> None:
    """Print what is stated and what people said last, with addresses, as a block for a prompt.

    It needs no question, and asks no model.
    """
    with place.look(read_only=read_only) as memory:
        found = memory.profile(max_tokens=max_tokens)
    show_context(found, output)
