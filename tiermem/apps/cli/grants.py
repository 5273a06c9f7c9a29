"""`tiermem grants`: which agents may see whose, and since when."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table

import tiermem
from tiermem.apps.cli import options
from tiermem.apps.present.tables import table
from tiermem.apps.present.terminal import when


def grants(*, place: options.SpaceOptions, looking: options.Looking) -> None:
    """List which agents may see whose things."""
    with place.open(read_only=True) as memory:
        all_grants = memory.grants()
    looking.show({"grants": all_grants}, lambda: grants_table(all_grants))


def grants_table(grants: Sequence[tiermem.Grant]) -> Table | str:
    """Grants for people."""
    if not grants:
        return "no agent may see another's"
    rows = [(one.agent, "every agent" if one.to_see == "*" else one.to_see, when(one.at)) for one in grants]
    return table(("agent", "may see", "since"), rows)
