"""What every reader of dialogue gives: conversations, each a run of sessions, each a run of turns.

Readers are all or nothing: a source that cannot be read in full raises before a caller has seen any of
it, so a bad line never leaves half a session behind.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pagestore import SessionId, Turn

Format = Literal[
    "auto",
    "turns",
    "transcript",
    "markdown",
    "whatsapp",
    "telegram",
    "slack",
    "discord",
    "chatgpt",
    "claude",
    "fine-tuning",
    "csv",
    "subtitles",
    "memtier",
    "mem0",
    "zep",
    "letta",
    "langmem",
    "hindsight",
    "locomo",
    "longmemeval",
]
"""What a file may hold; `auto` finds out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DialogueSession:
    """What was said in one go: its turns in the order they were said. Every turn has a `turn_id`."""

    session: SessionId
    turns: tuple[Turn, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """Sessions that belong together. `space_hint` names the space they ask for, `None` for none."""

    space_hint: str | None
    sessions: tuple[DialogueSession, ...]

    @property
    def turns(self) -> int:
        """How many turns the conversation has in all."""
        return sum(len(session.turns) for session in self.sessions)
