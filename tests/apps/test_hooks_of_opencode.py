"""The plug-in of OpenCode: its file, run by Node in a host written for these tests, and its events."""

import json
import shutil
import sqlite3
import subprocess
import sys
import tracemalloc
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import tiermem
from tests.apps.test_commands import as_json
from tests.apps.test_commands import tiermem as run_command
from tests.apps.test_hooks import repository, run_hook, turns_of
from tests.dialogue.test_opencode import Row, add_new
from tiermem.apps.cli.app import app
from tiermem.apps.hooks import settings
from tiermem.apps.hooks.drain import drain_spool
from tiermem.apps.hooks.events import HookEvent, read_spool

OPENCODE = settings.AGENTS["opencode"]
NOW = datetime(2026, 10, 9, 12, tzinfo=UTC)
HOST = """
import plugin from "./tiermem.mjs"
import { readFileSync } from "node:fs"

const [version, file] = process.argv.slice(2)
const events = JSON.parse(readFileSync(file, "utf8"))
if (version === "1") {
  const hooks = await plugin.server({ directory: "/loom" })
  for (const event of events) await hooks.event({ event })
} else {
  let readAll, signal
  const all = new Promise((resolve) => (readAll = resolve))
  async function* stream() {
    for (const event of events) yield event
    readAll()
    await new Promise((_, fail) => signal.addEventListener("abort", () => fail(signal.reason)))
  }
  const subscribe = (options) => ((signal = options.signal), stream())
  const stop = await plugin.setup({ event: { subscribe } })
  await all
  stop()
}
console.log(plugin.id)
"""
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="Node is not on this machine")


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store with an empty space; OpenCode has its data and its settings in empty folders."""
    monkeypatch.setenv("TIERMEM_EMBEDDER", "hashed")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("OPENCODE_DB", raising=False)
    tiermem.open(tmp_path / "memory", engine="local").close()
    return tmp_path / "memory"


def run_plugin(folder: Path, command: list[str], version: int, events: list[Any]) -> None:
    """Load the plug-in in a host which sends it events, and wait until the host has ended."""
    (folder / "tiermem.mjs").write_text(settings.add_hooks(OPENCODE, "", command))
    (folder / "host.mjs").write_text(HOST)
    (folder / "events.json").write_text(json.dumps(events))
    done = subprocess.run(
        ["node", "host.mjs", str(version), "events.json"],
        cwd=folder,
        capture_output=True,
        check=False,
        text=True,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "tiermem\n", "")


def kept_events(store: Path, folder: Path, version: int, events: list[Any]) -> tuple[HookEvent, ...]:
    """The events that a hook kept which does not start to drain them."""
    code = "import tiermem_hook; tiermem_hook._DRAINING = (); tiermem_hook.main()"
    run_plugin(folder, [sys.executable, "-c", code, "opencode", str(store)], version, events)
    spool = read_spool(store)
    assert (spool.unreadable, spool.failures) == ((), ())
    return spool.events


def database(folder: Path, directory: Path) -> Path:
    file = folder / "opencode" / "opencode.db"
    file.parent.mkdir(parents=True)
    with closing(sqlite3.connect(file)) as opened:
        rows: list[Row] = [
            ("ses_1", "user", {"text": "Weave a rug."}),
            ("ses_1", "assistant", {"content": [{"type": "text", "text": "Done."}]}),
        ]
        add_new(opened, rows)
        opened.execute("UPDATE session_v2 SET directory = ?", (str(directory),))
        opened.commit()
    return file


def test_the_plugin_runs_the_command_and_a_second_one_is_the_same() -> None:
    command = ["/opt/Loom App/python", "-P", "-m", "tiermem_hook", "opencode", '/EVENTS/"COMMAND"']
    text = settings.add_hooks(OPENCODE, "", command)
    assert f"= {json.dumps(command)}\n" in text
    assert f"new Set({json.dumps(OPENCODE.events)})" in text
    assert settings.add_hooks(OPENCODE, text, command) == text
    assert settings.installed_events(OPENCODE, text) == OPENCODE.events
    assert settings.remove_hooks(OPENCODE, text) == ""


def test_the_plugin_is_installed_and_taken_out_again(store: Path, tmp_path: Path) -> None:
    file = tmp_path / "config" / "opencode" / "plugins" / "tiermem.js"
    assert as_json(store, "hook", "install", "opencode", "--dry-run")["changed"]
    assert not file.exists()
    assert "starts the next time" in run_command(store, "hook", "install", "opencode").stderr
    moment = file.stat().st_mtime_ns
    assert not as_json(store, "hook", "install", "opencode")["changed"]
    assert file.stat().st_mtime_ns == moment
    state = {one["agent"]: one for one in as_json(store, "hook", "status")["agents"]}
    assert (state["opencode"]["settings"], tuple(state["opencode"]["events"])) == (str(file), OPENCODE.events)
    (other := file.with_name("other.js")).write_text("export default {}")
    CliRunner().invoke(app, ["hook", "uninstall", "opencode"])
    assert (file.exists(), other.exists()) == (False, True)
    (tmp_path / "loom").mkdir()
    as_json(store, "hook", "install", "opencode", "--project", str(tmp_path / "loom"))
    assert (tmp_path / "loom" / ".opencode" / "plugins" / "tiermem.js").is_file()


def test_a_plugin_of_others_with_the_name_of_ours_stays(store: Path, tmp_path: Path) -> None:
    file = tmp_path / ".opencode" / "plugins" / "tiermem.js"
    file.parent.mkdir(parents=True)
    file.write_text("export default {}")
    done = run_command(store, "hook", "install", "opencode", "--project", str(tmp_path), code=1)
    assert "not of TierMem" in done.output
    CliRunner().invoke(app, ["hook", "uninstall", "opencode", "--project", str(tmp_path)])
    assert file.read_text() == "export default {}"


def test_an_event_names_the_database(store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = {"hook_event_name": "SessionStart", "session_id": "ses_1"}
    for name, expected in (
        ("", tmp_path / "data" / "opencode" / "opencode.db"),
        ("beta.db", tmp_path / "data" / "opencode" / "beta.db"),
        (str(tmp_path / "own.db"), tmp_path / "own.db"),
    ):
        monkeypatch.setenv("OPENCODE_DB", name)
        assert run_hook(store, given, "opencode").stdout == b""
        assert read_spool(store).events[-1].transcripts == (str(expected),)


def test_sessions_of_the_database_go_to_the_space_of_their_repository_once(
    store: Path, tmp_path: Path
) -> None:
    database(tmp_path / "data", repository(tmp_path / "loom"))
    for number in range(2):
        run_hook(store, {"hook_event_name": "SessionStart", "session_id": "ses_1"}, "opencode")
        done = drain_spool(store, now=NOW)
        (space,) = done.stored
        assert space.startswith("loom-")
        assert (done.stored[space], done.waiting, done.problems) == (0 if number else 2, 0, ())
    assert turns_of(store, space) == ["Weave a rug.", "Done."]


def test_of_a_large_database_only_the_session_of_the_event_is_read_and_those_it_started(
    store: Path, tmp_path: Path
) -> None:
    file = database(tmp_path / "data", repository(tmp_path / "loom"))
    with closing(sqlite3.connect(file)) as opened:
        for number, (name, parent) in enumerate({"ses_2": None, "ses_3": "ses_1", "ses_4": "ses_3"}.items()):
            opened.execute(
                "INSERT INTO session_v2 VALUES (?, ?, ?, 'Mill', '2.0.26', NULL)",
                (name, parent, str(tmp_path / "loom")),
            )
            data = json.dumps({"text": f"Said in {name}.", "time": {"created": 1_791_500_500_000 + number}})
            opened.execute(
                "INSERT INTO session_message VALUES (?, ?, 'user', 1, 1, 1, ?)", (f"n{number}", name, data)
            )
        opened.execute("CREATE TABLE ballast (words blob)")
        opened.execute("INSERT INTO ballast VALUES (zeroblob(?))", (80 << 20,))
        opened.commit()
    assert file.stat().st_size > 64 << 20
    run_hook(store, {"hook_event_name": "SessionStart", "session_id": "ses_1"}, "opencode")
    tracemalloc.start()
    done = drain_spool(store, now=NOW)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    (space,) = done.stored
    assert (done.waiting, done.problems, read_spool(store).failures) == (0, (), ())
    assert sorted(turns_of(store, space)) == ["Done.", "Said in ses_3.", "Weave a rug."]
    assert peak < 32 << 20
    for unknown in ("ses_9", "", "ses_1' OR '1'='1"):
        run_hook(store, {"hook_event_name": "SessionStart", "session_id": unknown}, "opencode")
        assert (drain_spool(store, now=NOW).stored, read_spool(store).events) == ({}, ())


def test_a_database_that_cannot_be_read_is_a_problem(store: Path, tmp_path: Path) -> None:
    file = database(tmp_path / "data", tmp_path)
    file.write_bytes(file.read_bytes()[:2048] + b"x" * 4096)
    run_hook(store, {"hook_event_name": "SessionStart", "session_id": "ses_1"}, "opencode")
    (problem,) = drain_spool(store, now=NOW).problems
    assert str(file) in problem
    assert "cannot be read" in problem


@needs_node
def test_a_recorded_stream_of_version_2_runs_the_hook_when_the_agent_stops(
    store: Path, tmp_path: Path, shared: Path
) -> None:
    lines = (shared / "data/agents/opencode/hooks/events-2.0.26.txt").read_text().splitlines()
    events = [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: ")]
    (event,) = kept_events(store, tmp_path, 2, events)
    assert (event.agent, event.name) == ("opencode", "Stop")
    assert event.session == "ses_ee2436a4affea745wld2i1EQEU"
    assert event.transcripts == (str(tmp_path / "data" / "opencode" / "opencode.db"),)


@needs_node
@pytest.mark.parametrize("name", OPENCODE.events[1:])
def test_each_end_of_version_2_runs_the_hook(store: Path, tmp_path: Path, name: str) -> None:
    ended = {"type": name, "data": {"sessionID": "ses_1"}, "location": {"directory": "/loom"}}
    (event,) = kept_events(store, tmp_path, 2, [ended, {"type": name}, {"type": name, "data": {}}])
    assert (event.session, event.directory, event.prompt) == ("ses_1", "/loom", None)


@needs_node
def test_version_1_runs_the_hook_when_a_session_is_idle(store: Path, tmp_path: Path) -> None:
    names = ("session.created", "message.updated", "session.idle", "session.deleted")
    events = [{"type": name, "properties": {"sessionID": "ses_1"}} for name in names]
    (event,) = kept_events(store, tmp_path, 1, events)
    assert (event.session, event.directory) == ("ses_1", "/loom")


@needs_node
@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("command", [["/nowhere/python"], ["false"]])
def test_a_hook_that_cannot_run_stops_no_agent(tmp_path: Path, version: int, command: list[str]) -> None:
    ended = {"sessionID": "ses_1"}
    run_plugin(tmp_path, command, version, [{"type": OPENCODE.events[0], "data": ended}] * 3)
