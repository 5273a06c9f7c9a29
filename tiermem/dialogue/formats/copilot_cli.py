"""Sessions of Copilot CLI (`~/.copilot/session-state/<id>/events.jsonl`): a session each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
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
    text_in,
    time_in,
    transcript_lines,
)
from tiermem.dialogue.formats.source import DialogueSource, FormatReader
from tiermem.dialogue.interface import Conversation
from tiermem.dialogue.messages import words_of

AGENT: Final = "copilot-cli"
_NEWEST_TESTED = (1, 0, 77)
"""The newest version whose records were tested."""
_GROUPS = (
    "session",
    "assistant",
    "tool",
    "subagent",
    "hook",
    "system",
    "user",
    "abort",
    "skill",
    "permission",
)
"""What the types of events begin with, before the point."""
_WITHOUT_WORDS = frozenset({"session", "subagent", "hook", "abort", "skill", "permission"})


def _knows(source: DialogueSource) -> bool:
    return any(
        isinstance(entry.get("data"), Mapping)
        and "parentId" in entry
        and str(entry.get("type", "")).partition(".")[0] in _GROUPS
        for entry in first_records(source)
    )


def _read(source: DialogueSource) -> tuple[Conversation, ...]:
    folder = PurePath(source.name).parent.name if source.session == "events" else ""
    reading = _Reading(source=source, session=folder or source.session)
    for number, entry in transcript_lines(source, reading.transcript):
        with record(f"line {number}"):
            _read_event(reading, entry)
    return reading.transcript.conversations(AGENT, source)


@dataclass(slots=True, kw_only=True)
class _Reading:
    """What was read so far: where the session is, the tools by the ids of calls, how often an id was seen."""

    source: DialogueSource
    session: str
    place: TurnOrigin = field(default_factory=lambda: TurnOrigin(agent=AGENT))
    tools: dict[str, str] = field(default_factory=dict)
    seen: Counter[str] = field(default_factory=Counter)
    transcript: Transcript = field(default_factory=Transcript)

    def add(self, entry: Mapping[str, Any], author: Author, kind: Kind, text: str, **known: Any) -> None:
        """Add a turn of an event."""
        data = mapping_in(entry.get("data"))
        place = replace(self.place, model=text_in(data.get("model")) or self.place.model)
        if text_in(data.get("parentToolCallId")) is not None and author == "agent":
            author = "sub-agent"
            place = replace(place, sub_agent=text_in(data.get("parentToolCallId")))
        name = text_in(entry.get("id")) or text_in(entry.get("timestamp")) or ""
        self.seen[name] += 1
        turn = AgentTurn(
            record=name,
            block=self.seen[name] - 1,
            author=author,
            kind=kind,
            text=text,
            said_at=time_in(entry.get("timestamp")),
            place=place,
            **known,
        )
        self.transcript.add(self.session, turn)


def _read_event(reading: _Reading, entry: Mapping[str, Any]) -> None:
    data, kind = mapping_in(entry.get("data")), str(entry.get("type", ""))
    match kind:
        case "session.start" | "session.resume":
            _read_place(reading, data)
        case "session.model_change":
            reading.place = replace(reading.place, model=text_in(data.get("newModel")))
        case "user.message":
            _read_prompt(reading, entry, data)
        case "assistant.message":
            hidden = data.get("reasoningText") or data.get("reasoningOpaque")
            reading.transcript.left_out["hidden reasoning"] += bool(hidden)
            thinking = text_in(data.get("reasoningText")) if reading.source.keep_thinking else None
            words = text_in(data.get("content")) or ""
            reading.add(entry, "agent", "reply", words, thinking=thinking)
        case "assistant.reasoning":
            reading.transcript.left_out["hidden reasoning"] += 1
        case "tool.execution_start":
            _read_call(reading, entry, data)
        case "tool.execution_complete":
            _read_result(reading, entry, data)
        case "system.message" | "system.notification":
            reading.transcript.left_out["message of the program"] += 1
        case _ if kind.partition(".")[0] not in _WITHOUT_WORDS and not kind.startswith("assistant.turn_"):
            reading.transcript.unknown[kind] += 1


def _read_place(reading: _Reading, data: Mapping[str, Any]) -> None:
    """Note where the session is, and by which version it is written."""
    context = mapping_in(data.get("context"))
    repository, host = text_in(context.get("repository")), text_in(context.get("repositoryHost"))
    version = text_in(data.get("copilotVersion")) or reading.place.agent_version
    reading.session = text_in(data.get("sessionId")) or reading.session
    reading.transcript.note_version(version, _NEWEST_TESTED)
    reading.place = replace(
        reading.place,
        agent_version=version,
        model=text_in(data.get("selectedModel")) or reading.place.model,
        directory=text_in(context.get("cwd")) or reading.place.directory,
        branch=text_in(context.get("branch")) or reading.place.branch,
        remote=f"https://{host}/{repository}" if host and repository else reading.place.remote,
    )


def _read_prompt(reading: _Reading, entry: Mapping[str, Any], data: Mapping[str, Any]) -> None:
    """A prompt: `content` has the words, `transformedContent` what the program made of them."""
    words = text_in(data.get("content")) or ""
    if not words.strip():
        reading.transcript.left_out["prompt of the program"] += 1
    elif data.get("parentAgentTaskId") is not None:
        reading.add(entry, "agent", "prompt", words)
    else:
        reading.add(entry, "person", "prompt", words)


def _read_call(reading: _Reading, entry: Mapping[str, Any], data: Mapping[str, Any]) -> None:
    tool, call_id = text_in(data.get("toolName")), text_in(data.get("toolCallId"))
    given = data.get("arguments")
    if tool and call_id:
        reading.tools[call_id] = tool
    text = words_of({"type": "tool_use", "name": tool, "input": given})
    path = text_in(mapping_in(given).get("path"))
    reading.add(entry, "agent", "tool_call", text, tool=tool, call_id=call_id, path=path)


def _read_result(reading: _Reading, entry: Mapping[str, Any], data: Mapping[str, Any]) -> None:
    call_id, success = text_in(data.get("toolCallId")), data.get("success")
    result, error = mapping_in(data.get("result")), mapping_in(data.get("error"))
    output = text_in(result.get("content")) or text_in(error.get("message")) or NO_OUTPUT
    reading.add(
        entry,
        "program",
        "tool_result",
        output,
        tool=reading.tools.get(call_id or ""),
        call_id=call_id,
        failed=not success if isinstance(success, bool) else None,
    )


READER = FormatReader(name=AGENT, knows=_knows, read=_read)
