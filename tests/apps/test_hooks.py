"""Memory for coding agents that captures by itself: the hook, the spool, and the settings of agents."""

import errno
import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters, stdio_client
from mcp.types import TextContent
from typer.testing import CliRunner

import tiermem
import tiermem_hook
from pagestore import EstimateCounter
from pagestore.errors import Full, Locked
from tests.apps.test_commands import as_json
from tests.apps.test_commands import tiermem as run_command
from tests.dialogue.transcripts import ClaudeCode
from tiermem.apps.cli.app import app
from tiermem.apps.hooks import settings
from tiermem.apps.hooks.drain import drain_spool, open_and_store
from tiermem.apps.hooks.events import keep_statement, read_spool
from tiermem.apps.hooks.start import recap_of_directory
from tiermem.dialogue import DialogueSession, repository_of
from tiermem.dialogue.agent_spaces import repository_space
from tiermem.errors import InvalidInput
from tiermem.recap import MOST_TOKENS
from tiermem.text.own_context import without_marked_blocks

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
TOKEN = "ghp_" + "a1B2" * 9


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store with an empty space."""
    monkeypatch.setenv("TIERMEM_EMBEDDER", "hashed")
    tiermem.open(tmp_path / "memory", engine="local").close()
    return tmp_path / "memory"


def run_hook(store: Path, payload: Any, agent: str = "claude-code") -> subprocess.CompletedProcess[bytes]:
    given = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    command = [sys.executable, "-m", "tiermem_hook", agent, str(store)]
    return subprocess.run(command, input=given, capture_output=True, check=False)


def repository(folder: Path, name: str = "loom") -> Path:
    git = folder / ".git"
    git.mkdir(parents=True)
    (git / "config").write_text(f'[remote "origin"]\n\turl = git@example.org:ann/{name}.git\n')
    return folder


def session(folder: Path, *prompts: str, cwd: Path, name: str = "s1") -> Path:
    log = ClaudeCode(name, cwd=str(cwd))
    for prompt in prompts:
        log.user(prompt)
        log.reply("Done.")
    file = folder / "s1.jsonl"
    file.write_text(log.text())
    return file


def event(store: Path, name: str, *, at: datetime = NOW, **fields: Any) -> Path:
    payload = {"hook_event_name": name, "session_id": "s1", **fields}
    return tiermem_hook.keep_event(store / "spool", "claude-code", payload, at=at)


def turns_of(store: Path, space: str) -> list[str]:
    with tiermem.open(store, space=space, engine="local") as memory:
        memory.flush()
        pages = [memory.page(info.id) for info in memory.pages()]
        return [line.turn.text for page in pages for line in page.lines if line.turn is not None]


def test_the_hook_is_of_the_standard_library_alone() -> None:
    code = "import sys, tiermem_hook; print([one for one in sys.modules if one.split('.')[0] not in known])"
    code = code.replace("known", "sys.stdlib_module_names")
    done = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, check=True, text=True)
    assert set(json.loads(done.stdout.replace("'", '"'))) <= {"tiermem_hook", "__main__"}


def test_an_event_is_kept_without_what_tools_were_given_and_gave(store: Path, tmp_path: Path) -> None:
    payload = {
        "session_id": "s1",
        "transcript_path": "/nowhere/s1.jsonl",
        "cwd": "/nowhere",
        "hook_event_name": "PostToolUse",
        "tool_input": {"command": f"export TOKEN={TOKEN}"},
        "tool_response": "a secret",
        "last_assistant_message": "words",
        "banana": True,
    }
    done = run_hook(store, payload)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    (file,) = (store / "spool").iterdir()
    assert file.stat().st_mode & 0o077 == 0
    kept = json.loads(file.read_text())
    assert set(kept["payload"]) == {"session_id", "transcript_path", "cwd", "hook_event_name"}
    (read,) = read_spool(store).events
    assert (read.name, read.session, read.transcripts) == ("PostToolUse", "s1", ("/nowhere/s1.jsonl",))


@pytest.mark.parametrize("payload", [b"", b"not json", b"[1]", b'"text"', b"{", b"\xff\xfe", b"null"])
def test_what_is_no_event_stops_no_agent_and_is_displayed(
    store: Path, tmp_path: Path, payload: bytes
) -> None:
    done = run_hook(store, payload)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    spool = read_spool(store)
    assert spool.events == ()
    (failure,) = spool.failures
    assert "claude-code" in failure
    assert "has no attribute" not in failure


def test_a_store_that_cannot_be_written_stops_no_agent(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    done = run_hook(tmp_path / "file", {"hook_event_name": "SessionStart"})
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_transcripts_go_to_the_space_of_their_repository_once(store: Path, tmp_path: Path) -> None:
    loom = repository(tmp_path / "loom")
    transcript = session(tmp_path, "Weave a rug.", f"The token is {TOKEN}.", cwd=loom)
    for name in ("SessionStart", "UserPromptSubmit", "Stop"):
        event(store, name, transcript_path=str(transcript), cwd=str(loom), prompt="Weave a rug.")
    done = drain_spool(store, now=NOW)
    (space,) = done.stored
    assert space.startswith("loom-")
    assert (done.events, done.stored[space], done.prompts, done.waiting, done.problems) == (3, 4, 0, 0, ())
    said = turns_of(store, space)
    assert said[0] == "Weave a rug."
    assert not any(TOKEN in text for text in said)
    event(store, "Stop", transcript_path=str(transcript), cwd=str(loom))
    again = drain_spool(store, now=NOW)
    assert (again.events, again.stored[space]) == (1, 0)
    assert read_spool(store).events == ()


def test_a_clone_in_another_folder_has_the_same_space(store: Path, tmp_path: Path) -> None:
    for name in ("loom", "loom-copy"):
        folder = tmp_path / f"of-{name}"
        folder.mkdir()
        transcript = session(folder, f"Said in {name}.", cwd=repository(tmp_path / name))
        event(store, "Stop", transcript_path=str(transcript))
        drain_spool(store, now=NOW)
    (_, space) = sorted(tiermem.spaces(store))
    assert space.startswith("loom-")


@pytest.mark.parametrize(("directory", "name"), [
    ("/home/ann/Loom App", "loom-app-0123abcd"),
    ("C:\\code\\loom", "loom-0123abcd"),
    ("/home/ann/织机", "repository-0123abcd"),
    ("", "repository-0123abcd"),
    ("/x/" + "a" * 90, "a" * 40 + "-0123abcd"),
])  # fmt: skip
def test_a_space_is_called_after_a_folder(directory: str, name: str) -> None:
    assert repository_space("0123abcd4567ef89", directory, ()) == name
    assert repository_space("0123abcd4567ef89", directory, ("old-0123abcd", "other")) == "old-0123abcd"


def test_a_prompt_that_no_transcript_has_waits_for_it_and_is_stored_when_the_session_ends(
    store: Path,
    tmp_path: Path,
) -> None:
    transcript = session(tmp_path, "Weave a rug.", cwd=tmp_path)
    known: dict[str, Any] = {"transcript_path": str(transcript), "cwd": str(tmp_path)}
    event(store, "UserPromptSubmit", prompt=f"No, use wool. {TOKEN}", **known)
    event(store, "UserPromptSubmit", prompt="Weave  a\nrug.", **known)
    first = drain_spool(store, now=NOW)
    assert (first.events, first.prompts, first.waiting) == (1, 0, 1)
    event(store, "SessionEnd", **known)
    second = drain_spool(store, now=NOW)
    assert (second.events, second.prompts, second.waiting) == (2, 1, 0)
    said = turns_of(store, "default")
    assert [text for text in said if "wool" in text] == ["No, use wool. [redacted: GitHub token]"]
    assert not any(TOKEN in text for text in said)


def test_a_short_prompt_is_not_taken_for_a_part_of_another(store: Path, tmp_path: Path) -> None:
    transcript = session(tmp_path, "yes, and then deploy", cwd=tmp_path)
    event(store, "UserPromptSubmit", prompt="yes", transcript_path=str(transcript))
    event(store, "SessionEnd", transcript_path=str(transcript))
    assert drain_spool(store, now=NOW).prompts == 1


def test_a_prompt_without_any_transcript_is_stored_after_an_hour(store: Path, tmp_path: Path) -> None:
    event(store, "UserPromptSubmit", prompt="Weave a rug.", transcript_path=str(tmp_path / "gone.jsonl"))
    assert drain_spool(store, now=NOW + timedelta(minutes=59)).waiting == 1
    done = drain_spool(store, now=NOW + timedelta(minutes=60))
    assert (done.stored, done.prompts, done.waiting) == ({"default": 1}, 1, 0)


def test_events_wait_while_another_process_writes_the_space(store: Path, tmp_path: Path) -> None:
    transcript = session(tmp_path, "Weave a rug.", cwd=tmp_path)
    event(store, "Stop", transcript_path=str(transcript))
    code = f"import tiermem; tiermem.open({str(store)!r}, engine='local'); print(); input()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=-1, stdout=-1) as other:
        assert other.stdout is not None
        other.stdout.readline()
        done = drain_spool(store, now=NOW)
        assert (done.events, done.stored, done.waiting) == (0, {}, 1)
        assert "waits for the next time" in done.problems[0]
        other.communicate(b"\n")
    assert drain_spool(store, now=NOW).stored == {"default": 2}


def test_a_process_that_is_killed_before_it_removes_events_leaves_nothing_twice(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    transcript = session(tmp_path, "Weave a rug.", cwd=tmp_path)
    event(store, "UserPromptSubmit", prompt="Only here.", transcript_path=str(transcript))
    event(store, "SessionEnd", transcript_path=str(transcript))

    def raise_interrupt(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Path, "unlink", raise_interrupt)
        with pytest.raises(KeyboardInterrupt):
            drain_spool(store, now=NOW)
    assert len(read_spool(store).events) == 2
    drain_spool(store, now=NOW)
    assert sorted(turns_of(store, "default")) == ["Done.", "Only here.", "Weave a rug."]
    assert read_spool(store).events == ()


def test_what_a_killed_hook_left_is_removed_after_an_hour(store: Path) -> None:
    (store / "spool").mkdir()
    left, writing = store / "spool" / "1-7.part", store / "spool" / "2-8.part"
    for file, minutes in ((left, 61), (writing, 1)):
        file.write_text('{"payload": {"prompt": "My pass')
        moment = (NOW - timedelta(minutes=minutes)).timestamp()
        os.utime(file, (moment, moment))
    drain_spool(store, now=NOW)
    assert not left.exists()
    assert writing.exists()


def test_a_space_that_refuses_sessions_holds_no_other_up(store: Path, tmp_path: Path) -> None:
    loom, elsewhere = repository(tmp_path / "loom"), tmp_path / "elsewhere"
    elsewhere.mkdir()
    baked = session(elsewhere, "Bake a cake.", cwd=elsewhere, name="s2")
    event(store, "Stop", transcript_path=str(session(tmp_path, "Weave a rug.", cwd=loom)))
    event(store, "Stop", transcript_path=str(baked), session_id="s2")

    def refuse_loom(space: str, sessions: Sequence[DialogueSession]) -> Mapping[str, int]:
        if space.startswith("loom-"):
            raise InvalidInput("not these")
        return open_and_store(store, space, sessions)

    done = drain_spool(store, now=NOW, store_sessions=refuse_loom)
    assert (done.stored, done.events, done.waiting) == ({"default": 2}, 1, 1)
    assert "not these" in done.problems[0]
    assert drain_spool(store, now=NOW).waiting == 0


def test_one_process_drains_at_a_time(store: Path, tmp_path: Path) -> None:
    import fcntl

    (store / "spool").mkdir()
    with (store / "spool" / "LOCK").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(Locked, match="another process drains"):
            drain_spool(store, now=NOW)


def test_a_transcript_that_cannot_be_read_holds_no_other_up(store: Path, tmp_path: Path) -> None:
    (tmp_path / "odd.jsonl").write_text("not json\n")
    event(store, "Stop", transcript_path=str(tmp_path / "odd.jsonl"))
    event(store, "Stop", transcript_path=str(session(tmp_path, "Weave a rug.", cwd=tmp_path)))
    (store / "spool" / "0-odd.json").write_text("{")
    done = drain_spool(store, now=NOW)
    assert (done.events, done.stored) == (2, {"default": 2})
    assert "odd.jsonl" in done.problems[0]
    assert [one.name for one in read_spool(store).unreadable] == ["0-odd.json"]


def test_status_displays_why_events_wait(store: Path, tmp_path: Path) -> None:
    assert as_json(store, "hook", "status")["last_drain"] is None
    assert "none has ended yet" in run_command(store, "hook", "status").output
    transcript = session(tmp_path, "Weave a rug.", cwd=tmp_path)
    event(store, "UserPromptSubmit", prompt="Use wool.", transcript_path=str(transcript))
    event(store, "Stop", transcript_path=str(transcript))
    code = f"import tiermem; tiermem.open({str(store)!r}, engine='local'); print(); input()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=-1, stdout=-1) as other:
        assert other.stdout is not None
        other.stdout.readline()
        assert drain_spool(store, now=NOW).waiting == 2
        other.communicate(b"\n")
    last = as_json(store, "hook", "status")["last_drain"]
    assert (last["at"], last["prompts_left"]) == (NOW.isoformat(), 1)
    (problem,) = last["problems"]
    assert "space 'default' waits for the next time" in problem
    assert "is held by pid" in problem
    shown = run_command(store, "hook", "status").output
    assert "2026-03-01 12:00 UTC; left for their transcripts: 1 prompt" in shown
    assert "waits for the next time" in " ".join(shown.split())
    drain_spool(store, now=NOW + timedelta(minutes=1))
    last = as_json(store, "hook", "status")["last_drain"]
    assert (last["at"][:16], last["prompts_left"], last["problems"]) == ("2026-03-01T12:01", 1, [])


def test_problems_that_status_displays_quote_no_session(store: Path, tmp_path: Path) -> None:
    for number in range(5):
        (tmp_path / f"{number}.jsonl").write_text("My pin is 4711.\n")
        event(store, "Stop", transcript_path=str(tmp_path / f"{number}.jsonl"))
    event(store, "Stop", transcript_path=str(session(tmp_path, "Weave a rug.", cwd=tmp_path)))

    def refuse(space: str, sessions: Sequence[DialogueSession]) -> Mapping[str, int]:
        raise InvalidInput("My pin is 4711.")

    drain_spool(store, now=NOW, store_sessions=refuse)
    problems = as_json(store, "hook", "status")["last_drain"]["problems"]
    assert len(problems) == 6
    assert "4.jsonl cannot be read (NotDialogue)" in problems[4]
    assert problems[5] == "space 'default' waits for the next time: InvalidInput"
    assert not any(b"4711" in file.read_bytes() for file in (store / "spool").iterdir())
    assert "and 3 more problems" in run_command(store, "hook", "status").output


def test_a_drain_that_dies_of_an_error_is_displayed(store: Path, tmp_path: Path) -> None:
    event(store, "Stop", transcript_path=str(session(tmp_path, "Weave a rug.", cwd=tmp_path)))

    def die(space: str, sessions: Sequence[DialogueSession]) -> Mapping[str, int]:
        raise OSError("My pin is 4711.")

    with pytest.raises(OSError, match="4711"):
        drain_spool(store, now=NOW, store_sessions=die)
    state = as_json(store, "hook", "status")
    assert state["waiting"] == 1
    assert state["last_drain"]["problems"] == [
        "the drain ended with OSError: `tiermem hook drain` displays why"
    ]


def test_a_damaged_note_of_the_last_drain_is_displayed(store: Path) -> None:
    drain_spool(store, now=NOW)
    (store / "spool" / "last-drain").write_text("{")
    state = as_json(store, "hook", "status")
    assert (state["last_drain"], state["unreadable"]) == (None, [str(store / "spool" / "last-drain")])
    drain_spool(store, now=NOW)
    assert as_json(store, "hook", "status")["unreadable"] == []


COMMAND = ["python", "-m", "tiermem_hook", "claude-code"]
CLAUDE_CODE = settings.AGENTS["claude-code"]
OTHERS = {
    "model": "opus",
    "hooks": {
        "Stop": [{"hooks": [{"type": "command", "command": "say done"}]}],
        "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "check"}]}],
    },
}


@pytest.mark.parametrize(
    "before", ["", "{}", json.dumps(OTHERS), json.dumps(OTHERS, indent=4), '{"hooks": {}}']
)
def test_hooks_of_others_stay_and_a_second_installation_changes_nothing(before: str) -> None:
    after = settings.add_hooks(CLAUDE_CODE, before, [*COMMAND, "memory"])
    assert settings.installed_events(CLAUDE_CODE, after) == tuple(
        event for event in json.loads(after)["hooks"] if event in settings.EVENTS
    )
    assert set(settings.installed_events(CLAUDE_CODE, after)) == set(settings.EVENTS)
    assert settings.add_hooks(CLAUDE_CODE, after, [*COMMAND, "memory"]) == after
    moved = settings.add_hooks(CLAUDE_CODE, after, [*COMMAND, "elsewhere"])
    assert moved.count("elsewhere") == len(settings.EVENTS)
    assert " memory" not in moved
    removed = json.loads(settings.remove_hooks(CLAUDE_CODE, moved))
    had = json.loads(before or "{}")
    assert removed == ({} if had.get("hooks") == {} else had)
    assert settings.remove_hooks(CLAUDE_CODE, before) == before


@pytest.mark.parametrize("text", ["{", "[]", '"text"', '{"hooks": []}', '{"hooks": {"Stop": {}}}'])
def test_settings_that_are_damaged_are_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="repair them first"):
        settings.add_hooks(CLAUDE_CODE, text, COMMAND)


def test_hooks_are_installed_run_and_taken_out_again(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "claude" / "settings.json"
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(file.parent))
    file.parent.mkdir()
    file.write_text(json.dumps(OTHERS))
    tried = as_json(store, "hook", "install", "claude-code", "--dry-run")
    assert tried["changed"]
    assert json.loads(file.read_text()) == OTHERS
    as_json(store, "hook", "install", "claude-code")
    assert json.loads((file.parent / "settings.json.before-tiermem").read_text()) == OTHERS
    (entry,) = [
        hook
        for group in json.loads(file.read_text())["hooks"]["Stop"]
        for hook in group["hooks"]
        if "tiermem" in hook["command"]
    ]
    transcript = session(tmp_path, "Weave a rug.", cwd=tmp_path)
    payload = {"hook_event_name": "Stop", "session_id": "s1", "transcript_path": str(transcript)}
    project = tmp_path / "project"
    project.mkdir()
    for name in ("json.py", "tiermem.py", "tiermem_hook.py"):
        (project / name).write_text("raise SystemExit('a module of the project')")
    given = json.dumps(payload).encode()
    subprocess.run(entry["command"], shell=True, input=given, check=True, cwd=project)  # noqa: S602
    for _ in range(200):
        if not as_json(store, "hook", "status")["waiting"]:
            break
        time.sleep(0.1)
    assert turns_of(store, "default") == ["Weave a rug.", "Done."]
    state = as_json(store, "hook", "status")
    assert sorted(state["agents"][0]["events"]) == sorted(settings.EVENTS)
    assert "installed" in run_command(store, "hook", "status").output
    json.loads(CliRunner().invoke(app, ["hook", "uninstall", "claude-code", "--json"]).stdout)
    assert json.loads(file.read_text()) == OTHERS


def test_settings_are_as_they_were_when_the_disk_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "settings.json"
    file.write_text("as it was")

    def refuse(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(Full):
        settings.write_file(file, "after", mode_of=file)
    assert file.read_text() == "as it was"
    assert list(tmp_path.iterdir()) == [file]


def test_a_link_to_settings_and_their_mode_stay(store: Path, tmp_path: Path) -> None:
    real, project = tmp_path / "dotfiles.json", tmp_path / "loom"
    real.write_text(json.dumps(OTHERS))
    real.chmod(0o600)
    (file := project / ".claude" / "settings.json").parent.mkdir(parents=True)
    file.symlink_to(real)
    as_json(store, "hook", "install", "claude-code", "--project", str(project))
    assert file.is_symlink()
    assert set(settings.installed_events(CLAUDE_CODE, real.read_text())) == set(settings.EVENTS)
    backup = file.with_name("settings.json.before-tiermem")
    assert json.loads(backup.read_text()) == OTHERS
    assert (real.stat().st_mode & 0o777, backup.stat().st_mode & 0o777) == (0o600, 0o600)


def test_a_project_that_is_no_folder_is_not_made(store: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for project in (tmp_path / "lom", tmp_path / "file"):
        done = run_command(store, "hook", "install", "claude-code", "--project", str(project), code=1)
        assert "there is no folder" in done.stderr
    assert [one.name for one in tmp_path.glob("l*")] == []


def test_settings_that_are_no_text_are_refused_and_stay(store: Path, tmp_path: Path) -> None:
    (file := tmp_path / ".claude" / "settings.json").parent.mkdir()
    file.write_bytes(b"\xff\xfe{}")
    done = run_command(store, "hook", "install", "claude-code", "--project", str(tmp_path), code=1)
    assert "no UTF-8 text" in done.output
    assert file.read_bytes() == b"\xff\xfe{}"


def test_published_payloads_are_kept(store: Path, shared: Path) -> None:
    files = sorted((shared / "data/agents/claude-code/hooks").glob("*.json"))
    (store / "spool").mkdir()
    for file in files:
        tiermem_hook.keep_event(store / "spool", "claude-code", json.loads(file.read_bytes()), at=NOW)
    spool = read_spool(store)
    assert (len(spool.events), spool.unreadable, spool.failures) == (9, (), ())
    assert [one.prompt for one in spool.events if one.prompt] == ["add a /healthz endpoint"]
    assert {one.session for one in spool.events} == {"sess-abc"}


def test_ingest_puts_sessions_where_hooks_do(store: Path, tmp_path: Path) -> None:
    transcript = session(tmp_path, "Weave a rug.", cwd=repository(tmp_path / "loom"))
    (stored,) = as_json(store, "ingest", str(transcript), "--engine", "local")["spaces"]
    assert stored["space"].startswith("loom-")
    event(store, "Stop", transcript_path=str(transcript))
    assert drain_spool(store, now=NOW).stored == {stored["space"]: 0}
    (named,) = as_json(store, "ingest", str(transcript), "--engine", "local", "--space", "ann")["spaces"]
    assert (named["space"], named["new"]) == ("ann", 2)


def test_turns_are_found_by_their_repository_and_the_file_that_a_call_is_about(
    store: Path, tmp_path: Path
) -> None:
    loom = repository(tmp_path / "loom")
    log = ClaudeCode("s1", cwd=str(loom))
    log.user("Oil the loom.")
    for number, name in enumerate(("loom.py", "mill.py")):
        log.call("Edit", f"c{number}", file_path=str(loom / name), old_string="oil", new_string="oil loom")
    (tmp_path / "s1.jsonl").write_text(log.text())
    as_json(store, "ingest", str(tmp_path / "s1.jsonl"), "--engine", "local", "--space", "ann")
    with tiermem.open(store, space="ann", engine="local") as memory:
        memory.remember("The loom is oiled on Monday.")
        known = {"repository": str(repository_of(str(loom / "src"))), "path": str(loom / "mill.py")}
        assert len(memory.search("oil loom", kind="turns", where={"repository": known["repository"]})) == 3
        (found,) = memory.search("oil loom", kind="turns", where=known)
        assert "mill.py" in found.text
        assert not memory.search("oil loom", kind="turns", where={**known, "repository": "0123abcd4567ef89"})


@pytest.mark.anyio
async def test_a_server_takes_in_what_hooks_wrote_before_each_call(store: Path, tmp_path: Path) -> None:
    loom = repository(tmp_path / "loom")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    event(store, "Stop", transcript_path=str(session(tmp_path, "Weave a rug of wool.", cwd=loom)))
    event(store, "Stop", transcript_path=str(session(elsewhere, "Bake a cake.", cwd=elsewhere)))
    given = StdioServerParameters(
        command=sys.executable,
        args=["-m", "tiermem", "mcp", "--repository", "--engine", "local", "--store", str(store)],
        env=dict(os.environ),
        cwd=loom,
    )
    async with Client(stdio_client(given)) as client:
        found = await client.call_tool("search", {"query": "rug of wool"})
        assert "Weave a rug of wool." in str(found.content)
        assert "cake" not in str(found.content)
        assert read_spool(store).events == ()
    assert turns_of(store, "default") == ["Bake a cake.", "Done."]
    (space,) = (one for one in tiermem.spaces(store) if one.startswith("loom-"))
    assert turns_of(store, space) == ["Weave a rug of wool.", "Done."]


def serve_mcp(store: Path, *options: str) -> StdioServerParameters:
    arguments = ["-m", "tiermem", "mcp", "--engine", "local", "--store", str(store), *options]
    return StdioServerParameters(command=sys.executable, args=arguments, env=dict(os.environ))


@pytest.mark.anyio
async def test_what_a_second_server_remembers_is_stored_by_the_first(store: Path) -> None:
    async with (
        Client(stdio_client(serve_mcp(store))) as writer,
        Client(stdio_client(serve_mcp(store))) as reader,
    ):
        await writer.list_tools()
        tools = {tool.name for tool in (await reader.list_tools()).tools}
        assert "remember" in tools
        assert not tools & {"forget", "feedback"}
        kept = await reader.call_tool("remember", {"fact": "The loom is in the old shed."})
        assert '"waits":true' in str(kept.content).replace(" ", "").replace("\\", "")
        assert as_json(store, "hook", "status")["statements"] == 1
        assert "old shed" not in str((await reader.call_tool("search", {"query": "loom shed"})).content)
        assert "old shed" in str((await writer.call_tool("search", {"query": "loom shed"})).content)
        assert as_json(store, "hook", "status")["statements"] == 0
    with tiermem.open(store, engine="local") as memory:
        (unit,) = memory.units()
        assert unit.text == "The loom is in the old shed."
        (line,) = (line for page in memory.pages() for line in memory.page(page.id).lines)
        assert line.turn is not None
        assert (line.turn.speaker, line.turn.role) == ("assistant", "assistant")


@pytest.mark.anyio
async def test_what_is_for_all_repositories_goes_to_a_space_of_its_own_and_is_read_with_its_scope(
    store: Path, tmp_path: Path
) -> None:
    loom, mill = (repository(tmp_path / name, name) for name in ("loom", "mill"))

    def serve(folder: Path, *options: str) -> Any:
        given = serve_mcp(store, *options)
        return stdio_client(given.model_copy(update={"cwd": folder}))

    async with Client(serve(loom, "--repository")) as client:
        assert await call(client, "profile") == "Nothing is known yet."
        await call(client, "remember", fact="The loom is oiled on Monday.")
        kept = await call(client, "remember", fact="Never commit without asking.", user=True)
        assert (kept["waits"], kept["space"]) == (True, "user")
        for tool, given in (("profile", {}), ("recall", {"question": "commit? loom oiled?"})):
            found = await call(client, tool, **given)
            first, second = found.split("\n</tiermem-memory>\n")
            assert first.startswith('<tiermem-memory space="user">\n')
            assert "Never commit without asking." in first
            assert second.startswith('<tiermem-memory space="loom-')
            assert "The loom is oiled on Monday." in second
            assert "commit" not in second
        session_only = await call(client, "recall", question="commit? loom oiled?", session="main")
        assert "commit" not in session_only
        for most in (5, 60, 90, 200):
            assert EstimateCounter().count(await call(client, "profile", max_tokens=most)) <= max(most, 20)
        assert await call(client, "profile", max_tokens=5) == "1 found, none fits into 5 tokens"
        refused = await client.call_tool(
            "remember", {"fact": "The loom is red.", "user": True, "sources": ["p1:x"]}
        )
        assert refused.is_error
        assert "leave them out" in str(refused.content)
    async with Client(serve(mill, "--repository")) as client:
        found = await call(client, "profile")
        assert "Never commit" in found
        assert "oiled" not in found
    async with Client(serve(mill)) as client:
        refused = await client.call_tool("remember", {"fact": "The loom is red.", "user": True})
        assert refused.is_error
        assert "needs a server started with --repository" in str(refused.content)
    assert turns_of(store, "user") == ["Never commit without asking."]


async def call(client: Client, tool: str, **arguments: Any) -> Any:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    (block,) = result.content
    assert isinstance(block, TextContent)
    return json.loads(block.text) if block.text.startswith("{") else block.text


@pytest.mark.anyio
async def test_a_server_that_was_opened_read_only_remembers_nothing(store: Path) -> None:
    async with Client(stdio_client(serve_mcp(store, "--read-only"))) as reader:
        assert "remember" not in {tool.name for tool in (await reader.list_tools()).tools}


def state(store: Path, fact: str, space: str = "default", agent: str | None = None, **more: Any) -> Path:
    said = {"session": "main", "role": "assistant", "said_at": NOW.isoformat(), **more}
    return keep_statement(store, space, agent, {"fact": fact, **said})


def test_statements_are_drained_once_with_their_time_and_agent(store: Path) -> None:
    file = state(store, "The loom is in the old shed.")
    assert file.stat().st_mode & 0o077 == 0
    content = file.read_bytes()
    state(store, "The dye is in the cellar.", agent="planner")
    done = drain_spool(store, now=NOW)
    assert (done.facts, done.waiting, done.problems) == (2, 0, ())
    file.write_bytes(content)  # as a process leaves it that is killed before it removes it
    assert drain_spool(store, now=NOW).facts == 1
    with tiermem.open(store, engine="local") as memory:
        units = {unit.text: unit.agents for unit in memory.units()}
        assert units == {"The loom is in the old shed.": (), "The dye is in the cellar.": ("planner",)}
        assert all(found.said_at == NOW for found in memory.search("loom shed dye cellar", kind="turns"))


def test_a_statement_that_is_refused_holds_no_other_up_and_is_displayed(store: Path) -> None:
    state(store, "No.")
    state(store, "The loom is in the old shed.")
    state(store, "The loom is red.", trust="a king")
    odd = state(store, "Odd.", banana=1)
    done = drain_spool(store, now=NOW)
    assert (done.facts, done.waiting) == (1, 0)
    assert "cannot be stored: 2" in done.problems[0]
    again = drain_spool(store, now=NOW)
    assert (again.facts, again.waiting, again.problems) == (0, 0, ())
    unreadable = as_json(store, "hook", "status")["unreadable"]
    assert sorted(Path(one).suffix for one in unreadable) == [".refused", ".refused", ".statement"]
    assert str(odd) in unreadable


def test_a_statement_waits_while_another_process_writes_its_space(store: Path) -> None:
    state(store, "The loom is in the old shed.")
    code = f"import tiermem; tiermem.open({str(store)!r}, engine='local'); print(); input()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=-1, stdout=-1) as other:
        assert other.stdout is not None
        other.stdout.readline()
        done = drain_spool(store, now=NOW)
        assert (done.facts, done.waiting, len(done.problems)) == (0, 1, 1)
        assert "facts that wait" in run_command(store, "hook", "status").output
        other.communicate(b"\n")
    assert drain_spool(store, now=NOW).facts == 1


def test_hooks_of_codex_are_in_a_file_of_its_own(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    done = run_command(store, "hook", "install", "codex")
    assert "/hooks" in done.stderr
    assert (
        settings.installed_events(CLAUDE_CODE, (tmp_path / "codex" / "hooks.json").read_text())
        == settings.EVENTS
    )
    (project := tmp_path / "loom").mkdir()
    as_json(store, "hook", "install", "codex", "--project", str(project))
    assert (project / ".codex" / "hooks.json").is_file()
    events = {one["agent"]: tuple(one["events"]) for one in as_json(store, "hook", "status")["agents"]}
    assert events["codex"] == settings.EVENTS


def test_status_says_which_hooks_codex_does_not_trust(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    file, config = tmp_path / "codex" / "hooks.json", tmp_path / "codex" / "config.toml"

    def untrusted() -> tuple[str, ...]:
        agents = as_json(store, "hook", "status")["agents"]
        (codex,) = (one for one in agents if one["agent"] == "codex")
        return tuple(codex["untrusted"])

    assert untrusted() == ()
    file.parent.mkdir()
    other = {"hooks": [{"type": "command", "command": "./mine.sh"}]}
    file.write_text(json.dumps({"hooks": {"Stop": [other]}}))
    run_command(store, "hook", "install", "codex")
    assert set(untrusted()) == set(settings.EVENTS)
    events = ("session_start", "user_prompt_submit", "subagent_stop", "pre_compact", "session_end")
    places = [f"{event}:0:0" for event in events] + ["stop:0:0"]
    states = "".join(f'[hooks.state."{file}:{one}"]\ntrusted_hash = "sha256:0a"\n' for one in places)
    config.write_text(states)
    assert untrusted() == ("Stop",), "the first hook at this event is that of others"
    assert "Codex has none for Stop: type /hooks there" in _on_one_line(run_command(store, "hook", "status"))
    ours = f'[hooks.state."{file}:stop:1:0"]\ntrusted_hash = "sha256:0a"\n'
    config.write_text(states + ours)
    assert untrusted() == ()
    config.write_text(states + ours + "enabled = false\n")
    assert untrusted() == ("Stop",)
    config.write_text("hooks = 7\n")
    assert len(untrusted()) == len(settings.EVENTS)
    config.write_text("no toml")
    assert "not known: the configuration of Codex is no TOML" in _on_one_line(
        run_command(store, "hook", "status")
    )


def _on_one_line(done: Any) -> str:
    return " ".join(done.stdout.split())


def test_status_compares_events_with_what_was_stored_of_them(store: Path, tmp_path: Path) -> None:
    later = NOW + timedelta(minutes=5)
    log = ClaudeCode("s1", cwd=str(tmp_path), version="9.9.9")
    log.user("Weave a rug.")
    (tmp_path / "s1.jsonl").write_text(log.text())
    event(store, "Stop", at=later, transcript_path=str(tmp_path / "s1.jsonl"))
    event(store, "UserPromptSubmit", prompt="Weave a rug.", transcript_path=str(tmp_path / "s1.jsonl"))
    named: dict[str, object] = {
        "hook_event_name": "Stop",
        "session_id": "s2",
        "transcript_path": str(tmp_path / "gone.jsonl"),
    }
    tiermem_hook.keep_event(store / "spool", "codex", named, at=NOW)
    drain_spool(store, now=later)
    event(store, "SessionEnd", at=later + timedelta(minutes=1), transcript_path=str(tmp_path / "s1.jsonl"))
    drain_spool(store, now=later)
    agents = {one["agent"]: one["drained"] for one in as_json(store, "hook", "status")["agents"]}
    claude, codex = agents["claude-code"], agents["codex"]
    assert (claude["event"], claude["events"], claude["turns"]) == ("SessionEnd", 3, 1)
    assert claude["at"].startswith("2026-03-01T12:06")
    assert ["9.9.9" in note for note in claude["untested"]] == [True]
    assert (codex["event"], codex["events"], codex["turns"], codex["untested"]) == ("Stop", 1, 0, [])
    assert agents["cursor"] is None
    shown = _on_one_line(run_command(store, "hook", "status"))
    assert "3 events taken in, the last SessionEnd at 2026-03-01 12:06 UTC; 1 turn stored" in shown
    assert "0 turns stored: are its transcripts where its events say?" in shown
    assert "written by version 9.9.9, newer than" in shown


def test_of_a_session_that_has_only_begun_status_does_not_miss_the_transcript(store: Path) -> None:
    event(store, "SessionStart")
    drain_spool(store, now=NOW)
    shown = _on_one_line(run_command(store, "hook", "status"))
    assert "1 event taken in, the last SessionStart at 2026-03-01 12:00 UTC; 0 turns stored" in shown
    assert "are its transcripts" not in shown


def test_hooks_are_installed_for_a_new_store_without_making_a_space(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    store = tmp_path / "new"
    as_json(store, "hook", "install", "claude-code")
    assert tiermem.spaces(store) == ()
    assert as_json(store, "hook", "status")["waiting"] == 0


def test_a_space_is_named_once(store: Path) -> None:
    done = run_command(store, "mcp", "--repository", "--space", "ann", code=1)
    assert "--space and --repository" in done.output


START_OF_SESSION = {"hook_event_name": "SessionStart", "session_id": "s2", "source": "startup"}


@pytest.fixture
def loom(store: Path, tmp_path: Path) -> Path:
    """A repository with a session that is stored."""
    folder = repository(tmp_path / "loom")
    event(store, "Stop", transcript_path=str(session(tmp_path, "Weave a rug.", cwd=folder)))
    drain_spool(store, now=NOW)
    return folder


@pytest.mark.parametrize("agent", ["claude-code", "codex"])
@pytest.mark.parametrize("source", ["startup", "clear", "compact", None])
def test_a_new_session_is_given_what_the_person_said_last(
    store: Path, loom: Path, agent: str, source: str | None
) -> None:
    (below := loom / "src").mkdir()
    done = run_hook(store, {**START_OF_SESSION, "source": source, "cwd": str(below)}, agent)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(b'<tiermem-memory space="loom-')
    assert b"\n| Weave a rug.\n</tiermem-memory>" in done.stdout
    assert (len(read_spool(store).events), read_spool(store).failures) == (1, ())


@pytest.mark.parametrize(
    "other",
    [
        {"source": "resume"},
        {"source": "fork"},
        {"hook_event_name": "UserPromptSubmit"},
        {"hook_event_name": "sessionStart"},
        {"cursor_version": "3.12"},
        {"cwd": None},
        {"cwd": "/nowhere"},
        {"cwd": 7},
    ],
)
def test_no_other_event_and_no_other_directory_is_given_anything(
    store: Path, loom: Path, other: dict[str, Any]
) -> None:
    done = run_hook(store, {**START_OF_SESSION, "cwd": str(loom), **other})
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert (len(read_spool(store).events), read_spool(store).failures) == (1, ())


def test_a_repository_without_a_space_is_given_nothing(store: Path, tmp_path: Path) -> None:
    tiermem.open(store, space="other-0123abcd", engine="local").close()
    done = run_hook(store, {**START_OF_SESSION, "cwd": str(repository(tmp_path / "new"))})
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert read_spool(store).failures == ()


def test_a_new_session_is_given_what_is_for_all_repositories(store: Path, loom: Path, tmp_path: Path) -> None:
    done = as_json(store, "remember", "Never commit without asking.", "--user")
    assert (done["is_new"], tiermem.spaces(store)[-1]) == (True, "user")
    both = run_hook(store, {**START_OF_SESSION, "cwd": str(loom)}).stdout.decode()
    first, second = both.split("\n</tiermem-memory>\n", 1)
    assert first.startswith('<tiermem-memory space="user">\n')
    assert first.endswith("\n| Never commit without asking.")
    assert second.startswith('<tiermem-memory space="loom-')
    assert "Weave a rug." in second
    assert without_marked_blocks(f"before\n{both}\nafter") == "before\n\n\nafter"
    elsewhere = run_hook(store, {**START_OF_SESSION, "cwd": str(tmp_path)}).stdout.decode()
    assert elsewhere == f"{first}\n</tiermem-memory>"
    assert turns_of(store, "user") == ["Never commit without asking."]


def test_recaps_of_two_spaces_have_no_more_tokens_than_one_may(store: Path, tmp_path: Path) -> None:
    folder = repository(tmp_path / "loom")
    name = repository_space(str(repository_of(str(folder))), str(folder), ())
    for space in ("user", name):
        with tiermem.open(store, space=space, engine="local") as memory:
            for number in range(8):
                memory.remember(f"Rule {number} of {space}: " + "weave and weave " * 60)
    given = recap_of_directory(store, str(folder))
    assert given.count("| Rule") > 8
    assert given.count(" of user:") < 8, "it takes a third at most"
    assert EstimateCounter().count(given) <= MOST_TOKENS


def test_a_space_is_named_once_for_remember_too(store: Path) -> None:
    failed = run_command(store, "remember", "Never commit.", "--user", "--space", "ann", code=1)
    assert "--space and --user" in failed.stderr


def test_the_space_of_the_environment_is_no_reason_against_the_users(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIERMEM_SPACE", "ann")
    as_json(store, "remember", "Never commit.", "--user")
    assert "user" in tiermem.spaces(store)
    assert "ann" not in tiermem.spaces(store)


def test_a_space_that_is_being_written_is_read(store: Path, loom: Path) -> None:
    (space,) = (one for one in tiermem.spaces(store) if one.startswith("loom-"))
    with tiermem.open(store, space=space, engine="local"):
        done = run_hook(store, {**START_OF_SESSION, "cwd": str(loom)})
    assert b"Weave a rug." in done.stdout


def test_a_store_that_cannot_be_read_stops_no_agent_and_is_displayed(store: Path, loom: Path) -> None:
    form = (store / "FORMAT").read_text()
    (store / "FORMAT").write_text("tiermem-store 99\n")
    done = run_hook(store, {**START_OF_SESSION, "cwd": str(loom)})
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    (failure,) = read_spool(store).failures
    assert "has format 99" in failure
    (store / "FORMAT").write_text(form)
    assert "failed" in run_command(store, "hook", "status").output
    assert as_json(store, "hook", "status")["failures"] == [failure]


def test_a_session_does_not_wait_long_for_what_it_is_given(store: Path, loom: Path) -> None:
    code = "import tiermem_hook; tiermem_hook._START_SECONDS = 0.001; tiermem_hook.main()"
    command = [sys.executable, "-c", code, "claude-code", str(store)]
    given = json.dumps({**START_OF_SESSION, "cwd": str(loom)}).encode()
    done = subprocess.run(command, input=given, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert "TimeoutExpired" in read_spool(store).failures[0]


def test_an_agent_that_does_not_read_what_it_is_given_is_no_error(store: Path, loom: Path) -> None:
    command = [sys.executable, "-m", "tiermem_hook", "claude-code", str(store)]
    with subprocess.Popen(command, stdin=-1, stdout=-1, stderr=-1) as hook:
        assert hook.stdin is not None
        assert hook.stdout is not None
        hook.stdout.close()
        hook.stdin.write(json.dumps({**START_OF_SESSION, "cwd": str(loom)}).encode())
        hook.stdin.close()
        assert hook.wait() == 0
    assert "BrokenPipeError" in read_spool(store).failures[0]


def test_what_a_new_session_is_given_is_read_by_a_small_process() -> None:
    code = "import sys, tiermem.apps.hooks.start; print(*{name.split('.')[0] for name in sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    third_party = set(done.stdout.split()) - sys.stdlib_module_names - {"__main__", "_distutils_hack"}
    known = {"anyio", "idna", "pagestore", "sniffio", "snowballstemmer", "tiermem"}
    assert {name for name in third_party if not name.startswith("__editable__")} <= known


def test_what_a_hook_gave_is_no_turn_when_it_comes_back(store: Path, loom: Path, tmp_path: Path) -> None:
    given = run_hook(store, {**START_OF_SESSION, "cwd": str(loom)}).stdout.decode()
    pasted = f"{given}\nIs that all?"
    later = session(tmp_path, given, pasted, cwd=loom, name="s2")
    known: dict[str, Any] = {"session_id": "s2", "transcript_path": str(later), "cwd": str(loom)}
    for prompt in (given, pasted):
        event(store, "UserPromptSubmit", prompt=prompt, **known)
    event(store, "SessionEnd", **known)
    done = drain_spool(store, now=NOW)
    assert (done.prompts, done.waiting) == (0, 0)
    (space,) = done.stored
    assert [text for text in turns_of(store, space) if text != "Done."] == ["Weave a rug.", "Is that all?"]
    again = run_hook(store, {**START_OF_SESSION, "cwd": str(loom)}).stdout.decode()
    assert again.count("Weave a rug.") == 1
