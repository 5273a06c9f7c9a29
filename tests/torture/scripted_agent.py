"""An agent that plays a session until it is killed: it writes a transcript of Claude Code and runs the hook.

`python -m tests.torture.scripted_agent STORE TRANSCRIPT SEED FIRST KILLS`: turns are numbered from FIRST, and
with KILLS 1 it kills hooks while they run. It prints `begun N TIME` before a prompt goes anywhere, `kept N`
once the hook ended well with it, and `killed N` where it killed the hook.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

_ONLY_IN_PAYLOAD = 0.3
"""The share of prompts that the transcript never gets, as one that was interrupted."""
_ENDS_TURN = 0.25
"""How often it ends its turn, after which the hook starts a drain."""
_HOOK_SECONDS = 0.12
"""Within how many seconds it kills a hook."""


def prompt_of(number: int) -> str:
    """What the person says in turn `number`."""
    return f"Weave rug number {number}."


def reply_of(number: int) -> str:
    """What the agent replies."""
    return f"Rug number {number} is woven."


def main() -> None:
    """Play turns until the process is killed."""
    store, transcript, seed, first, kills = sys.argv[1:]
    chance = random.Random(int(seed))
    file = Path(transcript)
    known = {"session_id": file.stem, "transcript_path": transcript, "cwd": str(file.parent)}
    if file.exists() and not file.read_bytes().endswith(b"\n"):
        _append(file, b"\n", chance)
    for number in count(int(first)):
        at = datetime.now(UTC)
        _say("begun", number, at.isoformat())
        payload = {**known, "hook_event_name": "UserPromptSubmit", "prompt": prompt_of(number)}
        is_killing = kills == "1" and chance.random() < 0.5
        code = _run_hook(store, payload, chance.random() * _HOOK_SECONDS if is_killing else None)
        if code == -signal.SIGKILL:
            _say("killed", number)
        elif code == 0:
            _say("kept", number)
        if chance.random() > _ONLY_IN_PAYLOAD:
            for author, text in (("user", prompt_of(number)), ("assistant", reply_of(number))):
                _append(file, record_of(file, number, author, text, at), chance)
        if chance.random() < _ENDS_TURN:
            _run_hook(store, {**known, "hook_event_name": "Stop"}, None)


def _say(what: str, number: int, *more: str) -> None:
    sys.stdout.write(" ".join((what, str(number), *more)) + "\n")
    sys.stdout.flush()


def _run_hook(store: str, payload: dict[str, str], kill_after: float | None) -> int:
    command = [sys.executable, "-P", "-m", "tiermem_hook", "claude-code", store]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as hook:
        assert hook.stdin is not None
        hook.stdin.write(json.dumps(payload).encode())
        hook.stdin.close()
        if kill_after is not None:
            time.sleep(kill_after)
            hook.kill()
        return hook.wait()


def _append(file: Path, line: bytes, chance: random.Random) -> None:
    """Append a line in two pieces, so that it may be torn."""
    at = chance.randrange(len(line) + 1)
    with file.open("ab", buffering=0) as written:
        os.write(written.fileno(), line[:at])
        time.sleep(chance.random() * 0.005)
        os.write(written.fileno(), line[at:])


def record_of(file: Path, number: int, author: str, text: str, at: datetime) -> bytes:
    """What a transcript has of the prompt (`user`) or the reply (`assistant`) of turn `number`."""
    record = {
        "type": author,
        "uuid": f"{author}-{number}",
        "timestamp": at.isoformat(timespec="milliseconds"),
        "sessionId": file.stem,
        "isSidechain": False,
        "cwd": str(file.parent),
        "version": "2.1.200",
        "message": {"role": author, "content": [{"type": "text", "text": text}]},
    }
    return json.dumps(record).encode() + b"\n"


if __name__ == "__main__":
    main()
