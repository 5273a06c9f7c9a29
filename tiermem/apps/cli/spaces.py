"""`tiermem spaces`: the names of the spaces of a store."""

from __future__ import annotations

import tiermem
from tiermem.apps.cli import options


def spaces(*, store: options.Store = options.DEFAULT_STORE, looking: options.Looking) -> None:
    """List the spaces of a store."""
    names = tiermem.spaces(store.address)
    looking.show({"store": str(store), "spaces": names}, lambda: "\n".join(names) or "no spaces yet")
