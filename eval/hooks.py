"""What the hooks of coding agents cost: keeping an event, and what a new session is given.

Each event is a process of its own, as an agent starts it, beside a store with a repository's sessions. A
profile is measured in this process, on an open memory. All turns are made up; nothing but time is measured.
"""

from __future__ import annotations

import json
import math
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import tiermem
from eval.bench.data import make_turns
from pagestore import SessionId, Turn
from tiermem.apps.hooks.events import read_spool
from tiermem.dialogue import Conversation, DialogueSession
from tiermem.dialogue.agent_spaces import space_of_directory

_SESSION = 100
"""Turns of a session."""
_CALL = ("assistant", "assistant", "agent", "tool_call")
_RESULT = ("tool", "tool", "program", "tool_result")
_KINDS = (
    ("user", "user", "person", "prompt"),
    *(_CALL, _RESULT) * 4,
    ("assistant", "assistant", "agent", "reply"),
)
"""Turns from a prompt to the next one: speaker, role, author and kind."""
_START = datetime(2026, 1, 1, tzinfo=UTC)
_DRAINING = "Stop"
"""The event after which the hook starts a drain."""
_WARMING_UP = 2
"""Runs before the first one that counts."""
_DRAINED_AFTER = 60.0
"""Seconds within which a drain must have ended."""


@dataclass(frozen=True, kw_only=True)
class EventCost:
    """Runs of the hook at one event, or of `profile`: milliseconds on the clock, seconds of processor time.

    Of both the median, of the first also what 95 % of the runs take at most. `characters` are those that it
    printed.
    """

    event: str
    turns: int
    runs: int
    median_ms: float
    p95_ms: float
    processor_s: float
    most_processor_s: float
    characters: int


def measure_hooks(turns: int, *, runs: int, appends: int) -> Iterator[EventCost]:
    """Measure the hook at a prompt (`appends` runs), at the end of a turn and of a new session, and a profile
    of at most 1,000 tokens (`runs` each).

    The store has a space of one repository with so many turns.
    """
    with TemporaryDirectory() as folder:
        repository, store = Path(folder, "loom"), Path(folder, "memory")
        (repository / ".git").mkdir(parents=True)
        _fill(store, repository, turns)
        known = {"session_id": "s0", "cwd": str(repository), "transcript_path": f"{folder}/none.jsonl"}
        for event, count, fields in (
            ("UserPromptSubmit", appends, {"prompt": "Weave a rug of wool, and then bake a cake. " * 5}),
            (_DRAINING, runs, {}),
            ("SessionStart", runs, {"source": "startup"}),
        ):
            payload = {**known, **fields, "hook_event_name": event}
            yield _cost_of(event, turns, [_run(store, payload) for _ in range(_WARMING_UP + count)])
        space = space_of_directory(str(repository), ()) or "default"
        with tiermem.open(store, space=space, engine="local", embedder="hashed", read_only=True) as memory:
            yield _cost_of("profile", turns, [_read_profile(memory) for _ in range(_WARMING_UP + runs)])


def _fill(store: Path, repository: Path, turns: int) -> None:
    space = space_of_directory(str(repository), ())
    texts = make_turns(turns)
    sessions = tuple(
        DialogueSession(
            session=SessionId(f"claude-code:s{first // _SESSION}"),
            turns=tuple(_turn(number, next(texts)) for number in range(first, min(first + _SESSION, turns))),
            has_records=True,
        )
        for first in range(0, turns, _SESSION)
    )
    with tiermem.open(store, space=space or "default", engine="local", embedder="hashed") as memory:
        memory.ingest(Conversation(space_hint=None, sessions=sessions))


def _turn(number: int, text: str) -> Turn:
    speaker, role, author, kind = _KINDS[number % len(_KINDS)]
    return Turn(
        speaker=speaker,
        role=role,
        text=text,
        said_at=_START + timedelta(minutes=number),
        turn_id=f"r{number}/0",
        metadata={"author": author, "kind": kind, "agent": "claude-code", "record": f"r{number}"},
    )


def _cost_of(event: str, turns: int, all_measured: Sequence[tuple[float, float, int]]) -> EventCost:
    measured = all_measured[_WARMING_UP:]
    walls = sorted(wall for wall, _, _ in measured)
    processor = sorted(used for _, used, _ in measured)
    return EventCost(
        event=event,
        turns=turns,
        runs=len(measured),
        median_ms=_at_share(walls, 0.5),
        p95_ms=_at_share(walls, 0.95),
        processor_s=_at_share(processor, 0.5),
        most_processor_s=processor[-1],
        characters=measured[-1][2],
    )


def _run(store: Path, payload: dict[str, Any]) -> tuple[float, float, int]:
    """Run the hook once: milliseconds on the clock, seconds of processor time, characters printed.

    The time of a drain in the background is not in it, and no later run begins before that is done.
    """
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-P", "-m", "tiermem_hook", "claude-code", str(store)]
    used, began = _processor_seconds(), time.perf_counter()
    done = subprocess.run(  # noqa: S603  # this interpreter
        command, input=json.dumps(payload).encode(), capture_output=True, check=True, env=environment
    )
    wall, used = time.perf_counter() - began, _processor_seconds() - used
    if payload["hook_event_name"] == _DRAINING:
        _wait_for_drain(store)
    return wall * 1000, used, len(done.stdout.decode())


def _read_profile(memory: tiermem.Memory) -> tuple[float, float, int]:
    """Read a profile once: as `_run`."""
    used, began = time.process_time(), time.perf_counter()
    text = memory.profile(max_tokens=1000).text
    return (time.perf_counter() - began) * 1000, time.process_time() - used, len(text)


def _wait_for_drain(store: Path) -> None:
    limit = time.monotonic() + _DRAINED_AFTER
    while any(event.name == _DRAINING for event in read_spool(store).events):
        if time.monotonic() > limit:
            raise TimeoutError(f"the spool of {str(store)!r} was not drained")
        time.sleep(0.05)


def _processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _at_share(values: Sequence[float], share: float) -> float:
    """The least of sorted values that is at least so large as this share of them."""
    return values[max(0, math.ceil(share * len(values)) - 1)]


def costs_page(costs: Sequence[EventCost]) -> str:
    """A table with a row for each event, and one for a profile."""
    lines = [
        "| event | turns in the space | runs | median | p95 | processor time, median | largest | printed |",
        "|---|---|---|---|---|---|---|---|",
    ]
    lines.extend(
        f"| `{one.event}` | {one.turns:,} | {one.runs} | {one.median_ms:.0f} ms | {one.p95_ms:.0f} ms "
        f"| {one.processor_s:.2f} s | {one.most_processor_s:.2f} s | {one.characters:,} characters |"
        for one in costs
    )
    return "\n".join(lines)
