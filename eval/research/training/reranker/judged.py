"""The turns that the product finds for a question, in its order, and how far the best words of each lead.

A source is one file, a line a question; conversations that stand in it are not asked again.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any, Final

from anyio import to_thread

from eval.progress import Watcher
from eval.research.training.data.conversations import spoken
from eval.research.training.data.found import memory_at
from eval.systems.tiermem import TierMem
from eval.types import Case, CaseId, Dataset, LabelledQuestion, QuestionId
from pagestore import TokenCounter
from tiermem.embedding.interface import Embedder
from tiermem.errors import InvalidInput
from tiermem.reasoning import engine_named
from tiermem.reasoning.learned.graph import LearnedReader
from tiermem.reasoning.learned.pointing import point_at_words

TURNS: Final = 10
"""Turns that are judged: as many as the product has judged (`ReadingOptions.rerank_turns`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One question: which of its turns are evidence, in the order of the search, with the scores of that.

    `evidence` is how many turns hold some; `read_ms` what reading took, of processor time.
    """

    case: CaseId
    question: QuestionId
    relevant: tuple[bool, ...]
    scores: tuple[float, ...]
    leads: tuple[float, ...]
    evidence: int
    read_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Judging:
    """Who judges, and by which embedder the turns are found; of all questions every so many-th is asked."""

    reader: LearnedReader
    named: str
    """The digest of the reader's file: what another one judged is not read again."""
    embedder: Embedder
    counter: TokenCounter
    every: int = 1


async def judge_all(dataset: Dataset, file: Path, by: Judging, watcher: Watcher) -> list[Judged]:
    """Every question of the dataset that holds evidence, or what an earlier run kept in `file`.

    `InvalidInput` where the file is about other data, another reader or other questions.
    """
    there = _begun(file, {"data": dataset.checksum, "reader": by.named, "every": by.every})
    done = {one.case for one in there}
    asked = _asked(dataset, by.every)
    left = [case for case in dataset.cases() if case.id not in done and asked[case.id]]
    watcher.starts(f"judge {dataset.name}", sum(len(asked[case.id]) for case in left))
    for case in left:
        judged = await _judge(case, asked[case.id], by, watcher)
        with file.open("a", encoding="utf-8") as out:
            out.writelines(json.dumps(asdict(one)) + "\n" for one in judged)
        there += judged
    return there


def _begun(file: Path, about: dict[str, Any]) -> list[Judged]:
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(about) + "\n", encoding="utf-8")
        return []
    try:
        first, *lines = file.read_text(encoding="utf-8").splitlines()
        if json.loads(first) != about:
            raise InvalidInput(f"{str(file)!r} is about other data, questions or another reader: delete it")
        return [_read(json.loads(line)) for line in lines]
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidInput(f"{str(file)!r} cannot be read ({error!r}): delete it") from error


def _read(written: dict[str, Any]) -> Judged:
    for name in ("relevant", "scores", "leads"):
        written[name] = tuple(written[name])
    return Judged(**written)


def _asked(dataset: Dataset, every: int) -> dict[CaseId, list[LabelledQuestion]]:
    """Every so many-th question of those that have evidence, by conversation."""
    asked: dict[CaseId, list[LabelledQuestion]] = {}
    number = 0
    for case in dataset.cases():
        asked[case.id] = []
        for question in case.questions:
            number += question.answerable and bool(question.evidence)
            if question.answerable and question.evidence and number % every == 0:
                asked[case.id].append(question)
    return asked


async def _judge(
    case: Case, asked: Sequence[LabelledQuestion], by: Judging, watcher: Watcher
) -> list[Judged]:
    with TemporaryDirectory() as directory:
        memory = memory_at(Path(directory), engine_named("local"), embedder=by.embedder, counter=by.counter)
        try:
            await memory.observe(case.sessions)
            judged = []
            for question in asked:
                judged.append(await _one(memory, case, question, by.reader))
                watcher.step("judged", case.id)
            return judged
        finally:
            await memory.close()


async def _one(memory: TierMem, case: Case, question: LabelledQuestion, reader: LearnedReader) -> Judged:
    found = await memory.scored_turns(question.text, limit=TURNS, asked_at=question.asked_at)
    turns = [spoken(case.turn(place)) for place, _ in found]
    began = process_time()
    words = await to_thread.run_sync(point_at_words, reader, question.text, turns)
    took = 1000 * (process_time() - began)
    evidence = set(question.evidence)
    return Judged(
        case=case.id,
        question=question.id,
        relevant=tuple(place in evidence for place, _ in found),
        scores=tuple(score for _, score in found),
        leads=tuple(one.lead for one in words),
        evidence=len(evidence),
        read_ms=took,
    )
