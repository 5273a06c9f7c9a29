"""What the product finds for every question of a dataset: the turns it ranks first.

So that training and use see the same text, passages of dialogue are made of nothing else. A dataset is one
file, a line a question; conversations that stand in it already are not asked again.
"""

from __future__ import annotations

import multiprocessing
import os
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import anyio
from anyio import to_thread

from eval.progress import Watcher
from eval.research.training.data.by_case import case_by_case, read_values
from eval.systems.tiermem import TierMem
from eval.types import Case, CaseId, Dataset, Passage, QuestionId
from pagestore import SessionId, TokenCounter
from tiermem.embedding.interface import Embedder
from tiermem.llm.tokens import token_counter
from tiermem.reasoning import Engine, engine_named

OpensEmbedder = Callable[[], AbstractContextManager[Embedder]]
"""Opens an embedder in whatever process it is called in, and closes it."""

TURNS: Final = 10
"""Turns kept of what is found: five are read, ten are ranked."""
_TOGETHER: Final = 8
"""The most conversations that a process is given at once; they are kept when all of them are done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What one question found: its turns, best first."""

    case: CaseId
    question: QuestionId
    turns: tuple[Passage, ...]


async def find_all(
    dataset: Dataset, file: Path, *, embedder: OpensEmbedder, watcher: Watcher
) -> dict[QuestionId, Found]:
    """Ask every question of the dataset once, or read what an earlier run found in `file`. Conversations are
    shared out to as many processes as there are processors.

    `InvalidInput` where the file is about other data or another embedder.
    """

    async def find(cases: Sequence[Case]) -> AsyncIterator[Sequence[Found]]:
        async for found in _in_processes(cases, embedder):
            for one in found:
                watcher.step("found", one.case)
            yield found

    with embedder() as opened:
        about = {"data": dataset.checksum, "embedder": opened.name}
    found = await case_by_case("find", dataset, file, about=about, read=_read, do=find, watcher=watcher)
    return {one.question: one for one in found}


async def _in_processes(cases: Sequence[Case], embedder: OpensEmbedder) -> AsyncIterator[Sequence[Found]]:
    """What each share of the cases found, in their order; no more are begun than there are processes."""
    processors = os.cpu_count() or 1
    together = max(1, min(_TOGETHER, len(cases) // (4 * processors)))
    shares = deque(cases[start : start + together] for start in range(0, len(cases), together))
    if min(len(shares), processors) <= 1:
        for share in shares:
            yield await _find(share, embedder)
        return
    pool = ProcessPoolExecutor(processors, multiprocessing.get_context("spawn"))
    try:
        under_way: deque[Future[Sequence[Found]]] = deque()
        while shares or under_way:
            while shares and len(under_way) < processors:
                under_way.append(pool.submit(anyio.run, _find, shares.popleft(), embedder))
            yield await to_thread.run_sync(under_way.popleft().result)
    finally:
        pool.shutdown(cancel_futures=True)


def memory_at(directory: Path, engine: Engine, *, embedder: Embedder, counter: TokenCounter) -> TierMem:
    """The product in a directory, with nothing on disk but its log; not opened yet."""
    given = {"engine": engine, "embedder": embedder, "index": "memory"}
    return TierMem(name="tiermem", directory=directory, counter=counter, given=given)


def read_found(file: Path, checksum: str) -> dict[QuestionId, Found]:
    """What was found before; `InvalidInput` where it was found in other data, or the file is damaged."""
    return {one.question: one for one in read_values(file, {"data": checksum}, _read)}


def _read(written: dict[str, Any]) -> Found:
    places = tuple(
        Passage(session=SessionId(one["session"]), start=one["start"], end=one["end"])
        for one in written["turns"]
    )
    return Found(case=written["case"], question=written["question"], turns=places)


async def _find(cases: Sequence[Case], embedder: OpensEmbedder) -> Sequence[Found]:
    with embedder() as opened:
        return [one for case in cases for one in await _find_in(case, opened)]


async def _find_in(case: Case, embedder: Embedder) -> Sequence[Found]:
    with TemporaryDirectory() as directory:
        memory = memory_at(Path(directory), engine_named("local"), embedder=embedder, counter=token_counter())
        try:
            await memory.observe(case.sessions)
            return [
                Found(
                    case=case.id,
                    question=one.id,
                    turns=await memory.retrieve(one.text, level="turn", limit=TURNS, asked_at=one.asked_at),
                )
                for one in case.questions
            ]
        finally:
            await memory.close()
