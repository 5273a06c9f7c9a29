"""What coding agents run at their events: it keeps the event in a spool, and ends.

`tiermem hook install` installs it. It is a module of its own, of the standard library alone, because the
agent waits for it: importing `tiermem` takes longer than all that is done here. It keeps who, where and when,
and of words only those of a prompt; everything else is in the transcript, which `tiermem hook drain` reads.

It always exits with 0: an agent is never stopped by its memory. It prints nothing but what a new session is
given, which a process of its own reads (`tiermem.apps.hooks.start`). What went wrong is in the file
`failures` of the spool, which `tiermem hook status` displays.
"""

from __future__ import annotations

import json
import os
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

SPOOL = "spool"
"""The folder of events in a store."""
FAILURES = "failures"
"""The file in it with a line for each event that could not be kept or answered."""
KEPT = (
    "hook_event_name",
    "session_id",
    "transcript_path",
    "agent_transcript_path",
    "agent_id",
    "cwd",
    "source",
    "reason",
    "trigger",
    "prompt",
)
"""The fields of a payload that are kept. What tools were given and gave is in the transcript."""
_DRAINING = frozenset({"Stop", "SubagentStop", "PreCompact", "SessionEnd"})
"""Events after which the spool is drained."""
_STARTING = "SessionStart"
_CURSOR = "cursor"
_NAMES = {"beforeSubmitPrompt": "UserPromptSubmit"}
"""What Claude Code calls an event of Cursor; the other names begin with a capital letter there."""
_WITH_CONTEXT = frozenset({"resume", "fork"})
"""Sources of a session whose context has what was given when it started."""
_START_SECONDS = 5
"""How long a new session waits for what it is given."""
_LARGEST = 64 << 20
"""Bytes of a payload that are read."""


def main() -> None:
    """Keep the event on standard input: `tiermem-hook AGENT STORE`."""
    started = datetime.now(UTC)
    agent, store, *_ = *sys.argv[1:], *("unknown", "memory")[len(sys.argv[1:]) :]
    spool = Path(store, SPOOL)
    if not spool.with_name("FORMAT").is_file():
        return  # there is no memory, and no place to say so: `tiermem hook status` does
    try:
        given = _read_payload()
        # Cursor runs hooks of Claude Code too, and names its version.
        sender = _CURSOR if "cursor_version" in given else agent
        payload = _TRANSLATIONS[sender](given) if sender in _TRANSLATIONS else given
        keep_event(spool, sender, payload, at=started)
        if payload.get("hook_event_name") in _DRAINING:
            _drain_in_background(store)
        elif sender == agent and _is_new_session(payload):
            _print_recap(store, str(payload["cwd"]), as_json=sender == _CURSOR)
    except Exception as error:  # noqa: BLE001  # the agent goes on whatever happens, and `status` says what did
        _note_failure(spool, f"{started.isoformat()} {agent}: {type(error).__name__}: {error}")


def _read_payload() -> dict[str, object]:
    """Return the payload on standard input; raises `ValueError` or `TypeError` for what is no JSON object."""
    given = json.loads(sys.stdin.buffer.read(_LARGEST))
    if not isinstance(given, dict):
        raise TypeError("the payload is no JSON object")
    return given


def name_as_claude_code(payload: dict[str, object]) -> dict[str, object]:
    """Return a payload of Cursor with the names that Claude Code has for its event and its fields."""
    name = str(payload.get("hook_event_name") or "")
    roots = payload.get("workspace_roots")
    root = roots[0] if isinstance(roots, list) and roots else None
    return {
        **payload,
        "hook_event_name": _NAMES.get(name, name[:1].upper() + name[1:]),
        "session_id": payload.get("conversation_id") or payload.get("session_id"),
        "cwd": payload.get("cwd") or root,
    }


def with_database(payload: dict[str, object]) -> dict[str, object]:
    """Return a payload of OpenCode with its database, which has its sessions, as the transcript."""
    folder = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local/share", "opencode")
    database = folder / (os.environ.get("OPENCODE_DB") or "opencode.db")
    return {**payload, "transcript_path": str(database)}


_TRANSLATIONS = {_CURSOR: name_as_claude_code, "opencode": with_database}
"""What makes a payload of an agent one with the names of Claude Code; payloads of the others have them."""


def keep_event(spool: Path, agent: str, payload: dict[str, object], *, at: datetime) -> Path:
    """Write an event to a file of its own, durably; it has its name once it is complete."""
    event: dict[str, object] = {
        "at": at.isoformat(),
        "agent": agent,
        "payload": {name: payload[name] for name in KEPT if payload.get(name) is not None},
    }
    return write_durably(spool, event, suffix="json")


def write_durably(spool: Path, content: dict[str, object], *, suffix: str) -> Path:
    """Write a new file of a spool; it has its name once it is complete."""
    spool.mkdir(mode=0o700, exist_ok=True)
    name = f"{time.time_ns():020d}-{os.getpid()}"
    temporary, kept = spool / f"{name}.part", spool / f"{name}.{suffix}"
    file = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        data = json.dumps(content).encode()
        while data:
            data = data[os.write(file, data) :]
        os.fsync(file)
    finally:
        os.close(file)
    temporary.rename(kept)
    return kept


def _is_new_session(payload: dict[str, object]) -> bool:
    """Whether a session starts in a directory, without the context of another."""
    is_start = payload.get("hook_event_name") == _STARTING and payload.get("source") not in _WITH_CONTEXT
    return is_start and isinstance(payload.get("cwd"), str)


def _print_recap(store: str, directory: str, *, as_json: bool) -> None:
    """Print what a new session in a directory is given, as text or as the JSON that Cursor reads.

    Raises `RuntimeError` where it cannot be read.
    """
    import subprocess  # which takes longer than most events do

    done = subprocess.run(  # noqa: S603  # this interpreter
        [sys.executable, "-P", "-m", "tiermem.apps.hooks.start", store, directory],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=_START_SECONDS,
        check=False,
    )
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines() or [f"exit {done.returncode}"]
        raise RuntimeError(said[-1])
    # Not through `sys.stdout`: a pipe that the agent closed would be an error when Python ends.
    text = json.dumps({"additional_context": done.stdout.decode()}).encode() if as_json else done.stdout
    os.write(1, text if done.stdout else b"")


def _drain_in_background(store: str) -> None:
    """Start `tiermem hook drain`, which goes on when the agent and this process have ended."""
    import subprocess  # as above

    subprocess.Popen(  # noqa: S603  # this interpreter
        [sys.executable, "-P", "-m", "tiermem", "hook", "drain", "--store", store],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def _note_failure(spool: Path, line: str) -> None:
    try:
        spool.mkdir(mode=0o700, exist_ok=True)
        with (spool / FAILURES).open("a", encoding="utf-8") as file:
            file.write(line.replace("\n", " ") + "\n")
    except OSError:
        pass  # there is nowhere to say it


if __name__ == "__main__":
    main()
