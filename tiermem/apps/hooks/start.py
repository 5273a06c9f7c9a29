"""Prints what a new session in a directory is given: `python -m tiermem.apps.hooks.start STORE DIRECTORY`.

A process of its own, which reads and ends: it loads neither an index nor what the commands need.
"""

from __future__ import annotations

import sys
from pathlib import Path

from pagestore import EstimateCounter, Store
from tiermem.dialogue.agent_spaces import USER_SPACE, space_of_directory
from tiermem.recap import MOST_TOKENS, read_recap

_OF_USER = MOST_TOKENS // 3
"""The most tokens of the recap of the user's space."""


def recap_of_directory(store: Path, directory: str) -> str:
    """Return the recaps of the user's space and of the space of a directory's repository, each between marks.

    They have at most `MOST_TOKENS` together, by an estimate. "" where neither space has any. Raises what
    opening a store and a space read-only raises.
    """
    spaces = Store(store, read_only=True).spaces()
    space = space_of_directory(directory, spaces)
    of_user = f"{read_recap(store, USER_SPACE, max_tokens=_OF_USER)}\n" if USER_SPACE in spaces else ""
    if space is None or space not in spaces:
        return of_user.strip()
    left = MOST_TOKENS - EstimateCounter().count(of_user)
    return (of_user + read_recap(store, space, max_tokens=left)).strip()


def main() -> None:
    """Print the recaps of a directory."""
    _, store, directory = sys.argv
    sys.stdout.buffer.write(recap_of_directory(Path(store), directory).encode())


if __name__ == "__main__":
    main()
