"""Transcripts of Cursor, as written lines: no ids, no model, times in a tag of the prompt."""

import json
from pathlib import Path
from typing import Any

import pytest

import tiermem
from tests.dialogue.transcripts import kinds, of_person, only, read_text, turns_of
from tiermem.dialogue import Conversation


def line(role: str, *parts: Any) -> str:
    blocks = [{"type": "text", "text": part} if isinstance(part, str) else part for part in parts]
    return json.dumps({"role": role, "message": {"content": blocks}}) + "\n"


def read_lines(*lines: str, name: str = "c-1.jsonl") -> Conversation:
    return read_text("".join(lines), name)


def query(words: str, moment: str = "Friday, Sep 4, 2026, 2:21 AM (UTC+8)") -> str:
    return f"<timestamp>{moment}</timestamp>\n<user_query>\n{words}\n</user_query>"


def test_a_session_is_read() -> None:
    call = {"type": "tool_use", "name": "Read", "input": {"path": "a.py"}}
    session = only(
        read_lines(
            line("user", query("Explain a.py\n\nand b.py")),
            line("assistant", "I look.", call),
            json.dumps({"type": "turn_ended", "status": "success"}) + "\n",
        )
    )
    assert session.session == "cursor:c-1"
    assert [(turn.role, turn.text, turn.turn_id) for turn in session.turns] == [
        ("user", "Explain a.py\n\nand b.py", "line-1/0"),
        ("assistant", "I look.", "line-2/0"),
        ("assistant", '[calls Read({"path": "a.py"})]', "line-2/1"),
    ]
    assert session.turns[0].said_at is not None
    assert session.turns[0].said_at.isoformat() == "2026-09-04T02:21:00+08:00"
    assert session.turns[1].said_at is None
    assert session.turns[2].metadata["path"] == "a.py"


@pytest.mark.parametrize(
    ("written", "moment"),
    [
        ("Wednesday, Jun 3, 2026, 7:30 PM (UTC-7)", "2026-06-03T19:30:00-07:00"),
        ("Sunday, Sep 27, 2026, 9:00 AM (UTC+5:30)", "2026-09-27T09:00:00+05:30"),
        ("Wed, May 6, 2026, 12:00 AM (UTC)", "2026-05-06T00:00:00+00:00"),
        ("Wed, May 6, 2026, 10:00 AM", "2026-05-06T10:00:00"),
        ("now", None),
    ],
)
def test_the_time_of_a_prompt_is_that_of_its_tag(written: str, moment: str | None) -> None:
    (turn,) = turns_of(read_lines(line("user", query("Go.", written))))
    assert (turn.said_at and turn.said_at.isoformat()) == moment


def test_context_of_the_program_is_not_the_persons() -> None:
    conversation = read_lines(
        line("user", "<dynamic_tools><tool>x</tool></dynamic_tools>"),
        line("user", "<system_reminder>Mind the rules.</system_reminder>", query("Go.")),
        line("user", f"<attached_files>a.py</attached_files>\n{query('Now.')}\n[Image]"),
        line("user", "Is <b>bold</b> text?"),
    )
    assert of_person(conversation) == ["Go.", "Now.", "Is <b>bold</b> text?"]
    assert conversation.left_out == {"context of the editor or the program": 2}


def test_hidden_reasoning_is_counted() -> None:
    conversation = read_lines(
        line("user", "Go."),
        line("assistant", {"type": "thinking", "thinking": "hm"}, "[REDACTED]", "Done.\n\n[REDACTED]"),
    )
    assert [turn.text for turn in turns_of(conversation)] == ["Go.", "Done."]
    assert conversation.left_out == {"hidden reasoning": 3}


def test_results_of_tools_are_the_programs() -> None:
    result = {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "a.py"}]}
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}
    turns = turns_of(read_lines(line("assistant", call), line("user", result)))
    assert kinds(turns) == ["tool_call", "tool_result"]
    assert (turns[1].role, turns[1].text, turns[1].metadata["tool"]) == ("tool", "a.py", "Bash")


def test_the_prompts_of_a_sub_agent_are_the_main_agents() -> None:
    session = only(
        read_lines(line("user", query("List.")), line("assistant", "Two."), name="p-1/subagents/s-1.jsonl")
    )
    assert [(turn.speaker, turn.role) for turn in session.turns] == [
        ("assistant", "assistant"),
        ("sub-agent", "assistant"),
    ]
    assert session.turns[0].metadata["parent_session"] == "cursor:p-1"


def test_a_transcript_that_was_rewritten_loses_no_words(tmp_path: Path) -> None:
    first = read_lines(line("user", query("Weave.")), line("assistant", "Woven."))
    later = read_lines(
        line("user", query("Weave.")), line("assistant", "Not woven."), line("user", query("Why?"))
    )
    with tiermem.open(tmp_path / "memory") as memory:
        counts = [
            (added.new, added.known) for one in (first, later, later) for _, added in memory.ingest(one)
        ]
        assert counts == [(2, 0), (2, 1), (0, 3)]
        found = {one.text for one in memory.search("woven", kind="turns")}
        assert {"assistant: Woven.", "assistant: Not woven."} <= found


def test_lines_of_turns_with_other_keys_stay_turns() -> None:
    turn = {"role": "user", "message": "Hello.", "timestamp": "2026-01-01T10:00:00"}
    assert only(read_lines(json.dumps(turn) + "\n")).session == "c-1"
    assert only(read_lines(json.dumps({"role": "user", "text": "Hello."}) + "\n")).session == "c-1"
