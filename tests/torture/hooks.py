"""The row on sessions of coding agents: agent, hook and drain are killed, and each turn is stored once."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import tiermem
import tiermem_hook
from tests.index.conftest import QUICK
from tests.torture.harness import Outcome, Row, Share
from tests.torture.scripted_agent import prompt_of, record_of, reply_of
from tiermem.apps.hooks.events import read_spool

LIVES = 5
"""Kills of one store before it is held to what was said."""
_VICTIMS = ("agent", "hook", "drain", "drain")
_ROOT = Path(__file__).parents[2]
_AGENT_SECONDS = 2.0
_STORING_SECONDS = 0.2
"""Within how many seconds an agent, and a drain that has begun to store, are killed."""
_LONGER = 1.5
"""How much longer a drain may take than one of an empty spool."""
_ENDS_SESSION = 0.5
"""How often a session has ended when its agent was killed; before a drain that is killed it always has."""
_WRITTEN_LATE = 0.5
"""How often a prompt that no transcript has is written to it after all, when it was stored."""
_ENDED_AFTER = 120.0
"""Seconds within which what is left to itself must have ended."""


@dataclass(slots=True)
class _Said:
    """What agents said they did: turns that were begun, in which transcript and when, and those whose hook
    ended well.
    """

    begun: dict[int, tuple[Path, datetime]] = field(default_factory=dict)
    kept: set[int] = field(default_factory=set)
    killed_hooks: int = 0

    def read(self, lines: str, transcript: Path) -> None:
        """Take in what the agent of a transcript printed; a last line that is cut off is none."""
        for word, number, *at in (line.split() for line in lines.split("\n")[:-1]):
            match word:
                case "begun":
                    self.begun[int(number)] = transcript, datetime.fromisoformat(at[0])
                case "kept":
                    self.kept.add(int(number))
                case "killed":
                    self.killed_hooks += 1


def killed_sessions(share: Share) -> Outcome:
    """SIGKILL to agents, hooks and drains at random moments, each store going on where the last one died."""
    outcome, chance = Outcome(), share.chance()
    while outcome.count < share.count:
        with TemporaryDirectory(dir=QUICK) as folder:
            _play(Path(folder), chance, min(LIVES, share.count - outcome.count), outcome)
    return outcome


def _play(folder: Path, chance: random.Random, kills: int, outcome: Outcome) -> None:
    """Kill so often in one repository, then let the spool be drained and look at what is stored."""
    store, repository = folder / "memory", folder / "loom"
    (repository / ".git").mkdir(parents=True)
    tiermem.open(store, engine="local", embedder="hashed").close()
    said, target, session = _Said(), outcome.count + kills, 0
    began = time.monotonic()
    _run_drain(store)
    usual = time.monotonic() - began
    while outcome.count < target:
        victim, transcript = chance.choice(_VICTIMS), repository / f"s{session}.jsonl"
        killed = _play_agent(store, transcript, chance, said, kills_hooks=victim == "hook")
        if victim == "drain" or chance.random() < _ENDS_SESSION:
            _let_end(store)
            _end_session(store, transcript)
            session += 1
        if victim == "drain":
            killed = _kill_drain(store, chance, within=_LONGER * usual)
        outcome.count += killed
        outcome.seen[f"{victim}s killed"] += killed
    for number in range(session + 1):  # also one whose agent was killed before it wrote anything
        _end_session(store, repository / f"s{number}.jsonl")
    _let_end(store)
    _run_drain(store)
    outcome.seen["prompts written late"] += _write_late(store, said, chance)
    _run_drain(store)
    _look(store, repository, said, outcome)


def _play_agent(
    store: Path, transcript: Path, chance: random.Random, said: _Said, *, kills_hooks: bool
) -> int:
    """Let an agent play, and kill it; return 1, or with `kills_hooks` whether it killed a hook before."""
    first = max(said.begun, default=-1) + 1
    agent = [sys.executable, "-m", "tests.torture.scripted_agent", str(store), str(transcript)]
    agent += [str(chance.randrange(2**32)), str(first), str(int(kills_hooks))]
    before = said.killed_hooks
    with subprocess.Popen(agent, stdout=subprocess.PIPE, text=True, env=_environment(), cwd=_ROOT) as playing:
        assert playing.stdout is not None
        printed = playing.stdout.readline()
        time.sleep(chance.random() * _AGENT_SECONDS)
        has_ended = playing.poll() is not None
        playing.kill()
        said.read(printed + playing.stdout.read(), transcript)
    if has_ended:
        raise RuntimeError("the agent ended by itself")
    return int(not kills_hooks or said.killed_hooks > before)


def _end_session(store: Path, transcript: Path) -> None:
    """Put the event into the spool that a session has ended, without a drain."""
    payload: dict[str, object] = {"hook_event_name": "SessionEnd", "session_id": transcript.stem}
    payload |= {"transcript_path": str(transcript), "cwd": str(transcript.parent)}
    tiermem_hook.keep_event(store / "spool", "claude-code", payload, at=datetime.now(UTC))


def _write_late(store: Path, said: _Said, chance: random.Random) -> int:
    """Write some prompts that only hooks had into their transcripts, as if it was late; return how many."""
    late = 0
    for number in sorted(said.kept):
        transcript, at = said.begun[number]
        written = set(_texts_in(transcript)) if transcript.exists() else set()
        if prompt_of(number) not in written and chance.random() < _WRITTEN_LATE:
            with transcript.open("ab") as file:  # after a line that may be torn
                file.write(b"\n" + record_of(transcript, number, "user", prompt_of(number), at))
            _end_session(store, transcript)
            late += 1
    return late


def _run_drain(store: Path) -> None:
    subprocess.run(_drain(store), check=True, stdout=subprocess.DEVNULL, env=_environment(), cwd=_ROOT)


def _kill_drain(store: Path, chance: random.Random, *, within: float) -> int:
    """Kill a drain, within so many seconds or soon after it stored something; return whether it was alive."""
    before = _bytes_stored(store)
    with subprocess.Popen(_drain(store), stdout=-3, stderr=-3, env=_environment(), cwd=_ROOT) as draining:
        if chance.random() < 0.5:
            time.sleep(chance.random() * within)
        else:
            while draining.poll() is None and _bytes_stored(store) == before:
                time.sleep(0.001)
            time.sleep(chance.random() * _STORING_SECONDS)
        is_alive = draining.poll() is None
        draining.kill()
    return int(is_alive)


def _bytes_stored(store: Path) -> int:
    return sum(file.stat().st_size for file in (store / "spaces").rglob("*.jsonl"))


def _look(store: Path, repository: Path, said: _Said, outcome: Outcome) -> None:
    """Hold what is stored to the transcripts, and to the prompts whose hook ended well."""
    spool = read_spool(store)
    outcome.demand(not spool.events and not spool.unreadable, "an event waits for ever")
    outcome.seen["payloads cut off"] += len(spool.failures)
    (space,) = (one for one in tiermem.spaces(store) if one != "default")
    with tiermem.open(store, space=space, engine="local", embedder="hashed", read_only=True) as memory:
        pages = [memory.page(info.id) for info in memory.pages()] + list(memory.open_pages())
        stored = Counter(line.turn.text for page in pages for line in page.lines if line.turn is not None)
    written = {text for file in repository.glob("*.jsonl") for text in _texts_in(file)}
    expected = written | {prompt_of(number) for number in said.kept}
    possible = {text for number in said.begun for text in (prompt_of(number), reply_of(number))}
    outcome.violations["a turn lost"] += len(expected - stored.keys())
    outcome.violations["a turn stored twice"] += sum(times - 1 for times in stored.values())
    outcome.violations["a turn that was not said"] += len(stored.keys() - possible)
    outcome.violations = +outcome.violations
    outcome.seen["turns stored"] += stored.total()
    outcome.seen["prompts that no transcript has"] += len(expected - written)


def _texts_in(transcript: Path) -> Iterator[str]:
    """The texts of the records of a transcript that are whole."""
    for line in transcript.read_text().split("\n")[:-1]:
        try:
            record = json.loads(line)
        except ValueError:
            continue  # torn by a kill
        yield record["message"]["content"][0]["text"]


def _drain(store: Path) -> list[str]:
    return [sys.executable, "-m", "tiermem", "hook", "drain", "--store", str(store)]


def _environment() -> dict[str, str]:
    return {**os.environ, "TIERMEM_EMBEDDER": "hashed"}


def _let_end(store: Path) -> None:
    """Wait for hooks and drains that nobody waits for; they have the store in their command line."""
    limit = time.monotonic() + _ENDED_AFTER
    while any(_is_of_store(process, store) for process in Path("/proc").glob("[0-9]*")):
        if time.monotonic() > limit:
            raise TimeoutError("a hook or a drain did not end")
        time.sleep(0.05)


def _is_of_store(process: Path, store: Path) -> bool:
    try:
        return os.fsencode(store) in (process / "cmdline").read_bytes().split(b"\0")
    except OSError:
        return False  # it has ended


ROWS = (
    Row(
        name="hooks",
        failure="kill -9 of a coding agent, its hooks and drains at any instant",
        done="SIGKILL to a scripted agent that writes a transcript piece by piece, to the hook it runs at a "
        "prompt, and to drains; some prompts come into their transcripts after all was stored; then every "
        "turn of the transcripts, and every prompt whose hook ended well, is stored once",
        unit="kills",
        count=500,
        share=10,
        minutes=40,
        work=killed_sessions,
    ),
)
