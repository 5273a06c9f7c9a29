"""A coding agent that calls the hooks of TierMem as Claude Code does, with a script in place of a model.

    python examples/coding_agent.py

It plays two sessions in one repository. The hooks store the first one, in the space of the repository; the
second one is given what the person said in it.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import tiermem

REFUSED = "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\n"


@dataclass
class CodingSession:
    """A session in a repository: its transcript, and the hook that is called at its events."""

    store: Path
    repository: Path
    name: str
    records: int = 0

    @property
    def transcript(self) -> Path:
        """The file to which the session is written, a record a line."""
        return self.repository.with_name(f"{self.name}.jsonl")

    def call_hook(self, event: str, **fields: str) -> str:
        """Call the hook at an event; return what it prints for the agent."""
        payload = {
            "hook_event_name": event,
            "session_id": self.name,
            "transcript_path": str(self.transcript),
            "cwd": str(self.repository),
            **fields,
        }
        command = [sys.executable, "-P", "-m", "tiermem_hook", "claude-code", str(self.store)]
        given = json.dumps(payload).encode()
        done = subprocess.run(command, input=given, capture_output=True, check=True)  # noqa: S603
        return done.stdout.decode()

    def write(self, role: str, **part: Any) -> None:
        """Write a record: what a person said, a reply or a call of the agent, or the result of a call."""
        self.records += 1
        record = {
            "type": role,
            "uuid": f"{self.name}-{self.records}",
            "timestamp": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "sessionId": self.name,
            "isSidechain": False,
            "cwd": str(self.repository),
            "version": "2.1.200",
            "message": {"role": role, "content": [part]},
        }
        with self.transcript.open("a") as file:
            file.write(json.dumps(record) + "\n")

    def prompt(self, words: str) -> None:
        """Take a prompt of the person."""
        self.call_hook("UserPromptSubmit", prompt=words)
        self.write("user", type="text", text=words)

    def reply(self, words: str) -> None:
        """Reply, and stop."""
        self.write("assistant", type="text", text=words)
        self.call_hook("Stop")


def play_first_session(store: Path, repository: Path) -> None:
    """The person stops a call of the agent and says what to do."""
    session = CodingSession(store, repository, "first")
    session.call_hook("SessionStart", source="startup")
    session.prompt("Start the server.")
    session.write("assistant", type="tool_use", id="c1", name="Bash", input={"command": "serve --port 8080"})
    refusal = f"{REFUSED}Not 8080, take 8081."
    session.write("user", type="tool_result", tool_use_id="c1", is_error=True, content=refusal)
    session.reply("It runs at 8081.")
    session.call_hook("SessionEnd", reason="exit")


def wait_until_stored(store: Path, seconds: float = 60) -> None:
    """Wait for the drain that the hook has started; raise `TimeoutError` where events are left."""
    until = time.monotonic() + seconds
    while any((store / "spool").glob("*.json")):
        if time.monotonic() > until:
            raise TimeoutError("events are left: `tiermem hook status` displays why")
        time.sleep(0.1)


def start_second_session(store: Path, repository: Path) -> str:
    """A later session; return what its agent is given."""
    return CodingSession(store, repository, "second").call_hook("SessionStart", source="startup")


def main() -> None:
    """Play both sessions in a folder that is removed at the end."""
    with tempfile.TemporaryDirectory() as folder:
        store, repository = Path(folder, "memory"), Path(folder, "loom")
        (repository / ".git").mkdir(parents=True)
        tiermem.open(store, engine="local").close()  # hooks write to a store that is there
        play_first_session(store, repository)
        wait_until_stored(store)
        print(start_second_session(store, repository))


if __name__ == "__main__":
    main()
