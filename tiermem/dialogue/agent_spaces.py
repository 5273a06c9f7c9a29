"""The space of a repository: where the sessions of coding agents in it are kept."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import PurePosixPath, PureWindowsPath

from tiermem.dialogue.interface import DialogueSession
from tiermem.dialogue.repository import repository_of

_UNUSABLE = re.compile(r"[^a-z0-9]+")
_LONGEST = 40
"""Characters of the name of a folder in the name of a space."""
_DIGITS = 8
"""Digits of the repository's id in the name of a space."""


def space_of_session(session: DialogueSession, spaces: Collection[str]) -> str | None:
    """The space of the repository in which a session of a coding agent was; `None` where it was in none."""
    for turn in session.turns:
        repository, directory = turn.metadata.get("repository"), turn.metadata.get("directory")
        if isinstance(repository, str):
            return repository_space(repository, directory if isinstance(directory, str) else "", spaces)
    return None


def space_of_directory(directory: str | None, spaces: Collection[str]) -> str | None:
    """The space of the repository of a directory of this machine; `None` outside of one."""
    repository = repository_of(directory)
    return None if repository is None else repository_space(repository, directory or "", spaces)


def repository_space(repository: str, directory: str, spaces: Collection[str]) -> str:
    """The space of a repository among those of a store, or the name of a new one: `loom-1a2b3c4d`.

    A space is known by the start of the repository's id, which its worktrees and clones share; it is called
    after the directory in which the repository was first met.
    """
    known = f"-{repository[:_DIGITS]}"
    found = next((space for space in sorted(spaces) if space.endswith(known)), None)
    if found is not None:
        return found
    path = PureWindowsPath(directory) if "\\" in directory else PurePosixPath(directory)
    slug = _UNUSABLE.sub("-", path.name.lower()).strip("-")[:_LONGEST].strip("-")
    return f"{slug or 'repository'}{known}"
