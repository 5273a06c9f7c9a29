"""The hooks of Cursor: its settings, and payloads that were written after its documentation."""

import json
import shlex
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import tiermem
import tiermem_hook
from tests.apps.test_commands import as_json
from tests.apps.test_commands import tiermem as run_command
from tests.apps.test_hooks import repository, run_hook, session, turns_of
from tests.dialogue.test_cursor import line, query
from tiermem.apps.cli.app import app
from tiermem.apps.hooks import settings
from tiermem.apps.hooks.drain import drain_spool
from tiermem.apps.hooks.events import read_spool
from tiermem.errors import InvalidInput

CURSOR = settings.AGENTS["cursor"]
NOW = datetime(2026, 10, 7, 12, tzinfo=UTC)
COMMAND = ["python", "-P", "-m", "tiermem_hook", "cursor"]
OTHERS = {
    "version": 1,
    "hooks": {
        "stop": [{"command": "./say-done.sh", "loop_limit": 2}],
        "afterFileEdit": [{"command": "./format.sh", "matcher": "Write"}],
    },
}
WRITTEN: dict[str, Any] = {
    "conversation_id": "c-1",
    "generation_id": "g-1",
    "model": "composer-2",
    "cursor_version": "3.12.17",
    "user_email": "ann@example.org",
}


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store with an empty space; Cursor has its settings in an empty home directory."""
    monkeypatch.setenv("TIERMEM_EMBEDDER", "hashed")
    monkeypatch.setenv("HOME", str(tmp_path))
    tiermem.open(tmp_path / "memory", engine="local").close()
    return tmp_path / "memory"


def payload(name: str, root: Path | None = None, **fields: Any) -> dict[str, Any]:
    """A payload as the documentation describes it, written for these tests."""
    return {**WRITTEN, "hook_event_name": name, "workspace_roots": [str(root)] if root else [], **fields}


def keep(store: Path, name: str, root: Path | None = None, *, at: datetime = NOW, **fields: Any) -> None:
    named = tiermem_hook.name_as_claude_code(payload(name, root, **fields))
    tiermem_hook.keep_event(store / "spool", "cursor", named, at=at)


def transcript(folder: Path, *prompts: str) -> Path:
    file = folder / "projects" / "loom" / "agent-transcripts" / "c-1" / "c-1.jsonl"
    file.parent.mkdir(parents=True)
    lines = [one for prompt in prompts for one in (line("user", query(prompt)), line("assistant", "Done."))]
    file.write_text("".join(f"{one}\n" for one in lines))
    return file


@pytest.mark.parametrize("before", ["", json.dumps(OTHERS), json.dumps({"hooks": {}}), '{"version": 1}'])
def test_hooks_of_others_stay_and_a_second_installation_changes_nothing(before: str) -> None:
    after = settings.add_hooks(CURSOR, before, [*COMMAND, "/memory"])
    written = json.loads(after)
    assert written["version"] == 1
    for event in CURSOR.events:
        ours = written["hooks"][event][-1]
        assert ours == {"command": shlex.join([*COMMAND, "/memory"]), "timeout": 10}
    assert settings.add_hooks(CURSOR, after, [*COMMAND, "/memory"]) == after
    moved = settings.add_hooks(CURSOR, after, [*COMMAND, "/elsewhere"])
    assert (moved.count("/elsewhere"), moved.count("/memory")) == (len(CURSOR.events), 0)
    removed = json.loads(settings.remove_hooks(CURSOR, moved))
    assert removed.get("hooks", {}) == json.loads(before or "{}").get("hooks", {})
    assert settings.remove_hooks(CURSOR, before) == before


def test_hooks_of_another_version_are_refused() -> None:
    with pytest.raises(InvalidInput, match="version 2"):
        settings.add_hooks(CURSOR, '{"version": 2, "hooks": {}}', COMMAND)


def test_hooks_are_installed_run_and_taken_out_again(store: Path, tmp_path: Path) -> None:
    (project := repository(tmp_path / "loom")).joinpath(".cursor").mkdir()
    file = project / ".cursor" / "hooks.json"
    file.write_text(json.dumps(OTHERS))
    tried = as_json(store, "hook", "install", "cursor", "--project", str(project), "--dry-run")
    assert (tried["changed"], json.loads(file.read_text())) == (True, OTHERS)
    done = run_command(store, "hook", "install", "cursor", "--project", str(project))
    assert "beforeSubmitPrompt" in done.output
    assert json.loads(file.with_name("hooks.json.before-tiermem").read_text()) == OTHERS
    moment = file.stat().st_mtime_ns
    assert not as_json(store, "hook", "install", "cursor", "--project", str(project))["changed"]
    assert file.stat().st_mtime_ns == moment
    command = json.loads(file.read_text())["hooks"]["stop"][-1]["command"]
    given = payload("stop", project, transcript_path=str(transcript(tmp_path, "Weave a rug.")))
    done_hook = subprocess.run(  # noqa: S602
        command, shell=True, input=json.dumps(given).encode(), check=True, capture_output=True, cwd=project
    )
    assert (done_hook.stdout, done_hook.stderr) == (b"", b"")
    for _ in range(200):
        if not read_spool(store).events:
            break
        time.sleep(0.1)
    (space,) = (one for one in tiermem.spaces(store) if one.startswith("loom-"))
    assert turns_of(store, space) == ["Weave a rug.", "Done."]
    assert turns_of(store, "default") == []
    (state,) = (
        one
        for one in as_json(store, "hook", "status", "--project", str(project))["agents"]
        if one["agent"] == "cursor"
    )
    assert set(state["events"]) == set(CURSOR.events)
    CliRunner().invoke(app, ["hook", "uninstall", "cursor", "--project", str(project)])
    assert json.loads(file.read_text()) == OTHERS


def test_the_settings_of_the_person_are_in_the_home_directory(store: Path, tmp_path: Path) -> None:
    as_json(store, "hook", "install", "cursor")
    assert set(json.loads((tmp_path / ".cursor" / "hooks.json").read_text())["hooks"]) == set(CURSOR.events)


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("sessionStart", "SessionStart"),
        ("beforeSubmitPrompt", "UserPromptSubmit"),
        ("subagentStop", "SubagentStop"),
        ("preCompact", "PreCompact"),
        ("stop", "Stop"),
        ("sessionEnd", "SessionEnd"),
    ],
)
def test_an_event_is_kept_by_the_names_of_claude_code(store: Path, name: str, known: str) -> None:
    given = payload(name, store, prompt="Weave.", text="a reply", tool_output="a secret")
    assert run_hook(store, given, "cursor").returncode == 0
    (file,) = (store / "spool").glob("*.json")
    assert not {"user_email", "ann@example.org", "a secret", "a reply"} & set(file.read_text().split('"'))
    (event,) = read_spool(store).events
    assert (event.agent, event.name, event.session) == ("cursor", known, "c-1")
    assert (event.directory, event.prompt) == (str(store), "Weave.")


@pytest.mark.parametrize("roots", [None, [], "loom", [7], {}])
def test_an_event_without_a_folder_is_kept(store: Path, roots: Any) -> None:
    done = run_hook(store, {**payload("sessionStart"), "workspace_roots": roots}, "cursor")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    spool = read_spool(store)
    assert ([one.directory for one in spool.events], spool.failures) == ([None], ())


def test_a_prompt_that_the_transcript_has_is_stored_once(store: Path, tmp_path: Path) -> None:
    file = transcript(tmp_path, "Weave a rug.")
    keep(store, "beforeSubmitPrompt", transcript_path=str(file), prompt="Weave a rug.")
    keep(store, "sessionEnd", transcript_path=str(file))
    done = drain_spool(store, now=NOW)
    assert (done.events, done.prompts, done.stored) == (2, 0, {"default": 2})


def test_a_session_is_with_its_repository_and_so_is_a_prompt_that_its_transcript_lacks(
    store: Path, tmp_path: Path
) -> None:
    loom, file = repository(tmp_path / "loom"), transcript(tmp_path, "Weave a rug.")
    keep(store, "sessionStart", transcript_path=str(file))
    keep(store, "beforeSubmitPrompt", loom, transcript_path=str(file), prompt="Now dye it.")
    keep(store, "sessionEnd", loom / "src", transcript_path=str(file))
    (space,) = drain_spool(store, now=NOW).stored
    assert space.startswith("loom-")
    assert turns_of(store, space) == ["Weave a rug.", "Done.", "Now dye it."]
    keep(store, "stop", loom, transcript_path=str(file))
    assert drain_spool(store, now=NOW).stored == {space: 0}


def test_a_session_that_names_its_directory_is_not_in_that_of_the_event(store: Path, tmp_path: Path) -> None:
    loom, elsewhere = repository(tmp_path / "loom"), tmp_path / "elsewhere"
    elsewhere.mkdir()
    file = session(elsewhere, "Bake a cake.", cwd=elsewhere)
    keep(store, "stop", loom, transcript_path=str(file))
    assert drain_spool(store, now=NOW).stored == {"default": 2}


def test_a_prompt_of_two_installations_is_stored_once_as_one_of_cursor(store: Path, tmp_path: Path) -> None:
    loom = repository(tmp_path / "loom")
    for agent in ("claude-code", "cursor"):
        run_hook(store, payload("beforeSubmitPrompt", loom, prompt="Weave a rug."), agent)
    run_hook(store, payload("beforeSubmitPrompt", loom, prompt="Now dye it.", generation_id="g-2"), "cursor")
    assert {one.agent for one in read_spool(store).events} == {"cursor"}
    (space,) = drain_spool(store, now=datetime.now(UTC) + timedelta(hours=2)).stored
    assert turns_of(store, space) == ["Weave a rug.", "Now dye it."]


def test_a_new_session_of_cursor_is_given_json_once(store: Path, tmp_path: Path) -> None:
    loom = repository(tmp_path / "loom")
    keep(store, "beforeSubmitPrompt", loom, prompt="Weave a rug.")
    drain_spool(store, now=NOW + timedelta(hours=1))
    given = payload("sessionStart", loom, conversation_id="c-2")
    block = json.loads(run_hook(store, given, "cursor").stdout)
    assert list(block) == ["additional_context"]
    assert block["additional_context"].startswith('<tiermem-memory space="loom-')
    assert "\n| Weave a rug.\n" in block["additional_context"]
    assert run_hook(store, given, "claude-code").stdout == b""
    assert run_hook(store, payload("sessionStart", tmp_path), "cursor").stdout == b""
    assert read_spool(store).failures == ()


def test_the_hook_takes_its_agent_and_store_from_the_command(store: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tiermem_hook"]
    given = json.dumps({"hook_event_name": "SessionStart", "session_id": "s1"}).encode()
    subprocess.run(command, input=given, check=True, cwd=tmp_path)
    (event,) = read_spool(store).events
    assert (event.agent, event.session) == ("unknown", "s1")
