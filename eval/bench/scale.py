"""Wall-clock times of a store on disk and of stores in PostgreSQL, and adds per second by processes.

`python -m eval.bench.scale PLACE SPACE TURNS` is a process that adds, once a line arrives on its input.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from tempfile import TemporaryDirectory
from typing import Literal, TypeAlias
from uuid import uuid4

import tiermem
from eval.bench.data import SESSION, make_questions, make_turns
from tiermem.embedding.hashed import HashEmbedder

QUESTIONS = 20
WRITTEN = 200
"""Turns that each process adds, one by one."""

Row: TypeAlias = tuple[str | int | float, ...]


def measure_stores(url: str, sizes: Sequence[int]) -> Iterator[Row]:
    """Measure each store with each number of turns, in spaces of their own."""
    for size in sizes:
        with TemporaryDirectory() as folder:
            yield ("disk", size, *_times(folder, "embedded", size))
        yield ("PostgreSQL", size, *_times(url, "embedded", size))
        yield ("PostgreSQL, pgvector", size, *_times(url, "pgvector", size))


def _times(place: str, index: Literal["embedded", "pgvector"], size: int) -> list[float]:
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
        return [
            many,
            _median(lambda text: memory.add(text, session="one"), asked),
            _median(memory.search, asked),
            _median(memory.context, asked),
            _median(memory.ask, asked),
            _median(
                lambda turn: memory.erase(turn=turn, session="s0", reason="asked to"), ["t1", "t2", "t3"]
            ),
        ]


def _median(work: Callable[[str], object], texts: Sequence[str]) -> float:
    """The median of milliseconds."""
    taken = []
    for text in texts:
        started = time.perf_counter()
        work(text)
        taken.append(1000 * (time.perf_counter() - started))
    return statistics.median(taken)


def measure_writers(url: str, counts: Sequence[int] = (1, 2, 4), turns: int = WRITTEN) -> Iterator[Row]:
    """Measure adds per second of several processes, each with a space of its own, and all with one."""
    for count in counts:
        common = _new_space()
        own = _added_per_second(url, [_new_space() for _ in range(count)], turns)
        yield count, own, _added_per_second(url, [common] * count, turns)


def _added_per_second(url: str, spaces: Sequence[str], turns: int) -> float:
    writers = [
        subprocess.Popen(  # noqa: S603  # this interpreter
            [sys.executable, "-m", "eval.bench.scale", url, space, str(turns)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for space in spaces
    ]
    for writer in writers:
        assert writer.stdout is not None  # noqa: S101  # a pipe
        writer.stdout.readline()
    started = time.perf_counter()
    for writer in writers:
        assert writer.stdin is not None  # noqa: S101  # a pipe
        writer.stdin.write("\n")
        writer.stdin.flush()
    for writer in writers:
        assert writer.stdout is not None  # noqa: S101  # a pipe
        if writer.stdout.readline() != "added\n":
            raise RuntimeError("a process that adds has failed")
    added = len(spaces) * turns / (time.perf_counter() - started)
    for writer in writers:
        writer.communicate()
    return added


def render_scale(stores: Sequence[Row], writers: Sequence[Row]) -> str:
    """Render both tables as Markdown; times are medians in milliseconds."""
    heads = (
        "| store | turns | turns added a second | add a turn | search | context | ask | erase a turn |",
        "| processes | turns a second, own spaces | turns a second, one space |",
    )
    tables = [
        "\n".join([head, "|---" * (head.count("|") - 1) + "|", *map(_row, rows)])
        for head, rows in zip(heads, (stores, writers), strict=True)
    ]
    return "\n\n".join(tables) + "\n"


def _row(row: Row) -> str:
    return f"| {' | '.join(f'{cell:,.1f}' if isinstance(cell, float) else str(cell) for cell in row)} |"


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
