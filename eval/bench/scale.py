"""Wall-clock times of a store on disk and of stores in PostgreSQL, and adds per second by processes.

`python -m eval.bench.scale PLACE SPACE TURNS` is a process that adds, once a line arrives on its input.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from tempfile import TemporaryDirectory
from threading import Timer
from typing import Literal
from uuid import uuid4

import tiermem
from eval.bench.data import SESSION, make_questions, make_turns
from tiermem.embedding.hashed import HashEmbedder

QUESTIONS = 20
WRITTEN = 200
"""Turns that each process adds, one by one."""
LIMIT = 600.0
"""Seconds after which processes that add are killed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreTimes:
    """Times of one store; those of calls are medians in milliseconds."""

    store: str
    turns: int
    added_per_second: float
    add_ms: float
    search_ms: float
    context_ms: float
    ask_ms: float
    erase_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class WriterRates:
    """Turns a second that processes add together, each to a space of its own or all to one."""

    processes: int
    own_spaces: float
    one_space: float


def measure_stores(url: str, sizes: Sequence[int]) -> Iterator[StoreTimes]:
    """Measure each store with each number of turns, in spaces of their own."""
    for size in sizes:
        with TemporaryDirectory() as folder:
            yield _measure_store("disk", folder, "embedded", size)
        yield _measure_store("PostgreSQL", url, "embedded", size)
        yield _measure_store("PostgreSQL, pgvector", url, "pgvector", size)


def _measure_store(store: str, place: str, index: Literal["embedded", "pgvector"], size: int) -> StoreTimes:
    turns = list(make_turns(size))
    with tiermem.open(
        place, space=_new_space(), engine="local", embedder=HashEmbedder(), index=index
    ) as memory:
        started = time.perf_counter()
        for start in range(0, size, SESSION):
            said = [
                {"speaker": "Ann", "text": text, "id": f"t{start + n}"}
                for n, text in enumerate(turns[start : start + SESSION])
            ]
            memory.add(said, session=f"s{start // SESSION}")
        memory.flush()
        many = size / (time.perf_counter() - started)
        asked = [question.text for question in make_questions(turns, QUESTIONS)]
        return StoreTimes(
            store=store,
            turns=size,
            added_per_second=many,
            add_ms=_median(lambda text: memory.add(text, session="one"), asked),
            search_ms=_median(memory.search, asked),
            context_ms=_median(memory.context, asked),
            ask_ms=_median(memory.ask, asked),
            erase_ms=_median(
                lambda turn: memory.erase(turn=turn, session="s0", reason="asked to"), ["t1", "t2", "t3"]
            ),
        )


def _median(work: Callable[[str], object], texts: Sequence[str]) -> float:
    """The median of milliseconds."""
    taken = []
    for text in texts:
        started = time.perf_counter()
        work(text)
        taken.append(1000 * (time.perf_counter() - started))
    return statistics.median(taken)


def measure_writers(
    url: str, counts: Sequence[int] = (1, 2, 4), *, turns: int = WRITTEN, limit: float = LIMIT
) -> Iterator[WriterRates]:
    """Measure adds per second of several processes, each with a space of its own, and all with one.

    Raises `RuntimeError` where one of them fails or takes longer than `limit` seconds.
    """
    for count in counts:
        own = _added_per_second(url, [_new_space() for _ in range(count)], turns, limit)
        common = _added_per_second(url, [_new_space()] * count, turns, limit)
        yield WriterRates(processes=count, own_spaces=own, one_space=common)


def _added_per_second(url: str, spaces: Sequence[str], turns: int, limit: float) -> float:
    writers = [
        subprocess.Popen(  # noqa: S603  # this interpreter
            [sys.executable, "-m", "eval.bench.scale", url, space, str(turns)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for space in spaces
    ]
    with _killing(writers, limit):
        for writer in writers:
            _expect(writer, "open")
        started = time.perf_counter()
        for writer in writers:
            assert writer.stdin is not None  # noqa: S101  # a pipe
            writer.stdin.write("\n")
            writer.stdin.flush()
        for writer in writers:
            _expect(writer, "added")
        return len(spaces) * turns / (time.perf_counter() - started)


@contextmanager
def _killing(processes: Sequence[subprocess.Popen[str]], limit: float) -> Iterator[None]:
    """Kill the processes after `limit` seconds and when the block fails; wait until they have ended."""

    def kill() -> None:
        for process in processes:
            process.kill()

    timer = Timer(limit, kill)
    timer.start()
    try:
        yield
    except BaseException:
        kill()
        raise
    finally:
        for process in processes:
            process.communicate()
        timer.cancel()


def _expect(writer: subprocess.Popen[str], line: str) -> None:
    assert writer.stdout is not None  # noqa: S101  # a pipe
    if writer.stdout.readline() != f"{line}\n":
        raise RuntimeError("a process that adds has failed, or was killed because it took too long")


def render_scale(stores: Sequence[StoreTimes], writers: Sequence[WriterRates]) -> str:
    """Render both tables as Markdown; times are medians in milliseconds."""
    tables = (
        _table(
            "| store | turns | turns added a second | add a turn | search | context | ask | erase a turn |",
            stores,
        ),
        _table("| processes | turns a second, own spaces | turns a second, one space |", writers),
    )
    return "\n\n".join(tables) + "\n"


def _table(head: str, rows: Sequence[StoreTimes | WriterRates]) -> str:
    return "\n".join([head, "|---" * (head.count("|") - 1) + "|", *map(_row, rows)])


def _row(row: StoreTimes | WriterRates) -> str:
    cells = (f"{cell:,.1f}" if isinstance(cell, float) else str(cell) for cell in astuple(row))
    return f"| {' | '.join(cells)} |"


def _new_space() -> str:
    return f"bench-{uuid4().hex[:12]}"


def main(place: str, space: str, turns: str) -> None:
    """Open a space, wait for a line, add turns one by one."""
    with tiermem.open(place, space=space, engine="local", embedder=HashEmbedder()) as memory:
        print("open", flush=True)  # noqa: T201
        sys.stdin.readline()
        session = str(uuid4())
        for text in make_turns(int(turns)):
            memory.add(text, session=session)
        print("added", flush=True)  # noqa: T201


if __name__ == "__main__":
    main(*sys.argv[1:])
