"""`tiermem ingest` of sessions of coding agents: below a folder, and where an agent keeps them."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import tiermem as package
from tests.apps.test_commands import as_json, tiermem
from tests.dialogue.test_copied_sessions import fork, written_session
from tests.dialogue.transcripts import ClaudeCode, Codex


def write_log(folder: Path, name: str, log: ClaudeCode | Codex) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(log.text(), encoding="utf-8")
    return path


def claude_code_folder(root: Path) -> Path:
    log = ClaudeCode("main")
    log.user("Weave a rug.")
    log.reply({"type": "thinking", "thinking": "hm", "signature": "x"}, "Woven.")
    sub_agent = ClaudeCode("main", isSidechain=True, agentId="a1")
    sub_agent.count = 50
    sub_agent.user("Look for wool.")
    empty = ClaudeCode("empty")
    empty.record("file-history-snapshot", snapshot={})
    folder = root / "projects" / "-nowhere-loom"
    write_log(folder, "main.jsonl", log)
    write_log(folder, "main/subagents/agent-a1.jsonl", sub_agent)
    write_log(folder, "empty.jsonl", empty)
    (folder / "notes.jsonl").write_text('{"role": "user", "text": "no transcript"}\n')
    (folder / "broken.jsonl").write_text("not json\n")
    (folder / "MEMORY.md").write_text("Ann: no transcript either\n")
    return root


def test_the_sessions_below_a_folder_are_stored_and_other_files_are_not(tmp_path: Path) -> None:
    store, folder = tmp_path / "memory", claude_code_folder(tmp_path / "claude")
    told = as_json(store, "ingest", str(folder))
    (space,) = told["spaces"]
    assert (space["new"], space["known"]) == (3, 0)
    other = "file of another kind (name it to have it read)"
    assert told["left_out"] == {"hidden reasoning": 1, "session without turns": 1, other: 1}
    assert len(told["skipped"]) == 2
    assert any("notes.jsonl' is no transcript" in reason for reason in told["skipped"])
    (again,) = as_json(store, "ingest", str(folder))["spaces"]
    assert (again["new"], again["known"]) == (0, 3)
    notes = next(folder.rglob("MEMORY.md"))
    assert other not in as_json(store, "ingest", str(folder), str(notes))["left_out"]


def test_what_is_added_is_stored_until_the_program_is_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIERMEM_EMBEDDER", "hashed")
    store, folder = tmp_path / "memory", tmp_path / "projects"
    log = ClaudeCode("s1", cwd=str(tmp_path))
    log.user("Weave a rug.")
    write_log(folder, "s1.jsonl", log)

    def texts() -> list[str]:
        with package.open(store, engine="local", read_only=True) as memory:
            pages = [*map(memory.page, (info.id for info in memory.pages())), *memory.open_pages()]
            return [line.turn.text for page in pages for line in page.lines if line.turn is not None]

    def wait_for(expected: list[str]) -> None:
        until = time.monotonic() + 60
        while texts() != expected and time.monotonic() < until:
            time.sleep(0.2)
        assert texts() == expected

    package.open(store, engine="local").close()
    command = [sys.executable, "-m", "tiermem", "ingest", str(folder), "--follow", "--engine", "local"]
    with subprocess.Popen([*command, "--store", str(store)], stdout=-1, stderr=-1, text=True) as following:
        try:
            wait_for(["Weave a rug."])
            log.reply("Woven.")
            with (folder / "s1.jsonl").open("a") as file:
                file.write(log.text().splitlines()[-1][:40])
                file.flush()
                time.sleep(3)
                file.write(log.text().splitlines()[-1][40:] + "\n")
            wait_for(["Weave a rug.", "Woven."])
            with package.open(store, engine="local"):  # as another process that writes
                log.user("Now dye it.")
                write_log(folder, "s1.jsonl", log)
                time.sleep(3)
            wait_for(["Weave a rug.", "Woven.", "Now dye it."])
        finally:
            following.send_signal(signal.SIGINT)
        out, err = following.communicate(timeout=60)
    assert following.returncode == 0, err
    assert "Traceback" not in err
    assert "tried again later" in err
    assert out.count("default") == 3, "nothing is printed where nothing changed"


def test_standard_input_is_not_followed(tmp_path: Path) -> None:
    assert "is not followed" in tiermem(tmp_path / "memory", "ingest", "-", "--follow", code=2).stderr


def test_what_is_no_turn_is_displayed(tmp_path: Path) -> None:
    shown = tiermem(tmp_path / "memory", "ingest", str(claude_code_folder(tmp_path / "claude")))
    assert "1 × file of another kind (name it to have it read), 1 × hidden reasoning" in shown.output


def test_a_folder_without_transcripts_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "chats").mkdir()
    (tmp_path / "chats" / "a.txt").write_text("Ann: Hello Bo.\nBo: Hello Ann.\n")
    failed = tiermem(tmp_path / "memory", "ingest", str(tmp_path / "chats"), code=1)
    assert "no transcript of a coding agent is below" in failed.stderr
    assert "name the files" in failed.stderr
    assert not (tmp_path / "memory").exists()


def test_the_folders_of_agents_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(claude_code_folder(tmp_path / "claude")))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    for name, folder in (("s1", "sessions/2026/09/20"), ("s2", "archived_sessions")):
        log = Codex(name)
        log.message("user", f"Weave {name}.")
        write_log(tmp_path / "codex" / folder, f"rollout-{name}.jsonl", log)
    (tmp_path / "codex" / "sessions" / "rollout-s3.jsonl.zst").write_bytes(b"packed")
    new = [
        as_json(tmp_path / "memory", "ingest", "--from", agent)["spaces"][0]["new"]
        for agent in ("claude-code", "codex")
    ]
    assert new == [3, 2]
    told = as_json(tmp_path / "memory", "ingest", "--from", "codex")
    assert told["left_out"] == {"file packed with zstd": 1}
    found = as_json(tmp_path / "memory", "search", "weave", "--kind", "turns", "--where", "agent=codex")
    assert len(found["results"]) == 2


def test_the_home_of_an_agent_is_in_the_home_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    refused = tiermem(tmp_path / "memory", "ingest", "--from", "claude-code", code=1)
    assert f"{tmp_path}/.claude/projects" in refused.stderr
    assert "CLAUDE_CONFIG_DIR" in refused.stderr
    claude_code_folder(tmp_path / ".claude")
    (space,) = as_json(tmp_path / "memory", "ingest", "--from", "claude-code")["spaces"]
    assert space["new"] == 3


def test_the_folders_of_other_agents_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    header = {"sessionId": "g1", "projectHash": "77"}
    chat = {**header, "messages": [{"id": "m1", "type": "user", "content": "Weave."}]}
    event = {"type": "user.message", "data": {"content": "Weave."}, "id": "e1", "parentId": None}
    files = {
        ".gemini/tmp/77/chats/session-1.json": json.dumps(chat, indent=1),
        ".gemini/tmp/77/logs.json": "[]",
        ".copilot/session-state/c1/events.jsonl": f"{json.dumps(event)}\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    for agent in ("gemini-cli", "copilot-cli"):
        told = as_json(tmp_path / "memory", "ingest", "--from", agent)
        assert (told["spaces"][0]["new"], told["skipped"]) == (1, [])
    refused = tiermem(tmp_path / "memory", "ingest", "--from", "codex", code=1)
    assert "name their files" in refused.stderr


def test_without_files_the_error_says_what_to_give(tmp_path: Path) -> None:
    refused = tiermem(tmp_path / "memory", "ingest", code=2)
    assert "sessions are read with --from" in " ".join(refused.output.replace("│", " ").split())


def test_turns_that_a_fork_copied_are_counted(tmp_path: Path) -> None:
    log = written_session()
    first = write_log(tmp_path, "a.jsonl", log)
    second = write_log(tmp_path, "b.jsonl", fork(log))
    store = tmp_path / "memory"
    (space,) = as_json(store, "ingest", str(first), str(second))["spaces"]
    assert (space["turns"], space["new"], space["known"], space["copied"]) == (8, 4, 0, 4)
    assert "4 turns copied from another session" in tiermem(store, "ingest", str(second)).stdout


def test_many_notes_are_cut_on_a_terminal(tmp_path: Path) -> None:
    for number in range(22):
        log = ClaudeCode(f"s{number}", version="9.0.0")
        log.user("Weave.")
        write_log(tmp_path / "logs", f"s{number}.jsonl", log)
    shown = tiermem(tmp_path / "memory", "ingest", str(tmp_path / "logs"))
    assert shown.output.count("newer than") == 20
    assert "2 more notes" in shown.output


def test_secrets_are_redacted_and_their_number_is_displayed(tmp_path: Path) -> None:
    token = "npm_" + "x9Yz" * 9  # made up
    log = Codex()
    log.message("user", f"Publish with {token} and badge LOOM-77.")
    path = write_log(tmp_path, "a.jsonl", log)
    shown = tiermem(tmp_path / "memory", "ingest", str(path), "--redact", r"LOOM-\d+")
    assert "1 × secret: npm token, 1 × secret: own pattern" in shown.output
    found = tiermem(tmp_path / "memory", "search", "publish badge", "--kind", "turns").stdout
    assert "[redacted: npm token]" in found
    assert token not in found
    assert "LOOM-77" not in found
