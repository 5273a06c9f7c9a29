"""What the whole product answers with a reader, however unsure: the answer, what is known of it, and whether
it is right. A probability is fitted to this, and what answering at a risk comes to is read off it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from anyio import to_thread

from eval.judge import ByWords
from eval.metrics.qa import right_by_words
from eval.progress import Watcher
from eval.research.training.data.by_case import case_by_case
from eval.research.training.data.found import memory_at
from eval.types import Case, CaseId, Dataset, LabelledQuestion, QuestionId
from pagestore import TokenCounter
from tiermem.embedding.interface import Embedder
from tiermem.model import Evidence
from tiermem.reasoning import by_rules
from tiermem.reasoning.interface import Draft
from tiermem.reasoning.learned.calibration import Signals
from tiermem.reasoning.learned.engine import propose
from tiermem.reasoning.learned.graph import LearnedReader

_NOTHING: Final = Draft(text="", cited=(), abstained=True, complete=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One question and its answer. Without `signals` nothing was found that could be one.

    `right` is by words; where there is nothing to be found (`answerable` is false) no answer is. `rules` is
    what rules alone answer in the same product, "" where they abstain, and `rules_right` likewise.
    """

    case: CaseId
    question: QuestionId
    category: str
    answerable: bool
    text: str
    right: bool
    signals: Signals | None
    rules: str
    rules_right: bool


class _Listening:
    """Composes by the reader, without regard to risk, and keeps what was known of the last answer."""

    def __init__(self, reader: LearnedReader) -> None:
        self._reader = reader
        self.last: Signals | None = None

    async def __call__(self, question: str, evidence: Sequence[Evidence], *, asked_at: datetime) -> Draft:
        proposed = await to_thread.run_sync(propose, self._reader, question, evidence)
        self.last = proposed.signals if proposed else None
        return proposed.draft if proposed else _NOTHING


async def ask_all(
    dataset: Dataset,
    reader: LearnedReader,
    file: Path,
    *,
    embedder: Embedder,
    counter: TokenCounter,
    watcher: Watcher,
    named: str,
) -> list[Asked]:
    """Every question of the dataset that has a gold answer or none to find; goes on from `file`.

    `InvalidInput` where the file is about other data or another reader (`named`).
    """

    async def ask(cases: Sequence[Case]) -> AsyncIterator[list[Asked]]:
        for case in cases:
            yield await _ask(case, reader, embedder, counter, watcher)

    about = {
        "data": dataset.checksum,
        "reader": named,
        "embedder": embedder.name,
        "judge": ByWords.name,
    }
    return await case_by_case("ask", dataset, file, about=about, read=_read, do=ask, watcher=watcher)


def _read(written: dict[str, Any]) -> Asked:
    signals = written.pop("signals")
    return Asked(signals=Signals(**signals) if signals else None, **written)


async def _ask(
    case: Case, reader: LearnedReader, embedder: Embedder, counter: TokenCounter, watcher: Watcher
) -> list[Asked]:
    listening = _Listening(reader)
    with TemporaryDirectory() as directory:
        plain = await ruled(case, Path(directory), embedder=embedder, counter=counter)
        engine = replace(by_rules(), compose=listening, best_first=True)
        memory = memory_at(Path(directory), engine, embedder=embedder, counter=counter)
        await memory.reopen()
        found = []
        for question in case.questions:
            if question.gold or not question.answerable:
                listening.last = None
                reply = await memory.ask(question.text, asked_at=question.asked_at)
                found.append(_judged(case, question, reply.text, listening.last, plain[question.id]))
            watcher.step("asked", case.id)
        await memory.close()
    return found


async def ruled(
    case: Case, directory: Path, *, embedder: Embedder, counter: TokenCounter
) -> dict[QuestionId, str]:
    """What rules alone answer to every question of a case, "" where they abstain; its memory stays there."""
    memory = memory_at(directory, by_rules(), embedder=embedder, counter=counter)
    try:
        await memory.observe(case.sessions)
        return {one.id: (await memory.ask(one.text, asked_at=one.asked_at)).text for one in case.questions}
    finally:
        await memory.close()


def _judged(case: Case, question: LabelledQuestion, text: str, signals: Signals | None, rules: str) -> Asked:
    def right(answer: str) -> bool:
        return question.answerable and right_by_words(answer, question.gold)

    return Asked(
        case=case.id,
        question=question.id,
        category=question.category,
        answerable=question.answerable,
        text=text,
        right=right(text),
        signals=signals if text else None,
        rules=rules,
        rules_right=right(rules),
    )
