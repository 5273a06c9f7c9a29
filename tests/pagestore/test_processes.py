"""Several processes, and processes that are killed."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

import pytest

from pagestore import DiskLog, LogOptions, SessionId, SpaceId, Store, Turn
from pagestore.errors import Locked, SpaceNotFound
from pagestore.files import RealFiles

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
        return numbers_in(log)


def numbers_in(log: DiskLog) -> list[int]:
    """The numbers of the turns of the session, in order, without those that are erased."""
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
            assert log.sessions() == (SessionId("s"),)
            assert numbers_in(log)[:1] == [0]
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


class WatchedFiles(RealFiles):
    """Calls `look` before and after each call that changes a file, and in the middle of each write."""

    def __init__(self) -> None:
        self.look: Callable[[], None] = lambda: None

    def open(self, path: str, *, write: bool, create: bool = False) -> int:
        opened = super().open(path, write=write, create=create)
        if create:
            self.look()
        return opened

    def write(self, fd: int, data: bytes, offset: int) -> int:
        self.look()
        half = super().write(fd, data[: len(data) // 2], offset)
        self.look()
        return half + super().write(fd, data[half:], offset + half)

    def truncate(self, fd: int, size: int) -> None:
        self.look()
        super().truncate(fd, size)
        self.look()

    def sync(self, fd: int) -> None:
        self.look()
        super().sync(fd)
        self.look()


def said(number: int) -> Turn:
    return Turn(speaker="Ann", text=f"turn {number} " + "so " * 20, turn_id=str(number))


def append(log: DiskLog, *numbers: int) -> None:
    log.append(SessionId("s"), [said(number) for number in numbers])


def erase_first(log: DiskLog) -> None:
    page = next((log.page(info.id) for info in log.pages()), None) or log.open_page(SessionId("s"))
    assert page is not None
    log.erase(page.id, page.lines[0].seq, "asked for")


def seal(log: DiskLog) -> None:
    log.seal(SessionId("s"))


Step = Callable[[DiskLog], None]
Moment = tuple[list[Step], Step, list[int], list[int]]
"""What is done before, what is done while others open the log, and the turns there before and after."""
MOMENTS: dict[str, Moment] = {
    "the first turn ever": ([], lambda log: append(log, 0), [], [0]),
    "several first turns": ([], lambda log: append(log, 0, 1, 2), [], [0, 1, 2]),
    "a page that is sealed": ([lambda log: append(log, 0, 1)], seal, [0, 1], [0, 1]),
    "no page is open": ([lambda log: append(log, 0), seal], lambda log: append(log, 1), [0], [0, 1]),
    "a turn that fills its page": (
        [lambda log: append(log, 0)],
        lambda log: append(log, 1, 2, 3, 4, 5),
        [0],
        [0, 1, 2, 3, 4, 5],
    ),
    "a turn that is erased": ([lambda log: append(log, 0, 1)], erase_first, [0, 1], [1]),
    "a turn of a sealed page that is erased": (
        [lambda log: append(log, 0, 1), seal, lambda log: append(log, 2)],
        erase_first,
        [0, 1, 2],
        [1, 2],
    ),
    "a turn after an erasure": (
        [lambda log: append(log, 0, 1), erase_first],
        lambda log: append(log, 2),
        [1],
        [1, 2],
    ),
    "a new file": (
        [lambda log: append(log, *range(6)), lambda log: append(log, *range(6, 12))],
        lambda log: append(log, 12),
        list(range(12)),
        list(range(13)),
    ),
}


@pytest.mark.parametrize("openings", [1, 4])
@pytest.mark.parametrize("moment", MOMENTS.values(), ids=MOMENTS)
def test_a_read_only_opening_at_any_moment_of_a_write_reads_what_was_there_before_or_after(
    tmp_path: Path, moment: Moment, openings: int
) -> None:
    before, step, old, new = moment
    files, seen = WatchedFiles(), list[list[int]]()
    options = LogOptions(page_tokens=100, segment_bytes=2_000)
    allowed = [new[: len(old) + n] for n in range(len(new) - len(old) + 1)] if new[: len(old)] == old else []

    def read(_: int) -> list[int]:
        try:
            with Store(tmp_path, read_only=True).open_space(SPACE, read_only=True) as log:
                found = numbers_in(log)
                assert log.verify().ok
                return found
        except SpaceNotFound:
            return []

    def look() -> None:
        found = [*pool.map(read, range(openings))]
        assert all(one in [old, new, *allowed] for one in found), found
        seen.extend(found)

    store = Store(tmp_path, options=options, files=files)
    with ThreadPoolExecutor(openings) as pool, store.open_space(SPACE) as log:
        for each in before:
            each(log)
        files.look = look
        step(log)
        files.look = lambda: None
        look()
    assert seen[0] == old
    assert seen[-1] == new
    assert len(seen) > 3 * openings
