"""MemTier's episodes: JSON lines of one agent's day, which `tiermem export --episodic` writes too.

A line has `id`, `timestamp`, `session_id`, `project`, `content`, `tokens`, `promoted` and `cognitive_weight`.
Who speaks stands in front of the content, in brackets. What it was worth to MemTier is not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from tiermem.dialogue.formats.source import Reader, Source, alone
from tiermem.dialogue.interface import Conversation
from tiermem.dialogue.places import place
from tiermem.dialogue.turns_file import grouped, load_json
from tiermem.errors import InvalidInput

_NEEDED = {"session_id", "content", "timestamp", "cognitive_weight"}
_ROLES = ("system", "user", "assistant", "tool")
_HEAD = re.compile(r"\[([^\[\]\n]{1,80})\] ")


def _knows(source: Source) -> bool:
    first = source.text.lstrip().partition("\n")[0]
    if not first.startswith("{"):
        return False
    try:
        value = load_json(first)
    except InvalidInput:
        return False
    return isinstance(value, Mapping) and _NEEDED.issubset(value)


def _read(source: Source) -> tuple[Conversation, ...]:
    return alone(grouped(_messages(source.text), source.session))


def _messages(text: str) -> Iterator[tuple[str, object]]:
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            with place(f"line {number}"):
                message = _message(load_json(line))
            yield f"line {number}", message


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
