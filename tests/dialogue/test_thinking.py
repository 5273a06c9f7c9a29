"""What a model thought before it spoke, which is not among its words, and parts of speech."""

import io
import json
from pathlib import Path
from typing import Any

import pytest

import tiermem
from tests.apps.test_commands import as_json
from tiermem.dialogue import as_turns, read_dialogue

THINKING: list[list[dict[str, Any]]] = [
    [{"type": "thinking", "thinking": "They sound tired.", "signature": "c2ln"}],
    [{"type": "redacted_thinking", "data": "ZW5j"}, {"type": "thinking", "thinking": "They sound tired."}],
    [{"type": "reasoning", "summary": [{"type": "summary_text", "text": "They sound tired."}]}],
    [{"type": "reasoning", "content": [{"type": "reasoning_text", "text": "They sound tired."}]}],
    [{"text": "They sound tired.", "thought": True}],
    [{"type": "reasoning", "reasoning": "They sound tired.", "encrypted_content": "ZW5j"}],
]


@pytest.mark.parametrize("parts", THINKING)
def test_thinking_is_not_stored_as_words(parts: list[dict[str, Any]]) -> None:
    content = [*parts, {"type": "text", "text": "Take the early ferry."}]
    (turn,) = as_turns({"role": "assistant", "content": content})
    assert (turn.text, dict(turn.metadata)) == ("Take the early ferry.", {})


@pytest.mark.parametrize("parts", THINKING)
def test_thinking_is_kept_as_metadata_where_that_is_wanted(parts: list[dict[str, Any]]) -> None:
    content = [*parts, {"type": "text", "text": "Take the early ferry."}]
    line = json.dumps({"role": "assistant", "content": content}).encode()
    for keep, metadata in ((False, {}), (True, {"thinking": "They sound tired."})):
        (one,) = read_dialogue(io.BytesIO(line), keep_thinking=keep)
        (turn,) = one.sessions[0].turns
        assert (turn.text, dict(turn.metadata)) == ("Take the early ferry.", metadata)


def claude(parts: list[dict[str, Any]]) -> str:
    message = {"uuid": "m1", "sender": "assistant", "text": "x", "content": parts}
    return json.dumps([{"uuid": "k1", "name": "Ferry", "chat_messages": [message]}])


def chatgpt() -> str:
    thoughts = {"content_type": "thoughts", "thoughts": [{"summary": "Mood", "content": "They sound tired."}]}
    contents = [thoughts, {"content_type": "text", "parts": ["Take the early ferry."]}]
    mapping = {
        f"n{n}": {
            "parent": f"n{n - 1}" if n else None,
            "message": {"id": f"n{n}", "author": {"role": "assistant"}, "content": content},
        }
        for n, content in enumerate(contents)
    }
    return json.dumps([{"title": "Ferry", "id": "k2", "mapping": mapping, "current_node": "n1"}])


@pytest.mark.parametrize(
    "text", [claude([*THINKING[0], {"type": "text", "text": "Take the early ferry."}]), chatgpt()]
)
def test_exports_of_chats(tmp_path: Path, text: str) -> None:
    file = tmp_path / "conversations.json"
    file.write_text(text)
    for store, options, found in (("a", [], 0), ("b", ["--keep-thinking"], 1)):
        (space,) = as_json(tmp_path / store, "ingest", str(file), *options)["spaces"]
        assert space["new"] == 1
        with tiermem.open(tmp_path / store) as memory:
            turns = [line.turn for info in memory.pages() for line in memory.page(info.id).lines]
            assert [turn.text for turn in turns if turn] == ["Take the early ferry."]
            assert sum("tired" in str(turn.metadata) for turn in turns if turn) == found


ITEMS: list[tuple[dict[str, Any], tuple[str, str]]] = [
    ({"role": "assistant", "content": None}, ("assistant", "")),
    (
        {
            "role": "assistant",
            "content": None,
            "audio": {"id": "a1", "data": "QUFB", "transcript": "The tide is low."},
        },
        ("assistant", "The tide is low."),
    ),
    (
        {"role": "user", "content": [{"type": "input_audio", "transcript": "The tide is low."}]},
        ("user", "The tide is low."),
    ),
    (
        {
            "role": "user",
            "content": [{"type": "input_audio", "input_audio": {"data": "QUFB", "transcript": "Low."}}],
        },
        ("user", "Low."),
    ),
    (
        {
            "type": "message",
            "id": "msg_7",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": "The tide is low.", "annotations": []}],
        },
        ("assistant", "The tide is low."),
    ),
    (
        {
            "type": "function_call",
            "id": "fc_7",
            "call_id": "c7",
            "name": "tide",
            "arguments": '{"at": "Faro"}',
        },
        ("assistant", '[calls tide({"at": "Faro"})]'),
    ),
    (
        {"type": "function_call_output", "call_id": "c7", "output": "low until six"},
        ("tool", "[result: low until six]"),
    ),
    (
        {"type": "custom_tool_call", "call_id": "c8", "name": "sql", "input": "select tide"},
        ("assistant", "[calls sql(select tide)]"),
    ),
    ({"type": "custom_tool_call_output", "call_id": "c8", "output": "low"}, ("tool", "[result: low]")),
    (
        {
            "type": "mcp_call",
            "id": "mcp_1",
            "name": "tide",
            "arguments": "{}",
            "server_label": "sea",
            "output": "low",
        },
        ("assistant", "[calls tide({})]\n[result: low]"),
    ),
    (
        {"type": "web_search_call", "id": "ws_1", "action": {"query": "tide Faro"}},
        ("assistant", '[web_search_call: {"action": {"query": "tide Faro"}}]'),
    ),
    ({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "ZW5j"}, ("assistant", "")),
    ({"type": "item_reference", "id": "msg_7"}, ("assistant", "")),
]


@pytest.mark.parametrize(("message", "words"), ITEMS)
def test_messages_and_items_of_openai_are_the_words_they_carry(
    message: dict[str, Any], words: tuple[str, str]
) -> None:
    (turn,) = as_turns(message)
    assert (turn.role, turn.text) == words


def test_those_without_words_are_counted_and_not_stored(tmp_path: Path) -> None:
    with tiermem.open(tmp_path / "memory") as memory:
        added = memory.add([message for message, _ in ITEMS])
        assert (added.turns, added.empty, added.new) == (13, 3, 10)


class Message:
    """A message as an object of a package, which leaves out what is `None`."""

    role = "assistant"
    content = None

    def model_dump(self, *, exclude_none: bool = False) -> dict[str, Any]:
        return {"role": "assistant"} if exclude_none else {"role": "assistant", "content": None}


def test_an_object_whose_content_is_none_has_no_words() -> None:
    (turn,) = as_turns(Message())
    assert (turn.role, turn.text) == ("assistant", "")
