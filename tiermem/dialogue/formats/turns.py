"""Turns as JSON: one a line, or one array of them, also under `messages`."""

from __future__ import annotations

from collections.abc import Iterable

from tiermem.dialogue.formats.benchmarks import is_benchmark
from tiermem.dialogue.formats.source import DialogueSource, FormatReader, alone
from tiermem.dialogue.interface import Conversation
from tiermem.dialogue.turns_file import array_turns, group_sessions, json_lines

_WHOLE = {"messages", "chats", "mapping", "chat_messages"}
"""What a whole chat on one line holds."""
_JSON_LINES = (".jsonl", ".ndjson")


def _is_lines(source: DialogueSource) -> bool:
    return source.ending in _JSON_LINES or _opens_with_a_turn(source)


def _opens_with_a_turn(source: DialogueSource) -> bool:
    """Whether the first line alone is a JSON object, and not a whole document written on one line."""
    first = source.first_line
    return first is not None and not (is_benchmark(first) or first.keys() & _WHOLE)


def _read_lines(source: DialogueSource) -> tuple[Conversation, ...]:
    return _read_turns(source, json_lines(source.text))


def _read_array(source: DialogueSource) -> tuple[Conversation, ...]:
    return _read_turns(source, array_turns(source.document))


def _read_turns(source: DialogueSource, turns: Iterable[tuple[str, object]]) -> tuple[Conversation, ...]:
    options = {"stamps": source.stamps, "keep_thinking": source.keep_thinking}
    return alone(group_sessions(turns, source.session, **options))


LINES = FormatReader(name="turns", knows=_is_lines, read=_read_lines)
ARRAY = FormatReader(name="turns", knows=lambda source: source.looks_like_json, read=_read_array)
