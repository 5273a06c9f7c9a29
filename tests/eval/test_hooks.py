"""The measurement of hooks of coding agents, on few turns."""

import json

from typer.testing import CliRunner

from eval.cli import app


def test_each_event_is_measured_and_a_new_session_is_given_something() -> None:
    few = ["hooks", "--turns", "30", "--runs", "1", "--appends", "2"]
    done = CliRunner().invoke(app, [*few, "--json"])
    prompt, stop, start, profile = json.loads(done.stdout)
    assert [one["event"] for one in (prompt, stop, start)] == ["UserPromptSubmit", "Stop", "SessionStart"]
    assert prompt["runs"] == 2
    assert 0 < prompt["median_ms"] <= prompt["p95_ms"]
    assert prompt["characters"] == stop["characters"] == 0
    assert start["characters"] > 100
    assert (profile["event"], profile["runs"]) == ("profile", 1)
    assert profile["characters"] > 100
    assert start["processor_s"] > prompt["processor_s"]
    printed = CliRunner().invoke(app, few).stdout
    assert "| `SessionStart` | 30 | 1 |" in printed
