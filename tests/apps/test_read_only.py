"""Commands that look, while another process has the memory open for writing."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.apps.test_commands import as_json, chat_file, tiermem
from tiermem.apps.cli.app import app

NOTE = "note: another process has this memory open for writing: looking read-only, nothing is recorded\n"
WRITER = """
import sys, tiermem
with tiermem.open(sys.argv[1], engine="local", create=False):
    print("open", flush=True)
    sys.stdin.read()
"""
LOOKING = {
    "search": ["Pixel chicken"],
    "context": ["What does Pixel eat?"],
    "ask": ["What does Pixel eat?"],
    "audit": [],
    "replay": [],
    "answers": [],
    "pages": [],
    "units": [],
    "stats": [],
    "omissions": [],
    "verify": [],
    "checkpoint": [],
    "spaces": [],
}
"""Commands that only look (`page` and `trail` take an id), and what they are asked."""
FALLING_BACK = ("search", "context", "ask")
NEVER_WRITING = ("audit", "stats")
"""Some of the others: that they take no lock is tested with `--read-only`."""


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A store that another process has open for writing."""
    folder = tmp_path_factory.mktemp("looking")
    store = folder / "memory"
    tiermem(store, "ingest", str(chat_file(folder)))
    tiermem(store, "ask", "What does Pixel eat?")
    command = [sys.executable, "-c", WRITER, str(store)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "open\n"
        yield store
        writer.communicate(timeout=60)


@pytest.mark.parametrize("command", FALLING_BACK + NEVER_WRITING)
def test_looking_works_while_another_process_writes(written: Path, command: str) -> None:
    result = tiermem(written, command, *LOOKING[command])
    assert result.stdout
    assert result.stderr == (NOTE if command in FALLING_BACK else "")


@pytest.mark.parametrize("command", LOOKING)
def test_every_command_that_looks_takes_read_only_and_is_silent_then(written: Path, command: str) -> None:
    assert tiermem(written, command, *LOOKING[command], "--read-only").stderr == ""


def test_an_answer_that_is_not_recorded_says_so(written: Path) -> None:
    told = tiermem(written, "ask", "What does Pixel eat?").stdout
    assert "chicken" in told
    assert "recorded" in told
    assert "tiermem audit" not in told
    result = CliRunner().invoke(app, ["ask", "What does Pixel eat?", "--json", "--store", str(written)])
    assert json.loads(result.stdout)["recorded"] is False
    assert result.stderr == NOTE
    assert len(as_json(written, "answers")["answers"]) == 1
    failed = tiermem(written, "audit", json.loads(result.stdout)["id"], code=1)
    assert "was not recorded" in failed.stderr


def test_what_writes_says_who_has_it(written: Path, tmp_path: Path) -> None:
    for command in (["ingest", str(chat_file(tmp_path))], ["erase", "--session", "x", "--reason", "y", "-y"]):
        assert "held by pid" in tiermem(written, *command, code=1).stderr


def test_asking_again_is_no_looking(written: Path) -> None:
    assert (
        CliRunner().invoke(app, ["replay", "--rerun", "--read-only", "--store", str(written)]).exit_code == 2
    )


def test_read_only_leaves_no_answer_where_nobody_writes(tmp_path: Path) -> None:
    tiermem(tmp_path / "memory", "ingest", str(chat_file(tmp_path)))
    assert as_json(tmp_path / "memory", "ask", "What does Pixel eat?", "--read-only")["recorded"] is False
    assert as_json(tmp_path / "memory", "answers")["answers"] == []
    assert as_json(tmp_path / "memory", "ask", "What does Pixel eat?")["recorded"] is True
