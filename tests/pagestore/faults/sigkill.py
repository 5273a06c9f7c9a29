"""Real processes on the real file system, ended by SIGKILL; an observer knows what they acknowledged.

Each process is forked, opens the log, sends again the last turns it may have lost, and goes on: turns one
by one and in batches, seals, records, erasures. Each acknowledgement goes down a pipe that outlives it.

When it dies is drawn: at once, while it opens the log; at one of its acknowledgements, before it does
anything more; or at any moment. A moment alone would nearly always fall into an fsync, the slower the disk
and the busier the machine, and so would hardly ever show a log that acknowledges before it has written.
"""

from __future__ import annotations

import itertools
import os
import random
import select
import signal
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from pagestore import DiskLog, LogOptions, SessionId, SpaceId, Turn
from pagestore.errors import PageStoreError
from tests.pagestore.faults.mutants import Mutant
from tests.pagestore.faults.workload import found_in

SPACE = SpaceId("ann")
LIVES = 12
"""Processes that go on with one log before the next log begins."""


@dataclass(slots=True)
class Promised:
    """What was acknowledged: turns and records by number, and the turns whose words must be gone."""

    turns: int = 0
    records: int = 0
    erased: set[int] = field(default_factory=set)
    erasing: set[int] = field(default_factory=set)


def killed(kills: int, seed: int, bug: Mutant = nullcontext) -> tuple[Counter[str], int]:
    """What was broken in so many killed processes, and how many acknowledgements were held against the log.

    The processes, and not the observer, run with `bug`.
    """
    chance, broken, promises = random.Random(seed), Counter[str](), 0
    while kills > 0:
        with TemporaryDirectory() as folder:
            promised, log_folder = Promised(), Path(folder, "log")
            for _ in range(min(kills, LIVES)):
                kills -= 1
                acknowledged = list(_one_life(log_folder, chance, bug))
                promises += len(acknowledged)
                _note(promised, acknowledged)
                broken.update(_look(log_folder, promised))
    return broken, promises


def _one_life(folder: Path, chance: random.Random, bug: Mutant) -> Iterator[str]:
    """Fork, let live for a moment, kill; yields what it acknowledged."""
    reading, writing = os.pipe()
    seed, kind = chance.randrange(2**32), chance.random()
    last = chance.choice([1, 2, 3, 5]) if kind < 0.4 else None
    pid = os.fork()
    if pid == 0:
        try:
            os.close(reading)
            with bug():
                _live(folder, random.Random(seed), writing, last)
        finally:
            os._exit(1)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        said = list(itertools.islice(pipe, last)) if last is not None else []
        if last is None:
            if kind < 0.8:  # the others die at once, while they open the log or are born
                select.select([pipe], [], [], 30)
            time.sleep(chance.random() ** 2 * 0.04)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        for line in (*said, *pipe.read().splitlines(keepends=True)):
            if line.endswith(b"\n"):
                yield line.decode().strip()


def _live(folder: Path, chance: random.Random, acknowledge: int, last: int | None) -> None:
    """Work on; after acknowledgement number `last` wait for the end."""
    spoken_of = itertools.count(1)

    def say(text: str) -> None:
        os.write(acknowledge, f"{text}\n".encode())
        if next(spoken_of) == last:
            signal.pause()

    log = DiskLog(str(folder), SPACE, options=LogOptions(page_tokens=80, segment_bytes=4_000))
    turn, record = len(found_in(log)), len(list(log.records(kinds=frozenset({"note"}))))
    turn = max(0, turn - 3)
    while True:
        count = chance.choice([1, 1, 1, 4])
        log.append(SessionId("s"), [spoken(number) for number in range(turn, turn + count)])
        turn += count
        say(f"turns {turn}")
        match chance.randrange(8):
            case 0:
                log.seal()
            case 1:
                log.record("note", {"number": record})
                record += 1
                say(f"records {record}")
            case 2:
                found = found_in(log)
                number = chance.randrange(len(found))
                say(f"erasing {number}")
                log.erase(found[number].page, found[number].seq, "asked to")
                say(f"erased {number}")
            case 3:
                log.checkpoint()


def spoken(number: int) -> Turn:
    """The turn of a number, with a word in it that stands nowhere else."""
    return Turn(speaker="Ann", text=f"<t{number}> " + "so " * (number * 7 % 50), turn_id=f"k{number}")


def _note(promised: Promised, acknowledged: list[str]) -> None:
    for line in acknowledged:
        kind, number = line.split()
        match kind:
            case "turns":
                promised.turns = max(promised.turns, int(number))
            case "records":
                promised.records = max(promised.records, int(number))
            case "erasing":
                promised.erasing.add(int(number))
            case _:
                promised.erased.add(int(number))


def _look(folder: Path, promised: Promised) -> Iterator[str]:
    """Open the log as the next process would and hold it to what was promised."""
    if not folder.exists():
        if promised.turns:
            yield "the log is gone"
        return
    try:
        yield from _wrong_in(folder, promised)
    except PageStoreError as error:
        yield f"the log no longer opens: {type(error).__name__}"


def _wrong_in(folder: Path, promised: Promised) -> Iterator[str]:
    with DiskLog(str(folder), SPACE, options=LogOptions(page_tokens=80, segment_bytes=4_000)) as log:
        found = [turn.spoken.turn if turn.spoken else None for turn in found_in(log)]
        notes = [record.body["number"] for record in log.records(kinds=frozenset({"note"}))]
        if not log.verify().ok:
            yield "verify finds damage"
    if notes != list(range(len(notes))) or len(notes) < promised.records:
        yield "a record lost or doubled"
    yield from _wrong_turns(found, promised)
    content = b"".join(path.read_bytes() for path in folder.iterdir())
    if any(f"<t{number}>".encode() in content for number in promised.erased):
        yield "erased words are in a file"


def _wrong_turns(found: list[Turn | None], promised: Promised) -> Iterator[str]:
    if len(found) < promised.turns:
        yield "an acknowledged turn lost"
    for number, turn in enumerate(found):
        if turn is None and number not in promised.erasing:
            yield "a turn vanished that nobody erased"
        if turn is not None and (turn != spoken(number) or number in promised.erased):
            yield "a turn nobody submitted there, or one that was erased"
