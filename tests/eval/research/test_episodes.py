"""MemTier's episodes: written agent by agent and day by day, and read back."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner

import tiermem
from eval.research.cli import app
from eval.research.memtier.episodes import read_episodes, write_episodes
from pagestore import Turn
from tests.api.test_file_modes import OWNER_ALONE, modes_below
from tiermem.embedding.hashed import HashEmbedder
from tiermem.errors import InvalidInput

TOLD = "The vault of the blue house opens with zebracanary."
SAID_AT = datetime(2023, 5, 8, 13, 56, tzinfo=UTC)


def opened(where: Path | str) -> tiermem.Memory:
    return tiermem.open(where, engine="local", embedder=HashEmbedder(), distil="inline")


def add_dialogue(memory: tiermem.Memory) -> None:
    memory.as_agent("planner").add([
        Turn(speaker="setup", text="Be brief.", role="system", said_at=SAID_AT, turn_id="a"),
        Turn(speaker="Zora", text=TOLD + "\nTwice [so].", said_at=SAID_AT, turn_id="b"),
        Turn(speaker="Zora", text="Tomorrow.", said_at=SAID_AT + timedelta(days=1), turn_id="c"),
    ])  # fmt: skip
    memory.add("The blue house stands at the lake.", speaker="Ann", said_at=SAID_AT)
    memory.as_agent("bo/ss").add("The green boat lies in the harbour.", speaker="Ben", said_at=SAID_AT)
    memory.flush()


def written(where: Path) -> list[Path]:
    return sorted(file for file in where.rglob("*") if file.is_file())


def test_episodes_are_read_back_agent_by_agent(tmp_path: Path) -> None:
    with opened(":memory:") as memory:
        add_dialogue(memory)
        assert write_episodes(memory, tmp_path / "all") == 5
        assert write_episodes(memory.as_agent("planner"), tmp_path / "own") == 4
        with pytest.raises(InvalidInput, match="folder of their own"):
            write_episodes(memory, tmp_path / "all")
    assert modes_below(tmp_path / "all") == OWNER_ALONE
    files = {str(file.relative_to(tmp_path / "own")) for file in written(tmp_path / "own")}
    days = {"planner/2023-05-08.jsonl", "planner/2023-05-09.jsonl"}
    assert files == {*days, "(none)/2023-05-08.jsonl"}
    lines = [
        json.loads(line) for day in sorted(days) for line in (tmp_path / "own" / day).read_text().splitlines()
    ]
    assert lines[0].keys() == {
        "id", "timestamp", "session_id", "project", "content", "tokens", "promoted", "cognitive_weight",
    }  # fmt: skip
    assert lines[0]["content"] == "[system] Be brief."
    assert (lines[1]["promoted"], lines[1]["project"]) == (True, "default")
    with opened(":memory:") as memory:
        planner = memory.as_agent("planner")
        for day in sorted(days):
            for session in read_episodes((tmp_path / "all" / day).read_text()):
                planner.add(session.turns, session=session.session)
        (page,) = planner.open_pages()
    turns = [line.turn for line in page.lines if line.turn is not None]
    assert [(turn.turn_id, turn.text, turn.role) for turn in turns] == [
        ("a", "Be brief.", "system"), ("b", TOLD + "\nTwice [so].", None), ("c", "Tomorrow.", None),
    ]  # fmt: skip
    assert [turn.speaker for turn in turns] == ["system", "Zora", "Zora"]
    assert turns[1].said_at == SAID_AT


def test_the_command_writes_what_an_agent_may_see(tmp_path: Path) -> None:
    with opened(tmp_path / "store") as memory:
        add_dialogue(memory)
    asked = ["episodes", str(tmp_path / "store"), str(tmp_path / "own"), "--agent", "planner"]
    ran = CliRunner().invoke(app, asked, env={"TIERMEM_EMBEDDER": "hashed"})
    assert (ran.exit_code, ran.output) == (0, "4 episodes\n")
    assert len(written(tmp_path / "own")) == 3
