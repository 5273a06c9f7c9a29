"""What the product finds for every question of a dataset: the turns it ranks first, and its rules' answer.

So that training and use see the same text, passages of dialogue are made of nothing else. A dataset is one
file, a line a question; conversations that stand in it already are not asked again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from eval.progress import Watcher
from eval.systems.tiermem import TierMem
from eval.training.data.by_case import case_by_case, read_values
from eval.types import Case, CaseId, Dataset, LabelledQuestion, Passage, QuestionId
from pagestore import SessionId, TokenCounter
from tiermem.embedding.interface import Embedder
from tiermem.reasoning import by_rules

TURNS: Final = 10
"""Turns kept of what is found: five are read, ten are ranked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What one question found: its turns, best first, and the answer by rules ("" where they abstain)."""

    case: CaseId
    question: QuestionId
    turns: tuple[Passage, ...]
    by_rules: str
    seconds: float = 0.0
    """What the rules took to answer, by the clock."""


async def find_all(
    dataset: Dataset, file: Path, *, embedder: Embedder, counter: TokenCounter, watcher: Watcher
) -> dict[QuestionId, Found]:
    """Ask every question of the dataset once, or read what an earlier run found in `file`.

    `InvalidInput` where the file is about other data or another embedder.
    """

    async def find(case: Case) -> Sequence[Found]:
        return await _find(case, embedder=embedder, counter=counter, watcher=watcher)

    about = {"data": dataset.checksum, "embedder": embedder.name}
    found = await case_by_case("find", dataset, file, about=about, read=_read, do=find, watcher=watcher)
    return {one.question: one for one in found}


def read_found(file: Path, checksum: str) -> dict[QuestionId, Found]:
    """What was found before; `InvalidInput` where it was found in other data, or the file is damaged."""
    return {one.question: one for one in read_values(file, {"data": checksum}, _read)}


def _read(written: dict[str, Any]) -> Found:
    turns = written.pop("turns")
    places = tuple(
        Passage(session=SessionId(one["session"]), start=one["start"], end=one["end"]) for one in turns
    )
    return Found(turns=places, **written)


async def _find(
    case: Case, *, embedder: Embedder, counter: TokenCounter, watcher: Watcher
) -> Sequence[Found]:
    given = {"engine": by_rules(), "embedder": embedder, "index": "memory"}
    with TemporaryDirectory() as directory:
        memory = TierMem(name="tiermem", directory=Path(directory), counter=counter, given=given)
        try:
            await memory.observe(case.sessions)
            found = []
            for question in case.questions:
                found.append(await _ask(memory, case, question))
                watcher.step("found", case.id)
            return found
        finally:
            await memory.close()


async def _ask(memory: TierMem, case: Case, question: LabelledQuestion) -> Found:
    from time import monotonic

    turns = await memory.retrieve(question.text, level="turn", limit=TURNS, asked_at=question.asked_at)
    began = monotonic()
    reply = await memory.ask(question.text, asked_at=question.asked_at)
    return Found(
        case=case.id,
        question=question.id,
        turns=turns,
        by_rules=reply.text,
        seconds=monotonic() - began,
    )
