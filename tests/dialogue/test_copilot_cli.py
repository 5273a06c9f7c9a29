"""Sessions of Copilot CLI, as written events."""

import json
from typing import Any

from tests.dialogue.transcripts import of_person, only, read_text, turns_of
from tiermem.dialogue import Conversation

CONTEXT = {"cwd": "/nowhere/loom", "branch": "main", "repository": "ann/loom", "repositoryHost": "github.com"}
START = (
    "session.start",
    {"sessionId": "c-1", "copilotVersion": "1.0.34", "selectedModel": "gpt-5-mini", "context": CONTEXT},
)


def read_events(*events: tuple[str, dict[str, Any]], name: str = "events.jsonl") -> Conversation:
    lines = [
        {
            "type": kind,
            "data": data,
            "id": f"e{n}",
            "timestamp": f"2026-02-01T10:00:0{n}.000Z",
            "parentId": None,
        }
        for n, (kind, data) in enumerate(events)
    ]
    return read_text("".join(f"{json.dumps(line)}\n" for line in lines), name)


def test_a_session_is_read_with_what_is_known_of_it() -> None:
    session = only(
        read_events(
            START,
            ("user.message", {"content": "List.", "transformedContent": "<reminder>x</reminder>List."}),
            (
                "assistant.message",
                {"content": "I look.", "model": "gpt-6", "toolRequests": [{}]},
            ),
            (
                "tool.execution_start",
                {"toolCallId": "c1", "toolName": "shell", "arguments": {"command": "ls"}},
            ),
            ("tool.execution_complete", {"toolCallId": "c1", "success": False, "result": {"content": "no"}}),
        )
    )
    assert session.session == "copilot-cli:c-1"
    assert [(turn.role, turn.text) for turn in session.turns] == [
        ("user", "List."),
        ("assistant", "I look."),
        ("assistant", '[calls shell({"command": "ls"})]'),
        ("tool", "no"),
    ]
    prompt, reply, _, result = (turn.metadata for turn in session.turns)
    assert (prompt["branch"], prompt["agent_version"]) == ("main", "1.0.34")
    assert "repository" in prompt
    assert reply["model"] == "gpt-6"
    assert (result["tool"], result["failed"]) == ("shell", True)


def test_a_prompt_without_content_is_the_programs() -> None:
    conversation = read_events(
        START,
        (
            "user.message",
            {"content": "", "transformedContent": "Go on: the task is not complete."},
        ),
        ("user.message", {"content": "Look around.", "parentAgentTaskId": "t1"}),
        ("system.message", {"content": "You are Copilot."}),
        ("user.message", {"content": "Go."}),
    )
    assert of_person(conversation) == ["Go."]
    assert conversation.left_out == {"prompt of the program": 1, "message of the program": 1}


def test_a_sub_agent_and_reasoning_are_told_apart() -> None:
    conversation = read_events(
        START,
        ("assistant.reasoning", {"content": "hm"}),
        ("assistant.message", {"content": "Found.", "parentToolCallId": "c9", "reasoningText": "well"}),
    )
    (turn,) = turns_of(conversation)
    assert (turn.speaker, turn.metadata["author"]) == ("sub-agent", "sub-agent")
    assert conversation.left_out == {"hidden reasoning": 2}
    assert "well" not in repr(conversation)


def test_what_is_not_known_is_noted_and_the_folder_names_a_session_without_a_start() -> None:
    conversation = read_events(
        ("session.idle", {}),
        ("tool.hologram", {}),
        ("user.message", {"content": "Go."}),
        name="s-9/events.jsonl",
    )
    assert only(conversation).session == "copilot-cli:s-9"
    assert any("tool.hologram (1)" in note for note in conversation.notes)
