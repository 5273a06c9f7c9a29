"""Where coding agents keep the transcripts of their sessions on this machine."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tiermem.errors import InvalidInput

CodingAgent = Literal["claude-code", "codex"]
"""Agents whose folders are known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _AgentHome:
    """The directory of an agent in the home directory, the variable that names another, and its folders."""

    variable: str
    directory: str
    folders: tuple[str, ...]


_HOMES: Mapping[CodingAgent, _AgentHome] = {
    "claude-code": _AgentHome(variable="CLAUDE_CONFIG_DIR", directory=".claude", folders=("projects",)),
    "codex": _AgentHome(variable="CODEX_HOME", directory=".codex", folders=("sessions", "archived_sessions")),
}


def transcript_folders(agent: CodingAgent) -> tuple[Path, ...]:
    """Return the folders of an agent that exist; `InvalidInput` without any."""
    home = _HOMES[agent]
    root = Path(os.environ.get(home.variable) or Path.home() / home.directory)
    folders = tuple(root / name for name in home.folders)
    found = tuple(folder for folder in folders if folder.is_dir())
    if not found:
        raise InvalidInput(
            f"there are no sessions of {agent}: {str(folders[0])!r} is no folder (set {home.variable} if "
            "they are elsewhere, or name their files)"
        )
    return found


def transcripts_in(folder: Path) -> tuple[Path, ...]:
    """Return the files with lines of JSON below a folder, the oldest change first."""
    files = [path for path in folder.rglob("*.jsonl") if path.is_file()]
    return tuple(sorted(files, key=lambda path: (path.stat().st_mtime, str(path))))
