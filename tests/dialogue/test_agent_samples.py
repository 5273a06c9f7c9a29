"""Published samples of coding agents: every turn of the person is found, and none is invented."""

from pathlib import Path

import pytest

from eval.transcripts import compare_readings

READ = ("claude-code", "codex", "gemini-cli", "copilot-cli", "cursor", "opencode")
"""Agents whose transcripts are read."""
NOT_READ = ("opencode/json-tree",)
"""A folder of files that versions of OpenCode before 1.x wrote."""


@pytest.mark.parametrize("agent", READ)
def test_every_turn_of_the_person_is_found_and_none_is_invented(shared: Path, agent: str) -> None:
    folder = shared / "data" / "agents"
    if not folder.is_dir():
        pytest.skip(f"no samples of coding agents at {folder}")
    readings = [one for one in compare_readings(folder) if one.agent == agent]
    assert readings
    not_read = [one for one in readings if one.error and one.expected and one.file not in NOT_READ]
    assert [one for one in readings if one in not_read or one.missed or one.invented] == []
