"""The database of OpenCode (`~/.local/share/opencode/opencode.db`), version 2 and version 1: a session each.

After the move to version 2 the tables of version 1 stay as they were, with the same ids: of them only
sessions are read that the newer tables do not have.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tiermem.dialogue.database import rows_as_json
from tiermem.dialogue.error_location import objects, record
from tiermem.dialogue.formats.agent_turns import (
    NO_OUTPUT,
    AgentTurn,
    Author,
    Kind,
    Transcript,
    TurnOrigin,
    mapping_in,
    objects_in,
    text_in,
    time_in,
)
from tiermem.dialogue.formats.source import DialogueSource, FormatReader
from tiermem.dialogue.interface import Conversation
from tiermem.dialogue.messages import words_of
from tiermem.dialogue.turns_file import load_json
from tiermem.errors import InvalidInput
from tiermem.text.words import word_list

AGENT: Final = "opencode"
TABLES = ("session_v2", "session_message")
"""What is read of a database of version 2."""
OLDER_TABLES = ("session", "message", "part")
"""What is read of a database of version 1."""
_SESSION_COLUMNS: Final = {
    "session_v2": "id",
    "session_message": "session_id",
    "session": "id",
    "message": "session_id",
    "part": "session_id",
}
"""The column of each table that has the id of the session."""
_NEWEST_TESTED = (2, 0, 26)
"""The newest version whose rows were tested."""
_WITHOUT_WORDS = frozenset(
    word_list(
        "idle agent-switched model-switched step-start step-finish snapshot patch file agent subtask retry"
    )
)


def _knows(source: DialogueSource) -> bool:
    return all(isinstance(source.first.get(table), list) for table in TABLES) or all(
        isinstance(source.first.get(table), list) for table in OLDER_TABLES
    )


def _read(source: DialogueSource) -> tuple[Conversation, ...]:
    database = source.first
    reading = _Reading(source=source)
    for session in _rows(database, "session_v2"):
        reading.add_session(session)
    for row in _in_order(database, "session_message", "seq"):
        with record(f"message {row.get('id')}"):
            _read_message(reading, row)
    older = [one for one in _rows(database, "session") if str(one.get("id")) not in reading.sessions]
    for session in older:
        reading.add_session(session)
    _read_older_messages(reading, database, {str(one.get("id")) for one in older})
    return reading.transcript.conversations(AGENT, source)


def session_as_json(path: Path, session: str) -> str:
    """The rows of a session, and of those that it started, in a database of any size, as one JSON object.

    Raises `InvalidInput` where the database cannot be read.
    """
    parents = dict.fromkeys(("session_v2", "session"), "parent_id")
    started = load_json(rows_as_json(path, parents, [session]))
    ids = [str(row["id"]) for rows in started.values() for row in rows]
    return rows_as_json(path, _SESSION_COLUMNS, [session, *ids])


def _rows(database: Mapping[str, Any], table: str) -> list[Mapping[str, Any]]:
    return list(objects(database, table)) if table in database else []


def _in_order(database: Mapping[str, Any], table: str, *keys: str) -> list[Mapping[str, Any]]:
    return sorted(
        _rows(database, table),
        key=lambda row: [row[key] if isinstance(row.get(key), int) else 0 for key in keys],
    )


def _data(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """The JSON of a row."""
    value = load_json(text_in(row.get("data")) or "null")
    if not isinstance(value, Mapping):
        raise InvalidInput("its data is no JSON object")
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class _Message:
    """A message, or its row: where it is, and what was made with it."""

    id: str
    session: str
    place: TurnOrigin
    time: Mapping[str, Any]

    @property
    def is_of_sub_agent(self) -> bool:
        """Whether another session started the session, so that its prompts are the main agent's."""
        return self.place.parent_session is not None

    @property
    def is_complete(self) -> bool:
        """Whether nothing more is written to the message."""
        return self.time.get("completed") is not None


@dataclass(slots=True, kw_only=True)
class _Reading:
    """What was read so far, and the rows of the sessions by their ids."""

    source: DialogueSource
    sessions: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    transcript: Transcript = field(default_factory=Transcript)

    def add_session(self, row: Mapping[str, Any]) -> None:
        """Note a session and its title."""
        name = str(row.get("id"))
        self.sessions[name] = row
        self.transcript.note_version(text_in(row.get("version")), _NEWEST_TESTED)
        if title := text_in(row.get("title")):
            self.transcript.titles[name] = title

    def message(self, row: Mapping[str, Any], data: Mapping[str, Any]) -> _Message:
        """Return what is known of a message."""
        session = str(row.get("session_id"))
        known = self.sessions.get(session, {})
        parent = text_in(known.get("parent_id"))
        model = text_in(mapping_in(data.get("model")).get("id")) or text_in(data.get("modelID"))
        place = TurnOrigin(
            agent=AGENT,
            agent_version=text_in(known.get("version")),
            model=model,
            directory=text_in(known.get("directory")),
            sub_agent=(text_in(known.get("agent")) or session) if parent else None,
            parent_session=f"{AGENT}:{parent}" if parent else None,
        )
        return _Message(
            id=str(row.get("id")), session=session, place=place, time=mapping_in(data.get("time"))
        )

    def add(self, message: _Message, block: int, author: Author, kind: Kind, text: str, **known: Any) -> None:
        """Add a turn of a message; `said_at` of what is known replaces the time of the message."""
        if author == "agent" and message.is_of_sub_agent and kind in ("reply", "tool_call"):
            author = "sub-agent"
        given = {"said_at": time_in(message.time.get("created")), **known}
        turn = AgentTurn(
            record=message.id, block=block, author=author, kind=kind, text=text, place=message.place, **given
        )
        self.transcript.add(message.session, turn)

    def add_prompt(self, message: _Message, block: int, words: str) -> None:
        """Add a prompt: the main agent's in a session that another one started."""
        self.add(message, block, "agent" if message.is_of_sub_agent else "person", "prompt", words)

    def add_text(self, message: _Message, block: int, words: str, kind: Kind = "reply") -> None:
        """Add words of the agent, unless they are still being written."""
        if message.is_complete:
            self.add(message, block, "agent", kind, words)
        elif words:
            self.transcript.left_out["reply that is still being written"] += 1

    def add_call(self, message: _Message, block: int, call: Mapping[str, Any]) -> None:
        """Add a call that was finished, and its result."""
        state = mapping_in(call.get("state"))
        given, times = mapping_in(state.get("input")), mapping_in(call.get("time") or state.get("time"))
        tool = text_in(call.get("name")) or text_in(call.get("tool"))
        about = {"tool": tool, "call_id": text_in(call.get("callID")) or text_in(call.get("id"))}
        if state.get("status") not in ("completed", "error"):
            self.transcript.left_out["call that is still running"] += 1
            return
        path = text_in(given.get("path")) or text_in(given.get("filePath"))
        started = times.get("created", times.get("start"))
        text = words_of({"type": "tool_use", "name": tool, "input": given})
        self.add(message, block, "agent", "tool_call", text, path=path, said_at=time_in(started), **about)
        code = mapping_in(state.get("metadata")).get("exit")
        self.add(
            message,
            block + 1,
            "program",
            "tool_result",
            _output(state) or NO_OUTPUT,
            said_at=time_in(times.get("completed", times.get("end"))),
            exit_code=code if isinstance(code, int) else None,
            failed=state.get("status") == "error" or (isinstance(code, int) and code != 0),
            **about,
        )


def _output(state: Mapping[str, Any]) -> str:
    """What a tool gave, or why it failed."""
    error = state.get("error")
    why = text_in(mapping_in(error).get("message")) or text_in(error)
    content = state.get("content")
    given = words_of(content) if isinstance(content, list) else text_in(state.get("output"))
    return given or why or ""


def _read_message(reading: _Reading, row: Mapping[str, Any]) -> None:
    """A row of version 2."""
    kind, data = str(row.get("type")), _data(row)
    message = reading.message(row, data)
    match kind:
        case "user":
            reading.add_prompt(message, 0, text_in(data.get("text")) or "")
        case "assistant":
            for number, part in enumerate(objects_in(data.get("content"))):
                _read_part(reading, message, 2 * number, part)
        case "synthetic" | "system":
            reading.transcript.left_out["text of the program to the agent"] += 1
        case "compaction":
            summary = text_in(data.get("summary")) or text_in(data.get("text")) or ""
            reading.add(message, 0, "agent", "summary", summary)
        case _ if kind not in _WITHOUT_WORDS:
            reading.transcript.unknown[kind] += 1


def _read_part(
    reading: _Reading, message: _Message, block: int, part: Mapping[str, Any], kind: Kind = "reply"
) -> None:
    """A part of what the agent wrote."""
    match text_in(part.get("type")):
        case "text" if part.get("synthetic") is True or part.get("ignored") is True:
            reading.transcript.left_out["text of the program to the agent"] += 1
        case "text":
            reading.add_text(message, block, text_in(part.get("text")) or "", kind)
        case "reasoning":
            reading.transcript.left_out["hidden reasoning"] += 1
        case "tool":
            reading.add_call(message, block, part)
        case other if other not in _WITHOUT_WORDS and other != "compaction":
            reading.transcript.unknown[str(other)] += 1


def _read_older_messages(reading: _Reading, database: Mapping[str, Any], sessions: set[str]) -> None:
    """The messages and parts of version 1, of some sessions."""
    parts: dict[str, list[Mapping[str, Any]]] = {}
    for row in _in_order(database, "part", "time_created"):
        parts.setdefault(str(row.get("message_id")), []).append(row)
    for row in _in_order(database, "message", "time_created"):
        if str(row.get("session_id")) in sessions:
            with record(f"message {row.get('id')}"):
                data = _data(row)
                message = reading.message(row, data)
                for part in _older_parts(parts.get(message.id, [])):
                    _read_older_part(reading, message, data, *part)


def _older_parts(rows: list[Mapping[str, Any]]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for row in rows:
        with record(f"part {row.get('id')}"):
            yield str(row.get("id")), _data(row)


def _read_older_part(
    reading: _Reading, message: _Message, data: Mapping[str, Any], name: str, part: Mapping[str, Any]
) -> None:
    """A part of version 1, which has an id of its own."""
    started = mapping_in(part.get("time")).get("start")
    times = message.time if started is None else {**message.time, "created": started}
    own = _Message(id=name, session=message.session, place=message.place, time=times)
    is_synthetic = part.get("synthetic") is True or part.get("ignored") is True
    if data.get("role") == "user" and part.get("type") == "text" and not is_synthetic:
        reading.add_prompt(own, 0, text_in(part.get("text")) or "")
    else:
        _read_part(reading, own, 0, part, "summary" if data.get("summary") is True else "reply")


READER = FormatReader(name=AGENT, knows=_knows, read=_read)
