"""The row on a server that is stopped while many write to it: what was acknowledged is there."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile

import tiermem
from tests.torture.harness import Outcome, Row, Share
from tiermem.errors import TierMemError

WRITERS = 6
"""Threads that write, each in a session of its own, in one of two spaces."""
_STARTING = 90.0


class Process:
    """`tiermem serve` in a process of its own."""

    def __init__(self, store: Path, *, rate: float = 100.0) -> None:
        """`rate` are requests a second of one key, as of `tiermem serve`."""
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        command = [
            sys.executable,
            "-m",
            "tiermem",
            "serve",
            "--store",
            str(store),
            "--port",
            str(port),
            "--rate",
            str(rate),
            "--proxy",
            "127.0.0.1",
            "--log",
        ]
        environment = {**os.environ, "TIERMEM_EMBEDDER": "hashed"}
        # Into a file: a pipe that nobody reads is full after a thousand requests, and then the server waits.
        self._said = TemporaryFile("a+")  # noqa: SIM115  # closed when it is stopped
        self.process = subprocess.Popen(
            command, env=environment, stderr=self._said, stdout=subprocess.DEVNULL, text=True
        )
        self.await_start()

    def await_start(self) -> None:
        """Wait until somebody answers."""
        until = time.monotonic() + _STARTING
        while time.monotonic() < until:
            try:
                tiermem.spaces(self.url)
            except TierMemError:
                time.sleep(0.1)
            else:
                return
        self.process.kill()
        raise AssertionError(f"nobody answers: {self.said()}")

    def said(self) -> str:
        """What it wrote on stderr until now."""
        self._said.seek(0)
        return self._said.read()

    def stop(self) -> tuple[int, str]:
        """Send SIGTERM; what it ends with, and what it said."""
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return -signal.SIGKILL, self.said()
        with self._said:
            return self.process.returncode, self.said()


def write_until_it_ends(url: str, number: int, acknowledged: list[tuple[str, str]]) -> None:
    """Add turns, one after the other, until nobody takes them; note each that was taken."""
    space = f"space-{number % 2}"
    try:
        with tiermem.open(url, space=space) as memory:
            for turn in range(100_000):
                ident = f"w{number}-{turn}"
                said = {"speaker": "Ann", "text": f"Chair {turn} of {number} is in the shed.", "id": ident}
                memory.add(said, session=f"s{number}")
                acknowledged.append((space, ident))
    except TierMemError:
        return


def stopped_under_load(store: Path, *, after: float) -> tuple[Outcome, int]:
    """A server stopped while all write, and how many turns had been acknowledged by then."""
    outcome, server = Outcome(count=1), Process(store)
    acknowledged: list[tuple[str, str]] = []
    writers = [
        threading.Thread(target=write_until_it_ends, args=(server.url, number, acknowledged))
        for number in range(WRITERS)
    ]
    for writer in writers:
        writer.start()
    until = time.monotonic() + _STARTING
    while len(acknowledged) < 3 * WRITERS and time.monotonic() < until:
        time.sleep(0.02)
    time.sleep(after)
    code, said = server.stop()
    for writer in writers:
        writer.join(60)
    outcome.demand(not any(writer.is_alive() for writer in writers), "a client hangs")
    outcome.demand(code == 0, f"it ended with {code}")
    outcome.demand("Traceback" not in said, f"it said: {said[-300:]}")
    outcome.violations.update(lost(store, acknowledged))
    outcome.seen["acknowledged turns"] = len(acknowledged)
    return outcome, len(acknowledged)


def lost(store: Path, acknowledged: list[tuple[str, str]]) -> list[str]:
    """What was acknowledged and is not there, once for each turn."""
    there: set[tuple[str, str]] = set()
    for space in tiermem.spaces(store):
        with tiermem.open(store, space=space, engine="local", embedder="hashed") as memory:
            pages = [*memory.open_pages(), *(memory.page(info.id) for info in memory.pages())]
            turns = (line.turn for page in pages for line in page.lines)
            there |= {
                (space, turn.turn_id) for turn in turns if turn is not None and turn.turn_id is not None
            }
            if not memory.verify().ok:
                return [f"the log of {space} is damaged"]
    return ["an acknowledged turn is lost"] * len(set(acknowledged) - there)


def stops(share: Share) -> Outcome:
    """Servers stopped under load, each on a store of its own."""
    outcome, chance = Outcome(), share.chance()
    for _ in share.cases:
        with TemporaryDirectory(ignore_cleanup_errors=True) as place:
            one, _ = stopped_under_load(Path(place) / "store", after=chance.uniform(0, 1.5))
        outcome.add(one)
    return outcome


ROWS = (
    Row(
        name="stopped-server",
        failure="a server that is told to stop while many write to it",
        done="`tiermem serve` in a process of its own, six clients that add turns in two spaces, SIGTERM at "
        "some moment; it ends with 0, no client hangs, every turn acknowledged is there, and the logs verify",
        unit="stops",
        count=20,
        share=2,
        work=stops,
    ),
)
