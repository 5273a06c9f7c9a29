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
_WITH_CONTEXT = frozenset({"resume", "fork"})
"""Sources of a session whose context has what was given when it started."""
_START_SECONDS = 5
"""How long a new session waits for what it is given."""
_LARGEST = 64 << 20
"""Bytes of a payload that are read."""


def main() -> None:
    """Keep the event on standard input: `tiermem-hook AGENT STORE`."""
    started = datetime.now(UTC)
    agent, store, *_ = *sys.argv[1:], "", ""
    spool = Path(store or "memory", SPOOL)
    if not spool.with_name("FORMAT").is_file():
        return  # there is no memory, and no place to say so: `tiermem hook status` does
    try:
        payload = json.loads(sys.stdin.buffer.read(_LARGEST))
        keep_event(spool, agent or "unknown", payload, at=started)
        if payload.get("hook_event_name") in _DRAINING:
            _drain_in_background(store or "memory")
        elif _is_new_session(payload):
            _print_recap(store or "memory", str(payload["cwd"]))
    except Exception as error:  # noqa: BLE001  # the agent goes on whatever happens, and `status` says what did
        _note_failure(spool, f"{started.isoformat()} {agent}: {type(error).__name__}: {error}")


def keep_event(spool: Path, agent: str, payload: dict[str, object], *, at: datetime) -> Path:
    """Write an event to a file of its own, durably; it has its name once it is complete."""
    event = {
        "at": at.isoformat(),
        "agent": agent,
        "payload": {name: payload[name] for name in KEPT if payload.get(name) is not None},
    }
    spool.mkdir(mode=0o700, exist_ok=True)
    name = f"{time.time_ns():020d}-{os.getpid()}"
    temporary, kept = spool / f"{name}.part", spool / f"{name}.json"
    file = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        data = json.dumps(event).encode()
        while data:
            data = data[os.write(file, data) :]
        os.fsync(file)
    finally:
        os.close(file)
    temporary.rename(kept)
    return kept


def _is_new_session(payload: dict[str, object]) -> bool:
    """Whether a session starts in a directory, without the context of another, of an agent with our hooks.

    Cursor runs hooks of Claude Code too, and names its version.
    """
    is_start = payload.get("hook_event_name") == _STARTING and payload.get("source") not in _WITH_CONTEXT
    return is_start and isinstance(payload.get("cwd"), str) and "cursor_version" not in payload


def _print_recap(store: str, directory: str) -> None:
    """Print what a new session in a directory is given; raises `RuntimeError` where it cannot be read."""
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
    os.write(1, done.stdout)


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
