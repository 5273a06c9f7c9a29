"""What coding agents run at their events: it keeps the event in a spool, and ends.

`tiermem hook install` installs it. It is a module of its own, of the standard library alone, because the
agent waits for it: importing `tiermem` takes longer than all that is done here. It keeps who, where and when,
and of words only those of a prompt; everything else is in the transcript, which `tiermem hook drain` reads.

It always exits with 0 and prints nothing: an agent is never stopped by its memory. What went wrong is in the
file `failures` of the spool, which `tiermem hook status` displays.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

SPOOL = "spool"
"""The folder of events in a store."""
FAILURES = "failures"
"""The file in it with a line for each event that could not be kept."""
KEPT = (
    "hook_event_name",
    "session_id",
    "prompt_id",
    "turn_id",
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


def _drain_in_background(store: str) -> None:
    """Start `tiermem hook drain`, which goes on when the agent and this process have ended."""
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
