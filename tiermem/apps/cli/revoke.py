"""`tiermem revoke`: which agents may see whose now."""

from __future__ import annotations

from tiermem.apps.cli import options
from tiermem.apps.cli.grant import ToSee, Whom
from tiermem.apps.cli.grants import grants_table


def revoke(whom: Whom, to_see: ToSee, *, place: options.SpaceOptions, output: options.Output) -> None:
    """Undo a grant: the agent sees nothing of the other any more."""
    with place.open() as memory:
        all_grants = memory.revoke(whom, to_see=to_see)
    output.show({"grants": all_grants}, lambda: grants_table(all_grants))
