"""Prints what a new session in a directory is given: `python -m tiermem.apps.hooks.start STORE DIRECTORY`.

A process of its own, which reads and ends: it loads neither an index nor what the commands need.
"""

from __future__ import annotations

import sys
from pathlib import Path

from pagestore import Store
from tiermem.dialogue.agent_spaces import space_of_directory
from tiermem.recap import read_recap


def recap_of_directory(store: Path, directory: str) -> str:
    """Return the recap of the space of a directory's repository; "" outside of one, and where it has none.

    Raises what opening a store and a space read-only raises.
    """
    spaces = Store(store, read_only=True).spaces()
    space = space_of_directory(directory, spaces)
    return read_recap(store, space) if space is not None and space in spaces else ""


def main() -> None:
    """Print the recap of a directory."""
    _, store, directory = sys.argv
    sys.stdout.buffer.write(recap_of_directory(Path(store), directory).encode())


if __name__ == "__main__":
    main()
