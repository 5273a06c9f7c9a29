"""Threads on one log: two that append, one that does what must be done alone, one that reads.

The system takes the processor away where it hurts: at every sync, and between two records that are folded.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from threading import Event, Thread
from unittest.mock import patch

from pagestore import DiskLog, LogOptions, SessionId, SpaceId, Turn
from pagestore.errors import PageStoreError
from pagestore.files import RealFiles
from pagestore.line import Line
from pagestore.state import State
from tests.pagestore.faults.workload import found_in

SPACE = SpaceId("ann")
WRITERS = (SessionId("ann"), SessionId("bob"))
BATCHES = 12
TOGETHER = 3
"""Turns in one append: a reader sees all of them or none."""
_PAUSE = 0.0004
_HUNG_AFTER = 120


class _Pausing(RealFiles):
    """Every sync lets others go first."""

    def sync(self, fd: int) -> None:
        time.sleep(_PAUSE)


_fold = State.fold


def _fold_and_pause(self: State, line: Line) -> None:
    _fold(self, line)
    time.sleep(_PAUSE / 4)


def broken_logs(seeds: Iterable[int], *, stop_at_first: bool = False) -> Counter[str]:
    """What threads broke, a log for each seed."""
    broken = Counter[str]()
    for seed in seeds:
        with TemporaryDirectory() as folder:
            broken.update(_one_log(folder, seed))
        if stop_at_first and broken:
            break
    return broken


def _one_log(folder: str, seed: int) -> set[str]:
    seen: set[str] = set()
    over = Event()

    def watched(work: Callable[[], None]) -> Callable[[], None]:
        def run() -> None:
            try:
                work()
            except Exception as error:  # noqa: BLE001 - whatever a thread meets is a violation to count
                seen.add(f"{type(error).__name__} in a thread")

        return run

    with ExitStack() as stack:
        stack.enter_context(patch.object(State, "fold", _fold_and_pause))
        log = stack.enter_context(_open(folder, _Pausing()))
        erased: set[int] = set()
        writers = [partial(_append, log, name) for name in WRITERS]
        writers.append(partial(_alone, log, Random(seed), seen, erased))
        threads = [Thread(target=watched(work), daemon=True) for work in writers]
        reader = Thread(target=watched(partial(_read, log, over, seen)), daemon=True)
        for thread in (*threads, reader):
            thread.start()
        for thread in threads:
            thread.join(_HUNG_AFTER)
        over.set()
        reader.join(_HUNG_AFTER)
        if any(thread.is_alive() for thread in (*threads, reader)):
            return seen | {"a thread hung"}
    return seen | set(_reopened(folder, erased))


def _open(folder: str, files: RealFiles) -> DiskLog:
    options = LogOptions(page_tokens=10_000, segment_bytes=6_000)
    return DiskLog(str(Path(folder, "log")), SPACE, options=options, files=files)


def _append(log: DiskLog, name: SessionId) -> None:
    for batch in range(BATCHES):
        numbers = range(batch * TOGETHER, (batch + 1) * TOGETHER)
        log.append(name, [Turn(speaker=name, text=f"turn {n}", turn_id=str(n)) for n in numbers])


def _alone(log: DiskLog, chance: Random, seen: set[str], erased: set[int]) -> None:
    """What takes the log for itself: sealing, erasing, checkpoints, looking everything through."""
    for number in range(BATCHES):
        match chance.randrange(5):
            case 0:
                log.seal(chance.choice(WRITERS))
            case 1:
                log.checkpoint()
            case 2:
                log.record("note", {"number": number})
            case 3:
                found = [turn for turn in found_in(log) if turn.spoken is not None]
                if found:
                    one = chance.choice(found)
                    log.erase(one.page, one.seq, "asked to")
                    erased.add(one.seq)
            case _:
                if not log.verify().ok:
                    seen.add("verify finds damage while others write")


def _read(log: DiskLog, over: Event, seen: set[str]) -> None:
    while not over.is_set():
        for name in WRITERS:
            page = log.open_page(name)
            if page is not None and len(page.lines) % TOGETHER:
                seen.add("a reader saw a part of what was appended together")
        for info in log.pages():
            log.page(info.id)
        list(log.records())
        time.sleep(_PAUSE / 8)


def _reopened(folder: str, erased: set[int]) -> Iterator[str]:
    try:
        with _open(folder, RealFiles()) as log:
            if not log.verify().ok:
                yield "verify finds damage at the next opening"
            for name in WRITERS:
                pages = [log.page(info.id) for info in log.pages(name)]
                opened = log.open_page(name)
                lines = [line for page in (*pages, *([opened] if opened else [])) for line in page.lines]
                told = [line.turn.text if line.turn else None for line in lines]
                numbered = enumerate(lines)
                wanted = [None if line.seq in erased else f"turn {number}" for number, line in numbered]
                if told != wanted or len(told) != BATCHES * TOGETHER:
                    yield "an acknowledged turn lost, doubled, moved, or back from its erasure"
    except PageStoreError as error:
        yield f"the log no longer opens: {type(error).__name__}"
