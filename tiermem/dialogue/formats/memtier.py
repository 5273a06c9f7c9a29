"""MemTier's episodes: JSON lines of one agent's day, which `tiermem export --episodic` writes too.

A line has `id`, `timestamp`, `session_id`, `project`, `content`, `tokens`, `promoted` and `cognitive_weight`.
The speaker is named in brackets in front of the content. The weight that MemTier gave it is not read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tiermem.dialogue.formats.source import Reader, Source, alone
from tiermem.dialogue.interface import Conversation
from tiermem.dialogue.turns_file import group_sessions, json_lines
from tiermem.errors import InvalidInput

_NEEDED = {"session_id", "content", "timestamp", "cognitive_weight"}
_ROLES = ("system", "user", "assistant", "tool")
_HEAD = re.compile(r"\[([^\[\]\n]{1,80})\] ")


def _knows(source: Source) -> bool:
    return _NEEDED.issubset(source.first_line or ())


def _read(source: Source) -> tuple[Conversation, ...]:
    return alone(group_sessions(json_lines(source.text, _message), source.session))


def _message(entry: object) -> Mapping[str, Any]:
    if not isinstance(entry, Mapping) or not isinstance(entry.get("content"), str):
        raise InvalidInput("an episode without a content")
    content, head = entry["content"], _HEAD.match(entry["content"])
    speaker = head[1] if head is not None else "user"
    return {
        "session": entry.get("session_id"),
        "id": entry.get("id"),
        "said_at": entry.get("timestamp"),
        "speaker": speaker,
        "role": speaker if speaker in _ROLES else None,
        "text": content[head.end() :] if head is not None else content,
    }


READER = Reader(name="memtier", knows=_knows, read=_read)
