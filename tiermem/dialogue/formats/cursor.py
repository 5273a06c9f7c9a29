"""Transcripts of Cursor (`~/.cursor/projects/<folder>/agent-transcripts/…/<id>.jsonl`): a session each.

Its lines have no ids, no model and, but for a tag in front of most prompts, no times. A turn is known by the
number of its line and its words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from pathlib import PurePath
from typing import Any, Final

from tiermem.dialogue.error_location import record
from tiermem.dialogue.formats.agent_turns import (
    NO_OUTPUT,
    AgentTurn,
    Author,
    Kind,
    Transcript,
    TurnOrigin,
    first_records,
    mapping_in,
    objects_in,
    text_in,
    transcript_lines,
)
from tiermem.dialogue.formats.source import DialogueSource, FormatReader
from tiermem.dialogue.formats.tags import is_one_tag, text_in_tag, texts_in_tags, without_tag
from tiermem.dialogue.interface import Conversation, line_id
from tiermem.dialogue.messages import words_of
from tiermem.dialogue.times import parse_time
from tiermem.errors import InvalidInput

AGENT: Final = "cursor"
_MOMENT = re.compile(
    r"(?:[A-Za-z]{1,12},\s{1,4})?(?P<day>[A-Za-z]{1,12}\s{1,4}\d{1,2},\s{1,4}\d{4}),?\s{1,4}(?P<clock>\d{1,2}:\d{2}\s{0,4}[AP]M)"
    r"(?:\s{0,4}\(UTC(?:(?P<sign>[+-])(?P<hours>\d{1,2})(?::(?P<minutes>\d{2}))?)?\))?"
)
"""`Friday, Sep 4, 2026, 2:21 AM (UTC+8)`."""
_REDACTED = "[REDACTED]"
"""What is in place of hidden reasoning, at the end of a text or as all of it."""


def _knows(source: DialogueSource) -> bool:
    return any(
        entry.get("role") in ("user", "assistant")
        and isinstance(mapping_in(entry.get("message")).get("content"), list | str)
        and not entry.keys() - {"role", "message"}
        for entry in first_records(source)
    )


def _read(source: DialogueSource) -> tuple[Conversation, ...]:
    path = PurePath(source.name)
    is_of_sub_agent = path.parent.name == "subagents"
    parent = f"{AGENT}:{path.parent.parent.name}" if is_of_sub_agent and path.parent.parent.name else None
    place = TurnOrigin(
        agent=AGENT, sub_agent=source.session if is_of_sub_agent else None, parent_session=parent
    )
    reading = _Reading(source=source, place=place)
    for number, entry in transcript_lines(source, reading.transcript):
        with record(f"line {number}"):
            _read_line(reading, number, entry)
    return reading.transcript.conversations(AGENT, source)


@dataclass(slots=True, kw_only=True)
class _Reading:
    """What was read so far. Turns of the agent have no time of their own."""

    source: DialogueSource
    place: TurnOrigin
    tools: dict[str, str] = field(default_factory=dict)
    transcript: Transcript = field(default_factory=Transcript)

    @property
    def is_of_sub_agent(self) -> bool:
        """Whether the prompts are the main agent's."""
        return self.place.sub_agent is not None

    def add(self, number: int, block: int, author: Author, kind: Kind, text: str, **known: Any) -> None:
        """Add a turn of a line."""
        if author == "agent" and self.is_of_sub_agent and kind != "prompt":
            author = "sub-agent"
        given = {"said_at": None, **known}
        turn = AgentTurn(
            record=line_id(number),
            block=block,
            author=author,
            kind=kind,
            text=text,
            place=self.place,
            **given,
        )
        self.transcript.add(self.source.session, turn)


def _read_line(reading: _Reading, number: int, entry: Mapping[str, Any]) -> None:
    role, content = entry.get("role"), mapping_in(entry.get("message")).get("content")
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else objects_in(content)
    if role == "user":
        for block, part in enumerate(parts):
            _read_part_of_user(reading, number, block, part)
    elif role == "assistant":
        for block, part in enumerate(parts):
            _read_part_of_agent(reading, number, block, part)
    elif entry.get("type") != "turn_ended":
        reading.transcript.unknown[str(entry.get("type") or role)] += 1


def _read_part_of_user(reading: _Reading, number: int, block: int, part: Mapping[str, Any]) -> None:
    if part.get("type") == "tool_result":
        call_id = text_in(part.get("tool_use_id"))
        output = words_of(part.get("content") or "")
        known = {"call_id": call_id, "tool": reading.tools.get(call_id or "")}
        reading.add(number, block, "program", "tool_result", output or NO_OUTPUT, **known)
        return
    text = text_in(part.get("text")) if part.get("type") == "text" else words_of(part)
    queries, moment = list(texts_in_tags(text or "", "user_query")), text_in_tag(text or "", "timestamp")
    words = "\n".join(queries) if queries else without_tag(text or "", "timestamp").strip()
    if not queries and is_one_tag(words):
        reading.transcript.left_out["context of the editor or the program"] += 1
    elif words:
        author: Author = "agent" if reading.is_of_sub_agent else "person"
        said_at = _moment(moment) if moment is not None else None
        reading.add(number, block, author, "prompt", words, said_at=said_at)


def _read_part_of_agent(reading: _Reading, number: int, block: int, part: Mapping[str, Any]) -> None:
    kind = part.get("type")
    if kind in ("thinking", "redacted_thinking"):
        reading.transcript.left_out["hidden reasoning"] += 1
    elif kind == "tool_use":
        given, call_id, tool = (
            mapping_in(part.get("input")),
            text_in(part.get("id")),
            text_in(part.get("name")),
        )
        if call_id and tool:
            reading.tools[call_id] = tool
        path = text_in(given.get("path")) or text_in(given.get("file_path"))
        known = {"call_id": call_id, "tool": tool, "path": path}
        reading.add(number, block, "agent", "tool_call", words_of(part), **known)
    else:
        text = text_in(part.get("text")) or ""
        plain = text.rstrip()
        said = plain.removesuffix(_REDACTED).rstrip() if plain.endswith(_REDACTED) else text
        reading.transcript.left_out["hidden reasoning"] += said != text
        reading.add(number, block, "agent", "reply", said)


def _moment(written: str) -> datetime | None:
    """The minute that a tag names, in its zone; `None` where it cannot be read."""
    found = _MOMENT.fullmatch(written)
    if found is None:
        return None
    try:
        moment = parse_time(f"{found['day']} {found['clock']}")
    except InvalidInput:
        return None
    if moment is None or "UTC" not in written:
        return moment
    offset = timedelta(hours=int(found["hours"] or 0), minutes=int(found["minutes"] or 0))
    return moment.replace(tzinfo=timezone(-offset if found["sign"] == "-" else offset))


READER = FormatReader(name=AGENT, knows=_knows, read=_read)
