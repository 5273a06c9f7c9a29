"""Where coding agents keep the transcripts of their sessions on this machine."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from tiermem.errors import InvalidInput

CodingAgent = Literal["claude-code", "codex", "gemini-cli", "copilot-cli", "cursor", "opencode"]
"""Agents whose folders are known."""


def is_of_coding_agent(session: str) -> bool:
    """Whether the id of a session is that of a coding agent: `claude-code:6b1f6e52`."""
    form, colon, _ = session.partition(":")
    return bool(colon) and form in get_args(CodingAgent)


@dataclass(frozen=True, slots=True, kw_only=True)
class _AgentHome:
    """The directory of an agent in the home directory, the variable that names another, and its folders."""

    variable: str | None = None
    directory: str
    folders: tuple[str, ...]


_PATTERNS = ("*.jsonl", "session-*.json", "opencode.db")
"""The names of transcripts: lines of JSON, older chats of Gemini CLI, the database of OpenCode."""

_HOMES: Mapping[CodingAgent, _AgentHome] = {
    "claude-code": _AgentHome(variable="CLAUDE_CONFIG_DIR", directory=".claude", folders=("projects",)),
    "gemini-cli": _AgentHome(directory=".gemini", folders=("tmp",)),
    "cursor": _AgentHome(directory=".cursor", folders=("projects",)),
    "opencode": _AgentHome(variable="XDG_DATA_HOME", directory=".local/share", folders=("opencode",)),
    "copilot-cli": _AgentHome(directory=".copilot", folders=("session-state",)),
    "codex": _AgentHome(variable="CODEX_HOME", directory=".codex", folders=("sessions", "archived_sessions")),
}


def transcript_folders(agent: CodingAgent) -> tuple[Path, ...]:
    """Return the folders of an agent that exist; `InvalidInput` without any."""
    home = _HOMES[agent]
    named = None if home.variable is None else os.environ.get(home.variable)
    root = Path(named or Path.home() / home.directory)
    folders = tuple(root / name for name in home.folders)
    found = tuple(folder for folder in folders if folder.is_dir())
    if not found:
        elsewhere = "" if home.variable is None else f"set {home.variable} if they are elsewhere, or "
        raise InvalidInput(
            f"there are no sessions of {agent}: {str(folders[0])!r} is no folder ({elsewhere}name their "
            "files)"
        )
    return found


def transcripts_in(folder: Path) -> tuple[Path, ...]:
    """Return the files below a folder that may be transcripts, the oldest change first."""
    files = [path for pattern in _PATTERNS for path in folder.rglob(pattern) if path.is_file()]
    return tuple(sorted(files, key=lambda path: (path.stat().st_mtime, str(path))))
