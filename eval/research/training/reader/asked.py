"""What the product displays for a question with a reader and no language model, and if it holds the answer.

A probability is fitted to this, and what a risk comes to is read off it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from anyio import to_thread

from eval.metrics.lines import shows_answer
from eval.progress import Watcher
from eval.research.training.data.by_case import case_by_case
from eval.research.training.data.found import memory_at
from eval.types import Case, CaseId, Dataset, LabelledQuestion, QuestionId, Reply
from pagestore import Page, TokenCounter
from tiermem.embedding.interface import Embedder
from tiermem.model import Claim
from tiermem.reasoning import engine_named
from tiermem.reasoning.interface import PointedTurns, SaidTurn
from tiermem.reasoning.learned.first_line import FirstLineSignals, score_turns
from tiermem.reasoning.learned.graph import LearnedReader
from tiermem.text.question import Question


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedQuestion:
    """One question, and whether its first line, or one of its lines, holds the answer.

    Where there is nothing to be found (`answerable` is false) none does. Without `signals` nothing was found.
    """

    case: CaseId
    question: QuestionId
    category: str
    answerable: bool
    first: bool
    one_of_three: bool
    signals: FirstLineSignals | None


class _Listening:
    """Scores turns by the reader, and keeps what was known of the best of the last ones."""

    def __init__(self, reader: LearnedReader) -> None:
        self._reader = reader
        self.last: FirstLineSignals | None = None

    async def __call__(
        self, question: Question, turns: Sequence[SaidTurn], found: Sequence[float]
    ) -> PointedTurns | None:
        if not turns:
            return None
        scored = await to_thread.run_sync(score_turns, self._reader, question.text, turns, found)
        self.last = scored.signals
        return PointedTurns(words=scored.words, scores=scored.scores)


async def _distil_nothing(
    pages: Sequence[Page],  # noqa: ARG001  (named as in the protocol)
    *,
    hints: Sequence[str] = (),  # noqa: ARG001
) -> tuple[Claim, ...]:
    return ()


async def ask_all(
    dataset: Dataset,
    reader: LearnedReader,
    file: Path,
    *,
    embedder: Embedder,
    counter: TokenCounter,
    watcher: Watcher,
    named: str,
) -> list[AskedQuestion]:
    """Every question of the dataset that has a gold answer or none to find; goes on from `file`.

    `InvalidInput` where the file is about other data or another reader (`named`).
    """

    async def ask(cases: Sequence[Case]) -> AsyncIterator[list[AskedQuestion]]:
        for case in cases:
            yield await _ask(case, reader, embedder, counter, watcher)

    about = {"data": dataset.checksum, "reader": named, "embedder": embedder.name}
    return await case_by_case("ask", dataset, file, about=about, read=_read, do=ask, watcher=watcher)


def _read(written: dict[str, Any]) -> AskedQuestion:
    signals = written.pop("signals")
    return AskedQuestion(signals=FirstLineSignals(**signals) if signals else None, **written)


async def _ask(
    case: Case, reader: LearnedReader, embedder: Embedder, counter: TokenCounter, watcher: Watcher
) -> list[AskedQuestion]:
    listening = _Listening(reader)
    engine = replace(engine_named("local"), distil=_distil_nothing, point=listening)
    with TemporaryDirectory() as directory:
        memory = memory_at(Path(directory), engine, embedder=embedder, counter=counter)
        try:
            await memory.observe(case.sessions)
            found = []
            for question in case.questions:
                if question.gold or not question.answerable:
                    listening.last = None
                    reply = await memory.ask(question.text, asked_at=question.asked_at)
                    found.append(_judge_lines(case, question, reply, listening.last))
                watcher.step("asked", case.id)
            return found
        finally:
            await memory.close()


def _judge_lines(
    case: Case, question: LabelledQuestion, reply: Reply, signals: FirstLineSignals | None
) -> AskedQuestion:
    hits = [shows_answer(line.turn, line.place, question) for line in reply.said if question.answerable]
    return AskedQuestion(
        case=case.id,
        question=question.id,
        category=question.category,
        answerable=question.answerable,
        first=any(hits[:1]),
        one_of_three=any(hits),
        signals=signals,
    )
