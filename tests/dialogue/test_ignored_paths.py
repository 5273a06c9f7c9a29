"""What a session of a coding agent has of files that git ignores, or that a pattern names, is left out."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.dialogue.transcripts import ClaudeCode, turns_of
from tiermem.dialogue.ignored_paths import find_ignored_paths

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


def make_repository(path: Path) -> Path:
    path.mkdir()
    subprocess.run(["git", "init", "-q", str(path)], check=True)
    (path / ".gitignore").write_text(".env\nbuild/\n!build/keep.txt\n")
    return path


def session_about(*paths: str, **known: str) -> ClaudeCode:
    log = ClaudeCode(**known)
    for number, path in enumerate(paths):
        log.call("Read", f"c{number}", file_path=path)
        log.result(f"contents of {path}", f"c{number}")
    return log


@needs_git
def test_calls_about_ignored_files_and_their_results_are_left_out(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "loom")
    log = session_about(
        f"{root}/.env", "src/loom.py", "build/out.js", "sub/../.env", "/nowhere/else/.env", cwd=str(root)
    )
    conversation = log.read()
    assert [turn.text for turn in turns_of(conversation) if turn.role == "tool"] == [
        "contents of src/loom.py",
        "contents of /nowhere/else/.env",
    ]
    assert "out.js" not in repr(conversation)
    assert conversation.left_out == {"call about an ignored path, or its result": 6}


@needs_git
def test_a_worktree_in_an_ignored_folder_has_its_own_rules(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "loom")
    inner = root / "build" / "tree"
    inner.parent.mkdir()
    make_repository(inner)
    found = find_ignored_paths([f"{inner}/a.py", f"{inner}/.env", f"{root}/build/b.py"], ())
    assert found.paths == {f"{inner}/.env", f"{root}/build/b.py"}
    assert found.problems == ()


def test_files_of_patterns_are_left_out(tmp_path: Path) -> None:
    log = session_about("/nowhere/loom/key.pem", "private/a.txt", "/nowhere/loom/keypem.py")
    conversation = log.read(skip_paths=["*.pem", "private/*"])
    results = [turn.text for turn in turns_of(conversation) if turn.role == "tool"]
    assert results == ["contents of /nowhere/loom/keypem.py"]


def test_a_reply_keeps_its_words_where_its_call_is_left_out() -> None:
    log = ClaudeCode()
    call = {"type": "tool_use", "id": "c1", "name": "Read", "input": {"file_path": "/nowhere/a.pem"}}
    log.reply("I look at the key.", call)
    log.result("secret", "c1")
    (turn,) = turns_of(log.read(skip_paths=["*.pem"]))
    assert turn.text == "I look at the key."
    assert "tool" not in turn.metadata


@pytest.mark.parametrize("has_git", [True, False])
def test_where_git_cannot_tell_a_note_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, has_git: bool
) -> None:
    (tmp_path / ".git").mkdir()  # no repository for git
    if not has_git:
        monkeypatch.setenv("PATH", str(tmp_path))
    conversation = session_about(f"{tmp_path}/.env").read()
    assert len(turns_of(conversation)) == 2
    assert any("git did not say what it ignores" in note for note in conversation.notes)
