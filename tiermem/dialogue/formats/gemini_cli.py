"""Chats of Gemini CLI (`~/.gemini/tmp/<project>/chats/session-*.json`, from 0.40 `.jsonl`): a session each.

The older file is rewritten at each change; in the newer one a later line replaces one with the same id,
and `$rewindTo` takes back what follows a message.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tiermem.dialogue.error_location import objects, record
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
from tiermem.dialogue.formats.source import DialogueSource, FormatReader
from tiermem.dialogue.interface import Conversation
from tiermem.dialogue.messages import words_of
from tiermem.errors import InvalidInput

AGENT: Final = "gemini-cli"
_FILES = "--- Content from referenced files ---"
"""What the program puts between the words and the files that these name."""
_OF_PROGRAMS = (
    "System: Please continue.",
    "You are an AI agent that brings the power of Gemini directly into the terminal.",
    "<session_context>",
)
"""How texts under the type `user` begin that the program writes: to go on, and for `/init`."""
_CODE = re.compile(r"^Exit Code: (\d{1,9})[ \t\r]*$", re.MULTILINE)


def _knows(source: DialogueSource) -> bool:
    if _is_header(source.first) and isinstance(source.first.get("messages"), list):
        return True
    return any(map(_is_header, first_records(source)))


def _is_header(value: Mapping[str, Any]) -> bool:
    return isinstance(value.get("sessionId"), str) and isinstance(value.get("projectHash"), str)


def _read(source: DialogueSource) -> tuple[Conversation, ...]:
    transcript = Transcript()
    header: Mapping[str, Any] = source.first
    if source.first_line:
        header, messages = _lines(source, transcript)
    else:
        messages = list(objects(header, "messages"))
    reading = _Reading(source=source, transcript=transcript, session=str(header.get("sessionId")))
    for message in messages:
        with record(f"message {message.get('id')}"):
            _read_message(reading, message)
    return transcript.conversations(AGENT, source)


def _lines(
    source: DialogueSource, transcript: Transcript
) -> tuple[Mapping[str, Any], list[Mapping[str, Any]]]:
    """The header of a file of lines, and its messages as they are after all changes."""
    header: Mapping[str, Any] = {}
    messages: dict[str, Mapping[str, Any]] = {}
    for number, line in transcript_lines(source, transcript):
        with record(f"line {number}"):
            if _is_header(line):
                header = header or line
                messages.update((str(one.get("id")), one) for one in objects_in(line.get("messages")))
            elif "$rewindTo" in line:
                while messages and next(reversed(messages)) != line["$rewindTo"]:
                    transcript.left_out["message that a rewind took back"] += 1
                    messages.popitem()
            elif isinstance(line.get("type"), str):
                messages[text_in(line.get("id")) or f"line-{number}"] = line
            elif "$set" not in line:
                raise InvalidInput("neither a message nor a change of the chat")
    return header, list(messages.values())


@dataclass(slots=True, kw_only=True)
class _Reading:
    """What was read so far."""

    source: DialogueSource
    transcript: Transcript
    session: str
    thoughts: list[str] = field(default_factory=list)

    def add(self, message: Mapping[str, Any], block: int, author: Author, kind: Kind, **known: Any) -> None:
        """Add a turn of a message; `said_at` of what is known replaces the time of the message."""
        given = {"said_at": time_in(message.get("timestamp")), **known}
        place = TurnOrigin(agent=AGENT, model=text_in(message.get("model")))
        turn = AgentTurn(
            record=str(message.get("id")), block=block, author=author, kind=kind, place=place, **given
        )
        self.transcript.add(self.session, turn)


def _read_message(reading: _Reading, message: Mapping[str, Any]) -> None:
    kind = message.get("type")
    if kind == "user":
        _read_prompt(reading, message)
    elif kind in ("gemini", "model"):
        _read_reply(reading, message)
    elif kind in ("info", "warning", "error"):
        reading.transcript.left_out["message of the program"] += 1
    else:
        reading.transcript.unknown[str(kind)] += 1


def _read_prompt(reading: _Reading, message: Mapping[str, Any]) -> None:
    said = message.get("displayContent") or message.get("content") or ""
    words = words_of(said).partition(_FILES)[0]
    if words.startswith(_OF_PROGRAMS):
        reading.transcript.left_out["prompt of the program"] += 1
    elif words.startswith("/") and "\n" not in words:
        reading.add(message, 0, "person", "command", text=words.strip())
    else:
        reading.add(message, 0, "person", "prompt", text=words.rstrip("\n"))


def _read_reply(reading: _Reading, message: Mapping[str, Any]) -> None:
    thoughts = objects_in(message.get("thoughts"))
    reading.transcript.left_out["hidden reasoning"] += len(thoughts)
    texts = [text for one in thoughts if (text := text_in(one.get("description")))]
    known = {"thinking": "\n".join(texts)} if texts and reading.source.keep_thinking else {}
    said = message.get("content") or message.get("parts") or ""
    reading.add(message, 0, "agent", "reply", text=words_of(said), **known)
    for number, call in enumerate(objects_in(message.get("toolCalls"))):
        given = mapping_in(call.get("args"))
        tool, call_id = text_in(call.get("name")), text_in(call.get("id"))
        path = text_in(given.get("file_path")) or text_in(given.get("absolute_path"))
        text = words_of({"type": "tool_use", "name": tool, "input": given})
        about = {"tool": tool, "call_id": call_id}
        reading.add(message, 2 * number + 1, "agent", "tool_call", text=text, path=path, **about)
        if call.get("result") is None and call.get("resultDisplay") is None:
            continue
        # What the call gave to the model, else what was displayed of it.
        output = "\n".join(_outputs(call.get("result"))) or text_in(call.get("resultDisplay")) or ""
        code = (_CODE.findall(output) or [None])[-1] if tool == "run_shell_command" else None
        failed = call.get("status") == "error" if code is None else int(code) != 0
        reading.add(
            message,
            2 * number + 2,
            "program",
            "tool_result",
            text=output if output.strip() else NO_OUTPUT,
            said_at=time_in(call.get("timestamp")),
            exit_code=None if code is None else int(code),
            # A command that fails may have the status "success".
            failed=True if failed else None if code is None else False,
            **about,
        )


def _outputs(result: object) -> Iterator[str]:
    if isinstance(result, str):
        yield result
    for part in objects_in(result):
        answer = mapping_in(mapping_in(part.get("functionResponse")).get("response"))
        output = next((answer[key] for key in ("output", "error") if isinstance(answer.get(key), str)), None)
        yield output if output is not None else words_of(part)


READER = FormatReader(name=AGENT, knows=_knows, read=_read)
