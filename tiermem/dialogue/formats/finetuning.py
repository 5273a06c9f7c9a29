"""Lines for fine-tuning: one JSON object a line, each a chat under `messages`. Every line is a session."""

from __future__ import annotations

from collections.abc import Iterator

from tiermem.dialogue.error_location import record
from tiermem.dialogue.formats.source import DialogueSource, FormatReader, alone
from tiermem.dialogue.interface import Conversation, DialogueSession
from tiermem.dialogue.turns_file import array_turns, group_sessions, load_json


def _knows(source: DialogueSource) -> bool:
    """Several lines, or a file that says it is of lines, and the first is a chat by itself."""
    several = "\n" in source.text.strip() or source.ending in (".jsonl", ".ndjson")
    return several and isinstance((source.first_line or {}).get("messages"), list)


def _read(source: DialogueSource) -> tuple[Conversation, ...]:
    return alone(_sessions(source))


def _sessions(source: DialogueSource) -> Iterator[DialogueSession]:
    for number, line in enumerate(source.text.split("\n"), start=1):
        if line.strip():
            with record(f"line {number}"):
                session, turns = f"{source.session}-{number}", array_turns(load_json(line))
                yield from group_sessions(turns, session, keep_thinking=source.keep_thinking)


READER = FormatReader(name="fine-tuning", knows=_knows, read=_read)
