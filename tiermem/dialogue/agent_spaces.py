"""The space of a repository: where the sessions of coding agents in it are kept."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from pathlib import PurePosixPath, PureWindowsPath

from tiermem.dialogue.interface import Conversation, DialogueSession
from tiermem.dialogue.repository import repository_of

USER_SPACE = "user"
"""The space of what is to be known in every repository. Only a person or an agent that names it writes it."""
_UNUSABLE = re.compile(r"[^a-z0-9]+")
_LONGEST = 40
"""Characters of the name of a folder in the name of a space."""
_DIGITS = 8
"""Digits of the repository's id in the name of a space."""


def place_by_repository(
    conversations: Iterable[Conversation], spaces: Collection[str]
) -> Iterator[Conversation]:
    """The conversations; sessions of coding agents are with those of their repository, and ask for its space.

    `spaces` are those that the store has.
    """
    known = set(spaces)
    for conversation in conversations:
        placed: dict[str | None, list[DialogueSession]] = {}
        for session in conversation.sessions:
            space = space_of_session(session, known) if session.has_records else None
            known.update(() if space is None else (space,))
            placed.setdefault(space or conversation.space_hint, []).append(session)
        if not placed:
            yield conversation
        for at, (space, sessions) in enumerate(placed.items()):
            notes, left_out = (conversation.notes, conversation.left_out) if at == 0 else ((), {})
            yield replace(
                conversation, space_hint=space, sessions=tuple(sessions), notes=notes, left_out=left_out
            )


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
