"""Several processes, and processes that are killed."""

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from pagestore import SessionId, SpaceId, Store
from pagestore.errors import Locked

SPACE = SpaceId("ann")
ROOT = Path(__file__).parents[2]
WRITER = """
import sys
from pagestore import LogOptions, SessionId, SpaceId, Store, Turn
log = Store(sys.argv[1], options=LogOptions(page_tokens=100, segment_bytes=20_000)).open_space(SpaceId("ann"))
for n in range(int(sys.argv[2]), 100_000):
    log.append(SessionId("s"), [Turn(speaker="Ann", text=f"turn {n} " + "so " * (n % 50), turn_id=str(n))])
    print(n, flush=True)
"""
RACER = """
import sys, time
from pagestore import SessionId, SpaceId, Store, Turn
from pagestore.errors import Locked
name, store, refused = sys.argv[2], Store(sys.argv[1]), 0
for n in range(15):
    while True:
        try:
            log = store.open_space(SpaceId("ann"))
            break
        except Locked:
            refused += 1
            time.sleep(0.001)
    log.append(SessionId(name), [Turn(speaker=name, text=f"turn {n}")])
    log.close()
print(refused)
"""


def start(program: str, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", program, *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)


def stored(folder: Path) -> list[int]:
    with Store(folder).open_space(SPACE) as log:
        assert log.verify().ok
        pages = [log.page(info.id) for info in log.pages()]
        open_page = log.open_page(SessionId("s"))
        lines = [line for page in [*pages, *([open_page] if open_page else [])] for line in page.lines]
        return [int(line.turn.text.split()[1]) for line in lines if line.turn]


def test_what_was_acknowledged_survives_kill_9(tmp_path: Path) -> None:
    chance = Random(5)
    resume_at = 0
    for _ in range(6):
        writer = start(WRITER, str(tmp_path), str(max(0, resume_at - 3)))
        acknowledged = list(observe(writer, chance.randrange(5, 120)))
        turns = stored(tmp_path)
        assert turns == list(range(len(turns)))
        assert len(turns) > acknowledged[-1]
        resume_at = len(turns)


def observe(writer: subprocess.Popen[str], count: int) -> Iterator[int]:
    """The acknowledgements of a writer that is killed after `count` of them, and at a random moment."""
    assert writer.stdout is not None
    for _ in range(count):
        yield int(writer.stdout.readline())
    time.sleep(Random(count).random() / 200)
    writer.kill()
    for line in writer.stdout.read().splitlines(keepends=True):
        if line.endswith("\n"):
            yield int(line)
    writer.stdout.close()
    writer.wait()


def test_a_second_process_is_told_who_writes(tmp_path: Path) -> None:
    writer = start(WRITER, str(tmp_path), "0")
    assert writer.stdout is not None
    writer.stdout.readline()
    try:
        with pytest.raises(Locked, match=f"pid {writer.pid} on host "):
            Store(tmp_path).open_space(SPACE)
        with Store(tmp_path).open_space(SPACE, read_only=True) as log:
            assert log.open_page(SessionId("s")) is not None
    finally:
        writer.kill()
        writer.stdout.close()
        writer.wait()
    Store(tmp_path).open_space(SPACE).close()


def test_two_processes_that_race_for_a_log_lose_nothing(tmp_path: Path) -> None:
    racers = [start(RACER, str(tmp_path), name) for name in ("ann", "bob")]
    for racer in racers:
        out, _ = racer.communicate(timeout=60)
        assert racer.returncode == 0, out
    with Store(tmp_path).open_space(SPACE) as log:
        for name in ("ann", "bob"):
            page = log.open_page(SessionId(name))
            assert page is not None
            assert [line.turn.text for line in page.lines if line.turn] == [f"turn {n}" for n in range(15)]
        assert log.verify().ok
