"""What share of the nearest entries an index in PostgreSQL finds, and in which time.

`python -m eval.bench.nearest URL DATA` compares it with an index in memory, which compares every vector, on
turns of LoCoMo and LongMemEval below the folder `DATA`.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Annotated, Any, Final, Literal
from uuid import uuid4

import anyio
import typer

from eval.arrange import opened_embedder
from eval.datasets import LoCoMo, LongMemEval
from eval.types import Case
from pagestore import MemoryLog, SessionId, SpaceId, Turn
from tiermem.embedding.interface import Embedder
from tiermem.index.interface import Index
from tiermem.index.postgres import PostgresIndex
from tiermem.index.row_index import RowIndex
from tiermem.index.values import Entry, TurnContext, turn_id

LIMIT: Final = 10
"""Entries that a search looks for."""
QUESTIONS: Final = 100
_LENGTH: Final = 400
"""Characters of a turn that are kept."""
_OWNERS: Final = ("", *(f"owner-{number}" for number in range(9)))
"""Owners of entries; entries of the first are seen by all."""
_UNIT_EVERY: Final = 3
"""Of the turns every so many-th is a unit as well."""
_TIE: Final = 1e-5
"""Difference of scores below which entries count as equally near."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Nearest:
    """Searches of one kind: milliseconds (medians), and the share of the nearest that PostgreSQL finds."""

    turns: int
    seen: str
    memory_ms: float
    postgres_ms: float
    share: float


async def measure_nearest(
    url: str, entries: Sequence[Entry], questions: Sequence[str], *, embedder: Embedder
) -> list[Nearest]:
    """Put entries into both indexes, as turns and some of them as units, and search by meaning."""
    space = SpaceId(f"nearest-{uuid4().hex[:12]}@1")
    exact, measured = RowIndex(embedder), PostgresIndex(url, embedder)
    try:
        for index in (exact, measured):
            await index.put(space, "turns", entries)
            await index.put(space, "units", entries[::_UNIT_EVERY])
        await embedder.embed(questions)
        searches: Mapping[str, tuple[Literal["turns", "units"], dict[str, Any]]] = {
            "all turns": ("turns", {}),
            "turns of one owner, and shared ones": ("turns", {"owners": [_OWNERS[1]]}),
            "turns of one session": ("turns", {"session": entries[0].session}),
            "all units": ("units", {}),
        }
        return [
            await _compare(exact, measured, space, name, questions, collection=collection, **filters)
            for name, (collection, filters) in searches.items()
        ]
    finally:
        await measured.drop(space)
        await measured.close()
        await exact.close()


async def _compare(
    exact: Index, measured: Index, space: SpaceId, seen: str, questions: Sequence[str], **given: Any
) -> Nearest:
    shares: list[float] = []
    times: dict[Index, list[float]] = {exact: [], measured: []}
    for question in questions:
        hits = {}
        for index, taken in times.items():
            started = time.perf_counter()
            hits[index] = await index.search(space, query=question, limit=LIMIT, mode="dense", **given)
            taken.append(1000 * (time.perf_counter() - started))
        if hits[exact]:
            lowest = hits[exact][-1].score - _TIE
            shares.append(sum(hit.score >= lowest for hit in hits[measured]) / len(hits[exact]))
    turns = await exact.count(space, "turns")
    return Nearest(
        turns=turns,
        seen=seen,
        memory_ms=statistics.median(times[exact]),
        postgres_ms=statistics.median(times[measured]),
        share=statistics.fmean(shares),
    )


def make_entries(cases: Iterator[Case]) -> Iterator[Entry]:
    """Make an entry of each turn, of an owner drawn by chance."""
    chance = random.Random(3)  # noqa: S311  # no secret
    log = MemoryLog()
    for case in cases:
        for session in case.sessions:
            name = SessionId(f"{case.id}-{session.id}")
            log.append(name, [Turn(speaker=turn.speaker, text=turn.text[:_LENGTH]) for turn in session.turns])
    log.seal()
    for page in (log.page(info.id) for info in log.pages()):
        for number, line in enumerate(page.lines):
            if line.turn is not None:
                yield Entry(
                    id=turn_id(line.seq),
                    session=page.session,
                    text=line.turn.text,
                    owner=chance.choice(_OWNERS),
                    context=TurnContext(page=page, line=number, around=line.turn.text),
                )


def render_nearest(rows: Sequence[Nearest]) -> str:
    """Render the rows as a table in Markdown."""
    head = "| turns | searched | in memory, ms | PostgreSQL, ms | share of the nearest |"
    return "\n".join([head, "|---|---|---|---|---|", *map(_row, rows)])


def _row(row: Nearest) -> str:
    times = f"{row.memory_ms:.1f} | {row.postgres_ms:.1f}"
    return f"| {row.turns:,} | {row.seen} | {times} | {row.share:.3f} |"


def main(
    url: Annotated[str, typer.Argument(help="A database with pgvector.")],
    data: Annotated[Path, typer.Argument(help="The folder of data, with a folder for each source.")],
    sizes: Annotated[str, typer.Option(help="Numbers of turns.")] = "1000,4000,10000",
) -> None:
    """Print the table of every size."""
    locomo = LoCoMo(data / "locomo" / "locomo_dev7.json")
    haystacks = LongMemEval(data / "longmemeval" / "longmemeval_s_cleaned_dev100.json.xz")
    asked = [question.text for case in locomo.cases() for question in case.questions]
    questions = random.Random(1).sample(asked, QUESTIONS)  # noqa: S311  # no secret

    async def measure(size: int) -> list[Nearest]:
        entries = list(islice(make_entries(chain(locomo.cases(), haystacks.cases())), size))
        with opened_embedder("int8", 1, None) as embedder:
            return await measure_nearest(url, entries, questions, embedder=embedder)

    rows = [row for size in sizes.split(",") for row in anyio.run(measure, int(size))]
    print(render_nearest(rows))  # noqa: T201


if __name__ == "__main__":
    typer.run(main)
