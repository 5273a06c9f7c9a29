"""A transcript of each coding agent that has a hostile text wherever a record has words or a path."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from tests.dialogue.transcripts import ClaudeCode, Codex

_LINES = 2_000


def _parts(text: str) -> list[str]:
    """The text, and its first lines: each is in records of its own, so that many lines are many records."""
    return [text, *text.split("\n")[:_LINES]]


def _claude_code(text: str) -> str:
    first = text.partition("\n")[0]  # each record has it
    log = ClaudeCode(cwd=f"/{first}", version=first)
    for number, part in enumerate(_parts(text)):
        log.user(part)
        log.user(f"<command-name>/{part}</command-name>")
        log.user(f"<bash-input>{part}</bash-input>")
        log.user(f"<bash-stdout>{part}</bash-stdout>")
        log.user([{"type": "text", "text": f"<system-reminder>{part}</system-reminder>{part}"}])
        log.reply({"type": "thinking", "thinking": part}, part)
        log.call("Edit", f"e{number}", file_path=f"/{part}")
        log.result(part, f"e{number}", is_error=True)
        log.result(
            f"The user doesn't want to proceed with this tool use. The user said:\n{part}", is_error=True
        )
        log.call("AskUserQuestion", f"q{number}")
        log.result(f'User has answered your questions: "Which?"="{part}". ', f"q{number}")
        log.queue("enqueue", part)
        log.queue("remove", part)
        log.user("Again.", parentUuid="u1")
    return log.text()


def _codex(text: str) -> str:
    first = text.partition("\n")[0]
    log = Codex(cwd=f"/{first}", cli_version=first)
    for part in _parts(text):
        log.message("user", part)
        log.event("user_message", message=f"# Context\n## My request for Codex:\n{part}")
        log.message("user", f"<user_shell_command><command>{part}</command></user_shell_command>")
        log.record(
            "response_item", {"type": "reasoning", "summary": [{"type": "summary_text", "text": part}]}
        )
        log.message("assistant", part)
        log.event("agent_message", message=f"{part}.")
        log.call("apply_patch", f"*** Update File: {part}")
        log.result(f"Exit code: 1\n{part}\nOutput:\n{part}")
        log.result(json.dumps({"output": part, "metadata": {"exit_code": 1}}))
    return log.text()


def _copilot_cli(text: str) -> str:
    first = text.partition("\n")[0]
    events: list[tuple[str, Mapping[str, Any]]] = [
        ("session.start", {"copilotVersion": first, "context": {"cwd": f"/{first}"}})
    ]
    for part in _parts(text):
        events += [
            ("user.message", {"content": part}),
            ("assistant.message", {"content": part, "reasoningText": part}),
            ("tool.execution_start", {"toolCallId": part, "toolName": "edit", "arguments": {"path": part}}),
            ("tool.execution_complete", {"toolCallId": part, "success": True, "result": {"content": part}}),
        ]
    return _lines([{"type": kind, "data": data, "id": "e", "parentId": None} for kind, data in events])


def _gemini_cli(text: str) -> str:
    records: list[Mapping[str, Any]] = [{"sessionId": "s", "projectHash": text}]
    for number, part in enumerate(_parts(text)):
        call = {
            "id": part,
            "name": "run_shell_command",
            "args": {"file_path": part},
            "result": f"{part}\nExit Code: 1",
        }
        reply = {"content": part, "thoughts": [{"description": part}], "toolCalls": [call]}
        records += [
            {"id": f"u{number}", "type": "user", "content": part},
            {"id": f"r{number}", "type": "gemini", **reply},
            {"id": f"x{number}", "type": "user", "content": part},
            {"$rewindTo": f"r{number}"},
        ]
    return _lines(records)


def _cursor(text: str) -> str:
    records: list[Mapping[str, Any]] = []
    for part in _parts(text):
        call = {"type": "tool_use", "id": part, "name": "edit", "input": {"path": part}}
        records += [
            _cursor_record("user", f"<timestamp>{part}</timestamp>\n<user_query>\n{part}\n</user_query>"),
            _cursor_record("user", f"<open_files>{part}</open_files>"),
            _cursor_record("user", part),
            _cursor_record("assistant", f"{part}[REDACTED]", call),
        ]
    return _lines(records)


def _cursor_record(role: str, text: str, *others: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"role": role, "message": {"content": [{"type": "text", "text": text}, *others]}}


def _opencode(text: str) -> str:
    first = text.partition("\n")[0]
    session = {"id": "s", "title": text, "version": first, "directory": f"/{first}"}
    messages: list[Mapping[str, Any]] = []
    for number, part in enumerate(_parts(text)):
        state = {"status": "error", "input": {"path": part}, "output": part, "error": part}
        parts = [{"type": "text", "text": part}, {"type": "tool", "name": "edit", "id": part, "state": state}]
        data = {"text": part, "content": parts, "time": {"created": number, "completed": number}}
        messages += [
            {
                "id": f"{kind}{number}",
                "session_id": "s",
                "type": kind,
                "seq": number,
                "data": json.dumps(data),
            }
            for kind in ("user", "assistant", "compaction")
        ]
    return json.dumps({"session_v2": [session], "session_message": messages})


def _lines(records: list[Mapping[str, Any]]) -> str:
    return "".join(f"{json.dumps(record)}\n" for record in records)


TRANSCRIPTS: Mapping[str, Callable[[str], str]] = {
    "claude-code": _claude_code,
    "codex": _codex,
    "copilot-cli": _copilot_cli,
    "gemini-cli": _gemini_cli,
    "cursor": _cursor,
    "opencode": _opencode,
}
"""What makes the transcript of an agent from a text, by the name of its format."""
