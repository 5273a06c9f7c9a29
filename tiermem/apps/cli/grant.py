"""`tiermem grant`: which agents may see whose now."""

from __future__ import annotations

from typing import Annotated

import typer

from tiermem.apps.cli import options
from tiermem.apps.cli.grants import grants_table

Whom = Annotated[str, typer.Argument(metavar="AGENT", help="The agent that may see.")]
ToSee = Annotated[str, typer.Argument(metavar="OTHER", help="Whose things: an agent, or * for every one.")]


def grant(whom: Whom, to_see: ToSee, *, place: options.SpaceOptions, output: options.Output) -> None:
    """Let an agent see what belongs to another."""
    with place.open() as memory:
        all_grants = memory.grant(whom, to_see=to_see)
    output.show({"grants": all_grants}, lambda: grants_table(all_grants))
