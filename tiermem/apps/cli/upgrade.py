"""`tiermem upgrade`: which spaces were of an earlier format."""

from __future__ import annotations

from rich.text import Text

import pagestore
from tiermem.apps.cli import options
from tiermem.text.unicode import show_controls


def upgrade(store: options.Store = options.DEFAULT_STORE, *, output: options.Output) -> None:
    """Take a store of an earlier version to today's format. Every id, span, proof and checkpoint stays."""
    instead = "opening it for writing brings its tables to this version"
    done = pagestore.upgrade(store.require_directory("upgrade", instead=instead))
    words = f"Upgraded: {', '.join(map(show_controls, done))}." if done else "Nothing to upgrade."
    output.show({"store": str(store), "spaces": done}, lambda: Text(words))
