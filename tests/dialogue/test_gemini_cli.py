"""Chats of Gemini CLI: one JSON document, and lines from 0.40 on. All of these are written."""

import json
from pathlib import Path
from typing import Any

import tiermem
from tests.dialogue.transcripts import kinds, of_person, only, read_text, turns_of
from tiermem.dialogue import Conversation

HEADER = {"sessionId": "g-1", "projectHash": "7e89", "startTime": "2026-04-01T10:00:00.000Z"}


def message(name: str, kind: str, content: Any, **fields: Any) -> dict[str, Any]:
    return {
        "id": name,
        "timestamp": f"2026-04-01T10:00:0{len(name)}.000Z",
        "type": kind,
        "content": content,
        **fields,
    }


def as_document(*messages: dict[str, Any]) -> Conversation:
    return read_text(json.dumps({**HEADER, "messages": list(messages)}, indent=1), "session-1.json")


def as_lines(*lines: dict[str, Any]) -> Conversation:
    return read_text("".join(f"{json.dumps(line)}\n" for line in ({**HEADER, "kind": "main"}, *lines)))


CALL = {
    "id": "c1",
    "name": "run_shell_command",
    "args": {"command": "ls"},
    "status": "success",
    "timestamp": "2026-04-01T10:00:09.000Z",
    "result": [{"functionResponse": {"response": {"output": "Output: a.py\nError: (none)\nExit Code: 2"}}}],
}
REPLY = message(
    "m2",
    "gemini",
    "I look.",
    model="gemini-3",
    thoughts=[{"subject": "Plan", "description": "List the files."}],
    toolCalls=[CALL],
)


def test_a_message_with_calls_is_a_reply_its_calls_and_their_results() -> None:
    for conversation in (
        as_document(message("m", "user", "List."), REPLY),
        as_lines(message("m", "user", "List."), REPLY),
    ):
        session = only(conversation)
        assert session.session == "gemini-cli:g-1"
        assert [(turn.role, turn.turn_id) for turn in session.turns] == [
            ("user", "m/0"),
            ("assistant", "m2/0"),
            ("assistant", "m2/1"),
            ("tool", "m2/2"),
        ]
        assert session.turns[1].metadata["model"] == "gemini-3"
        result = session.turns[3]  # the status of the call is success, and its exit code is 2
        assert result.said_at is not None
        assert result.said_at.isoformat() == "2026-04-01T10:00:09+00:00"
        assert (result.metadata["exit_code"], result.metadata["failed"]) == (
            2,
            True,
        )
        assert conversation.left_out == {"hidden reasoning": 1}


def test_texts_of_the_program_are_not_the_persons() -> None:
    conversation = as_document(
        message("a", "user", "System: Please continue."),
        message(
            "b",
            "user",
            "You are an AI agent that brings the power of Gemini directly into the terminal. Your task",
        ),
        message("c", "info", "Update available"),
        message("d", "error", "API error"),
        message("e", "user", "Go."),
    )
    assert of_person(conversation) == ["Go."]
    assert conversation.left_out == {"prompt of the program": 2, "message of the program": 2}


def test_files_that_the_program_appends_are_not_the_persons_words() -> None:
    parts = [
        {"text": "Explain @a.py"},
        {"text": "\n--- Content from referenced files ---"},
        {"text": "x = 1"},
    ]
    conversation = as_document(
        message("a", "user", parts),
        message("b", "user", "Explain @b.py\n--- Content from referenced files ---\ny = 1"),
        message("c", "user", "expanded", displayContent="as typed"),
    )
    assert of_person(conversation) == ["Explain @a.py", "Explain @b.py", "as typed"]


def test_a_command_is_the_persons() -> None:
    assert kinds(turns_of(as_document(message("a", "user", "/compress")))) == ["command"]


def test_a_later_line_replaces_a_message_and_a_rewind_takes_messages_back() -> None:
    conversation = as_lines(
        message("a", "user", "First."),
        message("b", "gemini", "Draft"),
        message("b", "gemini", "Draft, whole."),
        message("c", "user", "Wrong way."),
        {"$rewindTo": "b"},
        {"$set": {"lastUpdated": "now"}},
        message("d", "user", "Right way."),
    )
    assert [turn.text for turn in turns_of(conversation)] == ["First.", "Draft, whole.", "Right way."]


def test_a_chat_that_grows_adds_only_what_is_new(tmp_path: Path) -> None:
    with tiermem.open(tmp_path / "memory") as memory:
        first = as_document(message("a", "user", "Weave."))
        later = as_document(message("a", "user", "Weave."), message("b", "user", "And dye."))
        assert [memory.ingest(one)[0][1].new for one in (first, later, later)] == [1, 1, 0]
