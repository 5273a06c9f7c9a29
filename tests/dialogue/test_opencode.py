"""Databases of OpenCode, made here in the shapes of versions 2 and 1; a dump of a real one is a sample."""

import io
import json
import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import tiermem
from tests.dialogue.transcripts import only, turns_of
from tiermem.dialogue import Conversation, read_dialogue
from tiermem.errors import NotDialogue

NEW = """
CREATE TABLE session_v2 (id text PRIMARY KEY, parent_id text, directory text, title text, version text,
  agent text);
CREATE TABLE session_message (id text PRIMARY KEY, session_id text, type text, seq integer,
  time_created integer, time_updated integer, data text);
"""
OLD = """
CREATE TABLE session (id text PRIMARY KEY, parent_id text, directory text, title text, version text);
CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, data text);
CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, time_created integer, data text);
"""
START = 1_791_500_490_000

Row = tuple[str, str, Mapping[str, Any]]
"""The session, the type and the data of a message of version 2."""


def add_new(
    database: sqlite3.Connection, rows: Iterable[Row], parents: Mapping[str, str] | None = None
) -> None:
    database.executescript(NEW)
    for number, (session, kind, data) in enumerate(rows):
        database.execute(
            "INSERT OR IGNORE INTO session_v2 VALUES (?, ?, '/nowhere/loom', 'Looms', '2.0.26', NULL)",
            (session, (parents or {}).get(session)),
        )
        moment = START + 1000 * number
        given = {"time": {"created": moment, "completed": moment + 500}, **data}
        database.execute(
            "INSERT INTO session_message VALUES (?, ?, ?, ?, ?, ?, ?)",
            (f"m{number}", session, kind, number, moment, moment, json.dumps(given)),
        )


def read_new(*rows: Row, parents: Mapping[str, str] | None = None) -> Conversation:
    with closing(sqlite3.connect(":memory:")) as database:
        add_new(database, rows, parents)
        database.commit()
        return read_bytes(database.serialize())


def read_bytes(data: bytes) -> Conversation:
    stream = io.BytesIO(data)
    stream.name = "opencode.db"
    (conversation,) = read_dialogue(stream)
    return conversation


def tool(status: str = "completed", **state: Any) -> dict[str, Any]:
    times = {"created": START + 100, "completed": START + 900}
    return {
        "type": "tool",
        "id": "c1",
        "name": "shell",
        "state": {"status": status, "input": {"command": "ls"}, **state},
        "time": times,
    }


def test_a_session_of_version_2_is_read() -> None:
    result = tool(content=[{"type": "text", "text": "a.py"}], metadata={"exit": 2})
    reasoning = {"type": "reasoning", "text": "hm"}
    model = {"id": "m1", "providerID": "x"}
    conversation = read_new(
        ("s1", "user", {"text": "List."}),
        (
            "s1",
            "assistant",
            {"model": model, "content": [reasoning, result, {"type": "text", "text": "One."}]},
        ),
        ("s1", "synthetic", {"text": "<system-reminder>Plan.</system-reminder>"}),
        ("s1", "system", {"text": "Tools were renamed."}),
        ("s1", "idle", {}),
        ("s1", "compaction", {"summary": "Ann lists."}),
        ("s1", "hologram", {}),
    )
    session = only(conversation)
    assert (session.session, session.title) == ("opencode:s1", "Looms")
    assert [(turn.role, turn.text, turn.turn_id) for turn in session.turns] == [
        ("user", "List.", "m0/0"),
        ("assistant", '[calls shell({"command": "ls"})]', "m1/2"),
        ("tool", "a.py", "m1/3"),
        ("assistant", "One.", "m1/4"),
        ("assistant", "Ann lists.", "m5/0"),
    ]
    result_turn = session.turns[2]
    assert (result_turn.metadata["exit_code"], result_turn.metadata["failed"]) == (2, True)
    assert result_turn.said_at is not None
    assert result_turn.said_at.timestamp() * 1000 == START + 900
    assert session.turns[3].metadata["model"] == "m1"
    assert session.turns[0].metadata["directory"] == "/nowhere/loom"
    assert conversation.left_out == {"hidden reasoning": 1, "text of the program to the agent": 2}
    assert any("hologram (1)" in note for note in conversation.notes)


def test_the_prompt_of_a_session_with_a_parent_is_the_main_agents() -> None:
    conversation = read_new(
        ("s2", "user", {"text": "You are a subagent."}),
        ("s2", "assistant", {"content": [{"type": "text", "text": "Hi."}]}),
        parents={"s2": "s1"},
    )
    turns = turns_of(conversation)
    assert [turn.speaker for turn in turns] == ["assistant", "sub-agent"]
    assert [turn.role for turn in turns] == ["assistant", "assistant"]
    assert turns[0].metadata["parent_session"] == "opencode:s1"


def test_a_tool_that_failed_says_why() -> None:
    failed = tool("error", error={"type": "tool.execution", "message": "File not found"})
    _, result = turns_of(read_new(("s1", "assistant", {"content": [failed]})))
    assert (result.text, result.metadata["failed"]) == ("File not found", True)
    assert "exit_code" not in result.metadata


def test_what_is_still_being_written_is_read_when_it_is_complete(tmp_path: Path) -> None:
    half = {"time": {"created": START + 1000}, "content": [{"type": "text", "text": "Wov"}, tool("running")]}
    whole = {"content": [{"type": "text", "text": "Woven."}, tool(content=[])]}
    first = read_new(("s1", "user", {"text": "Weave."}), ("s1", "assistant", half))
    later = read_new(("s1", "user", {"text": "Weave."}), ("s1", "assistant", whole))
    assert first.left_out == {"reply that is still being written": 1, "call that is still running": 1}
    with tiermem.open(tmp_path / "memory") as memory:
        assert [memory.ingest(one)[0][1].new for one in (first, later, later)] == [1, 3, 0]


def add_old(database: sqlite3.Connection, session: str, said: str) -> None:
    database.executescript(OLD)
    database.execute("INSERT INTO session VALUES (?, NULL, '/nowhere/loom', 'Old', '1.15.10')", (session,))
    call = {**tool(output="ok", metadata={"exit": 0}), "callID": "c9", "tool": "bash", "name": None}
    messages: dict[str, dict[str, str]] = {"a": {"role": "user"}, "b": {"role": "assistant", "modelID": "m0"}}
    parts = [
        ("p1", "a", {"type": "text", "text": said}),
        ("p2", "a", {"type": "text", "text": "Called the Read tool", "synthetic": True}),
        ("p3", "b", call),
        ("p4", "b", {"type": "text", "text": "Done."}),
        ("p5", "b", {"type": "step-finish"}),
    ]
    for number, (name, data) in enumerate(messages.items()):
        times = {"created": START, "completed": START}
        row = (f"{session}{name}", session, number, json.dumps({"time": times, **data}))
        database.execute("INSERT INTO message VALUES (?, ?, ?, ?)", row)
    for number, (name, of, part) in enumerate(parts):
        row_of_part = (f"{session}{name}", f"{session}{of}", session, number, json.dumps(part))
        database.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?)", row_of_part)


def test_a_session_of_version_1_is_read() -> None:
    with closing(sqlite3.connect(":memory:")) as database:
        add_old(database, "s0", "Dye.")
        database.commit()
        session = only(read_bytes(database.serialize()))
    assert [(turn.role, turn.text) for turn in session.turns] == [
        ("user", "Dye."),
        ("assistant", '[calls bash({"command": "ls"})]'),
        ("tool", "ok"),
        ("assistant", "Done."),
    ]
    assert session.turns[2].metadata["call_id"] == "c9"
    assert session.turns[2].metadata["exit_code"] == 0


def test_sessions_that_were_moved_are_read_once_and_others_of_version_1_too() -> None:
    with closing(sqlite3.connect(":memory:")) as database:
        add_old(database, "s1", "Frozen copy.")
        database.execute("INSERT INTO session VALUES ('s0', NULL, '/nowhere', 'Left', '1.15.10')")
        row = ("s0a", "s0", 9, json.dumps({"role": "user", "time": {"created": START}}))
        database.execute("INSERT INTO message VALUES (?, ?, ?, ?)", row)
        part = ("s0p", "s0a", "s0", 9, json.dumps({"type": "text", "text": "Not moved."}))
        database.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?)", part)
        add_new(database, [("s1", "user", {"text": "Moved."}), ("s1", "user", {"text": "And new."})])
        database.commit()
        conversation = read_bytes(database.serialize())
    assert [turn.text for turn in turns_of(conversation)] == ["Moved.", "And new.", "Not moved."]


def test_what_is_only_in_the_log_beside_the_database_is_read(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA journal_mode = WAL")
        add_new(database, [("s1", "user", {"text": "In the log."})])
        database.commit()
        assert Path(f"{path}-wal").stat().st_size
        before = path.read_bytes()
        (conversation,) = read_dialogue(path)
        assert path.read_bytes() == before
    assert [turn.text for turn in turns_of(conversation)] == ["In the log."]


def test_a_row_that_is_damaged_is_skipped() -> None:
    skipped: list[str] = []
    with closing(sqlite3.connect(":memory:")) as database:
        add_new(database, [("s1", "user", {"text": "Weave."})])
        database.execute("INSERT INTO session_message VALUES ('x', 's1', 'user', 7, 7, 7, 'not json')")
        database.execute("INSERT INTO session_message VALUES ('y', 's1', 'user', 8, 8, 8, NULL)")
        database.commit()
        stream = io.BytesIO(database.serialize())
        (conversation,) = read_dialogue(stream, on_skipped=skipped.append)
    assert [turn.text for turn in turns_of(conversation)] == ["Weave."]
    assert len(skipped) == 2


def test_another_database_is_refused() -> None:
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("CREATE TABLE notes (id text)")
        with pytest.raises(NotDialogue, match="Mem0's and OpenCode's are read"):
            read_bytes(database.serialize())
