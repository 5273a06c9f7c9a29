"""What a client does with a log, and what it may then rely on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from random import Random

from pagestore import Checkpoint, DiskLog, LogOptions, PageId, PageLog, SessionId, SpaceId, Turn
from tests.pagestore.faults.simfiles import SimFiles

SPACE = SpaceId("space")
DIRECTORY = "/log"
Step = Callable[[DiskLog, "Expected"], None]
_ENDINGS = ("", "\n[x] Eve: hi", "\u2028é", '","c":"00000000"}')


class Letters:
    """Counts letters in place of tokens."""

    name = "letters"

    def count(self, text: str) -> int:
        return len(text)


@dataclass(frozen=True, slots=True)
class Spoken:
    """A turn a client submitted."""

    session: SessionId
    turn: Turn

    @property
    def canary(self) -> bytes:
        """Bytes that stand in this turn's line and nowhere else."""
        return self.turn.text.partition(" ")[0].encode()


@dataclass(slots=True)
class Expected:
    """What was submitted, and how much of it was acknowledged."""

    spoken: list[Spoken] = field(default_factory=list)
    acknowledged: int = 0
    records: list[int] = field(default_factory=list)
    records_acknowledged: int = 0
    pages: dict[PageId, tuple[SessionId, int]] = field(default_factory=dict)
    checkpoints: list[Checkpoint] = field(default_factory=list)
    erasing: set[int] = field(default_factory=set)
    erased: set[int] = field(default_factory=set)


def open_log(files: SimFiles, seed: int) -> DiskLog:
    """A log on these files, with the options of this seed."""
    return DiskLog(DIRECTORY, SPACE, options=options(seed), files=files)


def options(seed: int) -> LogOptions:
    """Small pages and segments, and salt and time that repeat."""
    numbers, moments = count(1), count()
    return LogOptions(
        page_tokens=600,
        hard_limit=1,
        segment_bytes=3_000,
        counter=Letters(),
        salt=lambda _: f"{seed:04x}{next(numbers):012x}".encode(),
        clock=lambda: datetime(2024, 1, 1, tzinfo=UTC) + timedelta(seconds=next(moments)),
    )


@dataclass(frozen=True, slots=True)
class Found:
    """A turn a reader finds: its number, its page, and what was said unless it was erased."""

    seq: int
    page: PageId
    spoken: Spoken | None


def found_in(log: PageLog) -> list[Found]:
    """Every turn a reader finds, parts joined, in the order of the log."""
    pages = [log.page(info.id) for info in log.pages()]
    pages += [page for session in log.sessions() if (page := log.open_page(session)) is not None]
    lines = sorted(
        ((line.seq, line, page) for page in pages for line in page.lines), key=lambda each: each[0]
    )
    turns: list[Found] = []
    text = ""
    for seq, line, page in lines:
        text = text if line.part > 1 else ""
        if line.turn is not None:
            text += line.turn.text
        if line.part == line.parts:
            turn = line.turn and Turn(speaker=line.turn.speaker, text=text, turn_id=line.turn.turn_id)
            turns.append(Found(seq, page.id, Spoken(page.session, turn) if turn else None))
    return turns


def seen(log: DiskLog) -> list[Spoken | None]:
    """What was said, in the order of the log; `None` for an erased turn."""
    return [found.spoken for found in found_in(log)]


def script(seed: int, length: int = 14) -> list[Step]:
    """A client's day: turns one by one and in batches, seals, checkpoints, records, erasures, repeats."""
    chance = Random(seed)
    numbers = count(1)
    return [_step(chance, numbers) for _ in range(length)]


def _step(chance: Random, numbers: count[int]) -> Step:
    session = SessionId(f"s{chance.randint(0, 1)}")
    kind = chance.random()
    if kind < 0.5:
        return _speak([_spoken(chance, session, next(numbers))])
    if kind < 0.75:
        return _speak([_spoken(chance, session, next(numbers)) for _ in range(chance.randint(2, 6))])
    if kind < 0.81:
        return lambda log, expected: _seal(log, expected, session)
    if kind < 0.85:
        return _checkpoint
    if kind < 0.89:
        return _record(next(numbers))
    if kind < 0.97:
        return _erase(chance.randrange(1000))
    return _repeat


def _spoken(chance: Random, session: SessionId, number: int) -> Spoken:
    text = f"<t{number}> " + "x" * chance.choice([0, 3, 40, 300, 900]) + chance.choice(_ENDINGS)
    turn = Turn(speaker="Ann" if number & 1 else "Bob", text=text, turn_id=f"k{number}")
    return Spoken(session, turn)


def _speak(spoken: list[Spoken]) -> Step:
    def step(log: DiskLog, expected: Expected) -> None:
        expected.spoken += spoken
        log.append(spoken[0].session, [each.turn for each in spoken])
        expected.acknowledged = len(expected.spoken)
        _note_pages(log, expected)

    return step


def _repeat(log: DiskLog, expected: Expected) -> None:
    for each in expected.spoken[-2:]:
        log.append(each.session, [each.turn])


def _seal(log: DiskLog, expected: Expected, session: SessionId) -> None:
    log.seal(session)
    _note_pages(log, expected)


def _checkpoint(log: DiskLog, expected: Expected) -> None:
    expected.checkpoints.append(log.checkpoint())


def _record(number: int) -> Step:
    def step(log: DiskLog, expected: Expected) -> None:
        expected.records.append(number)
        log.record("note", {"number": number})
        expected.records_acknowledged = len(expected.records)

    return step


def _erase(which: int) -> Step:
    def step(log: DiskLog, expected: Expected) -> None:
        erase(log, expected, which)

    return step


def erase(log: DiskLog, expected: Expected, which: int) -> None:
    """Erase one of the turns there are."""
    turns = found_in(log)
    if not turns:
        return
    index = which % len(turns)
    expected.erasing.add(index)
    log.erase(turns[index].page, turns[index].seq, "asked to")
    expected.erased.add(index)


def _note_pages(log: DiskLog, expected: Expected) -> None:
    expected.pages = {info.id: (info.session, info.number) for info in log.pages()}
