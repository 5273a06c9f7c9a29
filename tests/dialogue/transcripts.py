"""Written records of coding agents, in the shapes that their programs write."""

import io
import json
from collections.abc import Sequence
from typing import Any

from pagestore import Turn
from tiermem.dialogue import Conversation, DialogueSession, read_dialogue

SESSION = "6b1f6e52-6a5e-4a7e-8d58-0e1a52a0c001"


class ClaudeCode:
    """A transcript of Claude Code that is being written: each method adds records and returns the id."""

    def __init__(self, session: str = SESSION, **known: Any) -> None:
        self.session = session
        self.known = {"cwd": "/nowhere/loom", "gitBranch": "main", "version": "2.1.200", **known}
        self.lines: list[str] = []
        self.count = 0
        self.last: str | None = None

    def record(self, kind: str, **fields: Any) -> str:
        self.count += 1
        uuid = f"u{self.count}"
        base = {
            "type": kind,
            "uuid": uuid,
            "parentUuid": self.last,
            "timestamp": f"2026-03-01T10:{self.count // 60:02}:{self.count % 60:02}.000Z",
            "sessionId": self.session,
            "isSidechain": False,
            **self.known,
        }
        record = {key: value for key, value in {**base, **fields}.items() if value is not ...}
        self.lines.append(json.dumps(record))
        self.last = str(record.get("uuid", uuid))
        return self.last

    def user(self, content: Any, **fields: Any) -> str:
        return self.record("user", message={"role": "user", "content": content}, **fields)

    def reply(self, *blocks: Any, **fields: Any) -> str:
        parts = [{"type": "text", "text": one} if isinstance(one, str) else one for one in blocks]
        message = {"role": "assistant", "model": "claude-opus-5", "content": parts}
        return self.record("assistant", message={**message, **fields.pop("message", {})}, **fields)

    def call(self, tool: str, call_id: str = "c1", **given: Any) -> str:
        return self.reply({"type": "tool_use", "id": call_id, "name": tool, "input": given})

    def result(self, content: Any, call_id: str = "c1", *, is_error: bool = False, **fields: Any) -> str:
        part = {"type": "tool_result", "tool_use_id": call_id, "content": content, "is_error": is_error}
        return self.user([part], **fields)

    def queue(self, operation: str, content: str | None = None, **fields: Any) -> None:
        words = {} if content is None else {"content": content}
        record = {"type": "queue-operation", "operation": operation, "sessionId": self.session, **words}
        self.count += 1
        moment = f"2026-03-01T10:{self.count // 60:02}:{self.count % 60:02}.500Z"
        self.lines.append(json.dumps({**record, "timestamp": moment, **fields}))

    def text(self) -> str:
        return "".join(f"{line}\n" for line in self.lines)

    def read(self, **options: Any) -> Conversation:
        return read_text(self.text(), **options)


def read_text(text: str, name: str = "session.jsonl", **options: Any) -> Conversation:
    """Read one transcript."""
    stream = io.BytesIO(text.encode())
    stream.name = name
    (conversation,) = read_dialogue(stream, **options)
    return conversation


def turns_of(conversation: Conversation) -> list[Turn]:
    return [turn for session in conversation.sessions for turn in session.turns]


def of_person(conversation: Conversation) -> list[str]:
    """The words that are stored as the person's."""
    return [turn.text for turn in turns_of(conversation) if turn.role == "user"]


def kinds(turns: Sequence[Turn]) -> list[str]:
    return [turn.metadata["kind"] for turn in turns]


def only(conversation: Conversation) -> DialogueSession:
    (session,) = conversation.sessions
    return session


class Codex:
    """A transcript of Codex that is being written."""

    def __init__(self, session: str = "01a1-c0de", **known: Any) -> None:
        self.session = session
        self.lines: list[str] = []
        meta = {"id": session, "cwd": "/nowhere/loom", "cli_version": "0.155.0", "source": "cli"}
        self.record("session_meta", {**meta, **known})

    def record(self, kind: str, payload: dict[str, Any], **fields: Any) -> None:
        number = len(self.lines)
        moment = f"2026-09-20T17:{number // 60:02}:{number % 60:02}.000Z"
        line = {"timestamp": moment, "ordinal": number, "type": kind, "payload": payload}
        self.lines.append(json.dumps({**line, **fields}))

    def event(self, kind: str, **fields: Any) -> None:
        self.record("event_msg", {"type": kind, **fields})

    def item(self, kind: str, **fields: Any) -> None:
        self.event("item_completed", thread_id=self.session, item={"type": kind, **fields})

    def message(self, role: str, *texts: str, kinds: Sequence[str] | None = None) -> None:
        part = "output_text" if role == "assistant" else "input_text"
        payload: dict[str, Any] = {
            "type": "message",
            "role": role,
            "content": [{"type": part, "text": text} for text in texts],
        }
        if kinds is not None:
            payload["internal_chat_message_metadata_passthrough"] = {"content_item_kinds": list(kinds)}
        self.record("response_item", payload)

    def call(self, name: str, given: Any, call_id: str = "c1", **fields: Any) -> None:
        key = "input" if fields.get("type") == "custom_tool_call" else "arguments"
        payload = {"type": "function_call", "name": name, key: given, "call_id": call_id}
        self.record("response_item", {**payload, **fields})

    def result(self, output: Any, call_id: str = "c1", kind: str = "function_call_output") -> None:
        self.record("response_item", {"type": kind, "call_id": call_id, "output": output})

    def text(self) -> str:
        return "".join(f"{line}\n" for line in self.lines)

    def read(self, **options: Any) -> Conversation:
        return read_text(self.text(), **options)
