"""Transcripts of Codex (`~/.codex/sessions/…/rollout-….jsonl`): a session each, sub-agents too.

Two grammars are read. Since 0.145 to 0.150 a prompt is a completed item `UserMessage`; before, it is an event
`user_message`. Both repeat it as a message to the model, under the role "user", where context of the program
is too. A message to the model is a prompt of its own only where no event has its words.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
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
    time_in,
    transcript_lines,
)
from tiermem.dialogue.formats.codex_texts import (
    Result,
    is_marker_of_import,
    is_of_import,
    parts_of_prompt,
    program_text,
    read_result,
    shell_command,
    without_blanks,
    words_of_prompt,
)
from tiermem.dialogue.formats.source import DialogueSource, FormatReader
from tiermem.dialogue.interface import Conversation
from tiermem.dialogue.messages import thinking_of, words_of
from tiermem.text.words import word_list

AGENT: Final = "codex"
_NEWEST_TESTED = (0, 161, 0)
"""The newest version whose records were tested."""

_TYPES = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted"})
_OTHER_TYPES = frozenset({"world_state", "token_usage_record", "ghost_snapshot", "inter_agent_communication"})
"""Types of records without words."""
_CALLS = frozenset(
    word_list(
        "function_call custom_tool_call local_shell_call web_search_call tool_search_call tool_call "
        "image_generation_call"
    )
)
_RESULTS = frozenset(
    word_list(
        "function_call_output custom_tool_call_output tool_search_output mcp_tool_call_output tool_result"
    )
)
_OTHER_ITEMS = frozenset(
    word_list("compaction compaction_summary compaction_trigger context_compaction additional_tools other")
)
_PATH = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$", re.MULTILINE)
"""The file that a patch is about."""
_IMPORTED = "turn imported from another agent"


def _knows(source: DialogueSource) -> bool:
    return any(
        (text_in(entry.get("type")) in _TYPES and isinstance(entry.get("payload"), Mapping))
        or _is_bare_meta(entry)
        for entry in first_records(source)
    )


def _is_bare_meta(entry: Mapping[str, Any]) -> bool:
    """Whether a record is the first one of versions that wrote records without `payload`."""
    return "type" not in entry and {"id", "timestamp", "instructions"} <= entry.keys()


def _read(source: DialogueSource) -> tuple[Conversation, ...]:
    reading = _Reading(source=source)
    entries = tuple(_entries(source, reading.transcript))
    for entry in entries:
        _note_events(reading, entry)
    for entry in entries:
        with record(f"line {entry.number}"):
            _read_entry(reading, entry)
    return reading.transcript.conversations(AGENT, source)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """A record: its type, what it holds, and the turn of the agent (by number) that it is in."""

    number: int
    id: str
    type: str
    payload: Mapping[str, Any]
    said_at: datetime | None
    turn: int
    is_import: bool
    ordinal: int | None

    @property
    def kind(self) -> str:
        """The type of what it holds."""
        return str(self.payload.get("type", ""))


@dataclass(slots=True, kw_only=True)
class _Reading:
    """What is known of the session, and what was found in its events.

    `prompts` are the words of prompts that events have, with how often; `replies` those of replies to the
    model, by the turn of the agent; `codes` the exit codes by the ids of calls.
    """

    source: DialogueSource
    transcript: Transcript = field(default_factory=Transcript)
    meta: Mapping[str, Any] | None = None
    model: str | None = None
    directory: str | None = None
    tools: dict[str, str] = field(default_factory=dict)
    prompts: Counter[str] = field(default_factory=Counter)
    hooks: set[str] = field(default_factory=set)
    replies: set[tuple[int, str]] = field(default_factory=set)
    codes: dict[str, int] = field(default_factory=dict)
    thoughts: list[str] = field(default_factory=list)

    @property
    def session(self) -> str:
        """The id of the session: that of the first record about it."""
        return text_in(mapping_in(self.meta).get("id")) or self.source.session

    @property
    def is_sub_agent(self) -> bool:
        """Whether another agent, or the program, writes the prompts of the session."""
        meta = mapping_in(self.meta)
        started_by = meta.get("thread_source")
        return "subagent" in mapping_in(meta.get("source")) or started_by in ("subagent", "guardian_review")

    def place(self) -> TurnOrigin:
        """Return where the session is."""
        meta = mapping_in(self.meta)
        git, provenance = mapping_in(meta.get("git")), mapping_in(meta.get("base_instructions"))
        base = mapping_in(meta.get("history_base")).get("thread_id")
        parents = (meta.get("parent_thread_id"), meta.get("forked_from_id"), base)
        parent = next((one for value in parents if (one := text_in(value))), None)
        return TurnOrigin(
            agent=AGENT,
            agent_version=text_in(meta.get("cli_version")),
            model=self.model or text_in(mapping_in(provenance.get("provenance")).get("model")),
            directory=self.directory or text_in(meta.get("cwd")),
            branch=text_in(git.get("branch")),
            remote=text_in(git.get("repository_url")),
            sub_agent=(text_in(meta.get("agent_nickname")) or self.session) if self.is_sub_agent else None,
            parent_session=None if parent is None else f"{AGENT}:{parent}",
        )

    def add(self, entry: _Entry, author: Author, kind: Kind, text: str, **known: Any) -> None:
        """Add a turn of a record."""
        if entry.is_import:
            self.transcript.left_out[_IMPORTED] += 1
            return
        if author == "agent" and self.is_sub_agent and kind in ("reply", "tool_call"):
            author = "sub-agent"
        if author in ("agent", "sub-agent") and self.source.keep_thinking and self.thoughts:
            known["thinking"] = "\n".join(self.thoughts)
        self.thoughts.clear()
        self.transcript.add(
            self.session,
            AgentTurn(
                record=entry.id,
                author=author,
                kind=kind,
                text=text,
                said_at=entry.said_at,
                place=self.place(),
                **known,
            ),
        )


def _entries(source: DialogueSource, transcript: Transcript) -> Iterator[_Entry]:
    """The records in order. Each is known by its time, its type and its number among those of both."""
    seen: Counter[str] = Counter()
    turn, is_import = 0, False
    for number, line in transcript_lines(source, transcript):
        entry = line if isinstance(line.get("payload"), Mapping) else _with_payload(line)
        payload = mapping_in(entry.get("payload"))
        kind = str(payload.get("type", ""))
        if kind in ("task_started", "task_complete", "turn_aborted"):
            turn += kind == "task_started"
            is_import = is_of_import(payload.get("turn_id"))
        key = f"{text_in(entry.get('timestamp')) or ''} {entry.get('type')}/{kind}"
        seen[key] += 1
        ordinal = entry.get("ordinal")
        yield _Entry(
            number=number,
            id=f"{key} {seen[key]}".strip(),
            type=str(entry.get("type", "")),
            payload=payload,
            said_at=time_in(entry.get("timestamp")),
            turn=turn,
            is_import=is_import,
            ordinal=ordinal if isinstance(ordinal, int) else None,
        )


def _with_payload(line: Mapping[str, Any]) -> Mapping[str, Any]:
    """A record of a version that wrote records without `payload`, as later ones write it."""
    if _is_bare_meta(line):
        return {"type": "session_meta", "timestamp": line.get("timestamp"), "payload": line}
    if "record_type" in line:
        return {"type": "turn_context", "payload": {}}
    return {"type": "response_item", "payload": line}


# What events have


def _note_events(reading: _Reading, entry: _Entry) -> None:
    """Note what the session is, words of prompts and replies, and exit codes: other records repeat these."""
    payload = entry.payload
    if entry.type == "session_meta" and reading.meta is None:
        reading.meta = payload
        reading.transcript.note_version(text_in(payload.get("cli_version")), _NEWEST_TESTED)
    if entry.type == "response_item" and entry.kind == "message" and payload.get("role") == "assistant":
        reading.replies.add((entry.turn, without_blanks(_plain_words(payload.get("content")))))
    if entry.type != "event_msg" or _is_copied(reading, entry):
        return
    item = mapping_in(payload.get("item")) if entry.kind == "item_completed" else payload
    call_id, code = text_in(item.get("call_id")) or text_in(item.get("id")), item.get("exit_code")
    if call_id is not None and isinstance(code, int):
        reading.codes[call_id] = code
    if entry.kind == "user_message" or item.get("type") == "UserMessage":
        reading.prompts[without_blanks(_prompt_in(item))] += 1
    if item.get("type") == "HookPrompt":
        fragments = item.get("fragments")
        texts = [mapping_in(one).get("text") for one in fragments] if isinstance(fragments, list) else []
        reading.hooks.update(without_blanks(text) for text in texts if isinstance(text, str))


def _plain_words(content: object) -> str:
    """The texts of a message, without what is around them."""
    if isinstance(content, str):
        return content.strip()
    parts = content if isinstance(content, list) else []
    texts = (text_in(mapping_in(part).get("text")) for part in parts)
    return "\n".join(text for text in texts if text).strip()


def _prompt_in(item: Mapping[str, Any]) -> str:
    """The words of the person in an event."""
    return words_of_prompt(_plain_words(item.get("message") or item.get("content"))).strip()


# Records


def _read_entry(reading: _Reading, entry: _Entry) -> None:
    if entry.type == "session_meta":
        return
    if _is_copied(reading, entry):
        reading.transcript.left_out["record copied from the session that this one came from"] += 1
        return
    match entry.type:
        case "turn_context":
            reading.model = text_in(entry.payload.get("model")) or reading.model
            reading.directory = text_in(entry.payload.get("cwd")) or reading.directory
        case "event_msg":
            _read_event(reading, entry)
        case "response_item":
            _read_item(reading, entry)
        case "compacted":
            reading.add(entry, "agent", "summary", text_in(entry.payload.get("message")) or "")
        case _ if entry.type not in _OTHER_TYPES:
            reading.transcript.unknown[entry.type] += 1


def _is_copied(reading: _Reading, entry: _Entry) -> bool:
    """Whether a record is of the session from which this one was made."""
    start = mapping_in(reading.meta).get("subagent_history_start_ordinal")
    if isinstance(start, int) and entry.ordinal is not None and entry.ordinal < start:
        return True
    thread = text_in(entry.payload.get("thread_id"))
    return entry.kind == "item_completed" and thread is not None and thread != reading.session


def _read_event(reading: _Reading, entry: _Entry) -> None:
    item = mapping_in(entry.payload.get("item")) if entry.kind == "item_completed" else entry.payload
    match item.get("type"):
        case "user_message" if item.get("kind") in ("user_instructions", "environment_context"):
            reading.transcript.left_out["instructions to the agent"] += 1
        case "user_message" | "UserMessage":
            words = _prompt_in(item)
            images = [item.get("images"), item.get("local_images")]
            count = sum(len(one) for one in images if isinstance(one, list))
            parts = objects_in(item.get("content"))
            count += sum("image" in str(part.get("type", "")).lower() for part in parts)
            _read_prompt(reading, entry, words or "\n".join(["[image]"] * count))
        case "agent_message" | "AgentMessage":
            words = _plain_words(item.get("message") or item.get("content"))
            _read_copied_reply(reading, entry, words)
        case "task_complete":
            _read_copied_reply(reading, entry, text_in(item.get("last_agent_message")) or "")
        case "thread_name_updated" if title := text_in(item.get("thread_name")):
            reading.transcript.titles[reading.session] = title


def _read_copied_reply(reading: _Reading, entry: _Entry, words: str) -> None:
    """Add a reply that only an event has."""
    if is_marker_of_import(words):
        return
    key = entry.turn, without_blanks(words)
    if words and key not in reading.replies:
        reading.replies.add(key)
        reading.add(entry, "agent", "reply", words)


def _read_prompt(reading: _Reading, entry: _Entry, words: str) -> None:
    """Add what is given as the person's."""
    if not words.strip():
        return
    if (why := program_text(words)) is not None:
        reading.transcript.left_out[why] += 1
    elif (shell := shell_command(words)) is not None:
        reading.add(entry, "person", "command", shell, tool="shell")
    else:
        reading.add(entry, "agent" if reading.is_sub_agent else "person", "prompt", words)


def _read_item(reading: _Reading, entry: _Entry) -> None:
    kind, payload = entry.kind, entry.payload
    if kind == "message":
        _read_message(reading, entry)
    elif kind == "reasoning":
        reading.transcript.left_out["hidden reasoning"] += 1
        reading.thoughts.extend(thinking_of([payload]).values())
    elif kind == "agent_message":
        reading.add(entry, "sub-agent", "reply", _plain_words(payload.get("content")))
    elif kind in _CALLS:
        _read_call(reading, entry)
    elif kind in _RESULTS:
        _read_result(reading, entry)
    elif kind not in _OTHER_ITEMS:
        reading.transcript.unknown[f"response_item/{kind}"] += 1


def _read_message(reading: _Reading, entry: _Entry) -> None:
    payload = entry.payload
    if payload.get("role") == "assistant":
        words = _plain_words(payload.get("content"))
        if is_marker_of_import(words):
            dropped = reading.transcript.turns.pop(reading.session, [])
            reading.transcript.left_out[_IMPORTED] += len(dropped)
        else:
            reading.add(entry, "agent", "reply", words)
    elif payload.get("role") == "user":
        _read_message_of_user(reading, entry)
    else:
        reading.transcript.left_out["instructions to the agent"] += 1


def _read_message_of_user(reading: _Reading, entry: _Entry) -> None:
    """Add a message to the model under the role user, where it is the person's and no event has it."""
    said, left_out = parts_of_prompt(entry.payload)
    reading.transcript.left_out.update(left_out)
    words = words_of_prompt(_plain_words(said))
    key = without_blanks(words)
    if reading.prompts[key] > 0:
        reading.prompts[key] -= 1
    elif key and key in reading.hooks:
        reading.transcript.left_out["text of a hook"] += 1
    else:
        others = [words_of(part) for part in said if text_in(part.get("text")) is None]
        _read_prompt(reading, entry, "\n".join(one for one in (words, *others) if one))


# Tools


def _read_call(reading: _Reading, entry: _Entry) -> None:
    payload = entry.payload
    name, given = _call_of(payload)
    call_id = text_in(payload.get("call_id")) or text_in(payload.get("id"))
    if call_id is not None:
        reading.tools[call_id] = name
    text = words_of({"type": "tool_use", "name": name, "input": given})
    patch = _PATH.search(given.replace("\\n", "\n")) if isinstance(given, str) else None
    path = patch[1].strip() if patch is not None else None
    reading.add(entry, "agent", "tool_call", text, tool=name, call_id=call_id, path=path)


def _call_of(payload: Mapping[str, Any]) -> tuple[str, object]:
    """The name of the tool, that of its server in front, and what it is called with."""
    function = mapping_in(payload.get("function"))
    name = text_in(payload.get("name")) or text_in(function.get("name"))
    name = name or str(payload.get("type", "")).removesuffix("_call")
    space = text_in(payload.get("namespace"))
    given = next(
        (payload[key] for key in ("arguments", "input", "action") if payload.get(key) is not None),
        function.get("arguments") or {},
    )
    return (f"{space}__{name}" if space else name), given


def _read_result(reading: _Reading, entry: _Entry) -> None:
    payload = entry.payload
    call_id = text_in(payload.get("call_id"))
    result: Result = read_result(payload)
    code = result.exit_code if result.exit_code is not None else reading.codes.get(call_id or "")
    failed = result.failed if code is None else code != 0
    reading.add(
        entry,
        "program",
        "tool_result",
        result.text if result.text.strip() else NO_OUTPUT,
        tool=reading.tools.get(call_id or "") or text_in(payload.get("name")),
        call_id=call_id,
        exit_code=code,
        failed=failed,
    )


READER = FormatReader(name=AGENT, knows=_knows, read=_read)
