"""Damaged transcripts of coding agents: they are read as far as they go, or refused; nothing else is raised.

Files are damaged as bytes and as JSON that is well-formed and wrong.
"""

import io
import json
import random
from collections.abc import Callable

import pytest

from tests.dialogue import test_copilot_cli, test_cursor, test_gemini_cli
from tests.dialogue.mutations import mutated
from tests.dialogue.test_opencode import OLD, tool
from tests.dialogue.transcripts import ClaudeCode, Codex
from tiermem.dialogue import read_dialogue
from tiermem.dialogue.formats.opencode import OLDER_TABLES, TABLES
from tiermem.errors import NotDialogue


def claude_code() -> bytes:
    log = ClaudeCode()
    log.user(
        [{"type": "text", "text": "<ide_selection>x</ide_selection>"}, {"type": "text", "text": "Weave."}]
    )
    log.reply({"type": "thinking", "thinking": "hm", "signature": "x"}, "I will.")
    log.call("AskUserQuestion", "q")
    log.result("…", "q", toolUseResult={"answers": {"Which?": ["red", "blue"]}, "annotations": {}})
    log.call("Edit", "e", file_path="/nowhere/a.py")
    log.result("The user doesn't want to proceed with this tool use. the user said:\nno", "e", is_error=True)
    log.queue("enqueue", "blue")
    log.queue("remove")
    log.record(
        "attachment", attachment={"type": "queued_command", "prompt": "red", "origin": {"kind": "human"}}
    )
    log.user("<command-name>/compact</command-name>")
    log.user("Summary.", isCompactSummary=True)
    log.record("ai-title", aiTitle="Looms")
    return log.text().encode()


def codex() -> bytes:
    log = Codex(git={"branch": "main"}, base_instructions={"provenance": {"model": "m"}})
    log.record("turn_context", {"model": "m", "cwd": "/nowhere"})
    log.event("task_started", turn_id="t1")
    log.message("user", "Context", "Weave.", kinds=["x.y", "user.text"])
    log.item("UserMessage", content=[{"type": "text", "text": "Weave."}])
    log.item("HookPrompt", fragments=[{"text": "Test."}])
    log.call("shell", '{"command": ["ls"]}')
    log.event("exec_command_end", call_id="c1", exit_code=1)
    log.result('{"output": "a", "metadata": {"exit_code": 1}}')
    log.record("response_item", {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]})
    log.message("assistant", "Woven.")
    log.record("compacted", {"message": "Summary."})
    log.event("task_complete", turn_id="t1", last_agent_message="Woven.")
    return log.text().encode()


def gemini_cli(*, as_lines: bool) -> bytes:
    messages = [test_gemini_cli.message("m", "user", [{"text": "List."}]), test_gemini_cli.REPLY]
    if not as_lines:
        return json.dumps({**test_gemini_cli.HEADER, "messages": messages}).encode()
    lines = [test_gemini_cli.HEADER, *messages, {"$rewindTo": "m"}, *messages]
    return "".join(f"{json.dumps(line)}\n" for line in lines).encode()


def copilot_cli() -> bytes:
    events = [
        test_copilot_cli.START,
        ("user.message", {"content": "List.", "transformedContent": "x"}),
        ("assistant.message", {"content": "I look.", "reasoningText": "hm"}),
        ("tool.execution_start", {"toolCallId": "c", "toolName": "shell", "arguments": {"path": "a"}}),
        ("tool.execution_complete", {"toolCallId": "c", "success": False, "result": {"content": "no"}}),
    ]
    lines = [{"type": kind, "data": data, "id": kind, "parentId": None} for kind, data in events]
    return "".join(f"{json.dumps(line)}\n" for line in lines).encode()


def cursor() -> bytes:
    call = {"type": "tool_use", "id": "c", "name": "Read", "input": {"path": "a.py"}}
    lines = [
        test_cursor.line("user", test_cursor.query("Go.")),
        test_cursor.line("assistant", "I look.", call),
    ]
    return "".join(lines).encode()


def opencode() -> bytes:
    """The tables of a database, as they are after it was opened."""
    assert all(f"CREATE TABLE {table} " in OLD for table in OLDER_TABLES)
    prompt = {"time": {"created": 1}, "text": "Weave."}
    reply = {
        "time": {"created": 1, "completed": 2},
        "content": [tool(content=[]), {"type": "text", "text": "x"}],
    }
    part = {"type": "text", "text": "Dye."}
    rows = [
        {"id": "m1", "session_id": "s1", "type": "user", "seq": 1, "data": json.dumps(prompt)},
        {"id": "m2", "session_id": "s1", "type": "assistant", "seq": 2, "data": json.dumps(reply)},
    ]
    older = {
        "id": "m3",
        "session_id": "s0",
        "time_created": 1,
        "data": '{"role": "user", "time": {"created": 1}}',
    }
    tables = {
        TABLES[0]: [{"id": "s1", "parent_id": None, "title": "Looms", "version": "2.0.26"}],
        TABLES[1]: rows,
        OLDER_TABLES[0]: [{"id": "s0", "version": "1.15.10"}],
        OLDER_TABLES[1]: [older],
        OLDER_TABLES[2]: [{"id": "p1", "message_id": "m3", "time_created": 1, "data": json.dumps(part)}],
    }
    return json.dumps(tables).encode()


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("claude-code.jsonl", claude_code),
        ("codex.jsonl", codex),
        ("gemini-cli.json", lambda: gemini_cli(as_lines=False)),
        ("gemini-cli.jsonl", lambda: gemini_cli(as_lines=True)),
        ("copilot-cli.jsonl", copilot_cli),
        ("cursor.jsonl", cursor),
        ("opencode.json", opencode),
    ],
)
def test_damage_is_never_another_error(name: str, write: Callable[[], bytes]) -> None:
    chance, data = random.Random(name), write()
    whole = io.BytesIO(data)
    whole.name = name
    (conversation,) = read_dialogue(whole)
    assert conversation.sessions[0].session.startswith(f"{name.partition('.')[0]}:")
    read = 0
    for _ in range(250):
        given, damaged = mutated(chance, name, data)
        stream = io.BytesIO(damaged)
        stream.name = given
        try:
            read += len(read_dialogue(stream, on_skipped=lambda _: None))
        except NotDialogue:
            continue
    assert read > 100
