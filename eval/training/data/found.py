"""What the product finds for every question of a dataset: the turns it ranks first, and its rules' answer.

So that training and use see the same text, passages of dialogue are made of nothing else. A dataset is one
file, a line a question; conversations that stand in it already are not asked again.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from eval.progress import Watcher
from eval.systems.tiermem import TierMem
from eval.types import Case, CaseId, Dataset, LabelledQuestion, Passage, QuestionId
from pagestore import SessionId, TokenCounter
from tiermem.embedding.interface import Embedder
from tiermem.errors import InvalidInput
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

    `InvalidInput` where the file is about other data.
    """
    there = _begun(file, dataset.checksum, embedder.name)
    done = {one.case for one in there.values()}
    left = [case for case in dataset.cases() if case.id not in done]
    watcher.starts(f"find {dataset.name}", sum(len(case.questions) for case in left))
    for case in left:
        found = await _find(case, embedder=embedder, counter=counter, watcher=watcher)
        _append(file, found)
        there |= {one.question: one for one in found}
    return there


def _begun(file: Path, checksum: str, embedder: str) -> dict[QuestionId, Found]:
    if file.exists():
        return read_found(file, checksum)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"data": checksum, "embedder": embedder}) + "\n")
    return {}


def _append(file: Path, found: Sequence[Found]) -> None:
    with file.open("a", encoding="utf-8") as out:
        out.writelines(json.dumps(asdict(one)) + "\n" for one in found)


def read_found(file: Path, checksum: str) -> dict[QuestionId, Found]:
    """What was found before; `InvalidInput` where it was found in other data, or the file is damaged."""
    try:
        first, *lines = file.read_text(encoding="utf-8").splitlines()
        if json.loads(first)["data"] != checksum:
            raise InvalidInput(f"{str(file)!r} was found in other data: delete it")
        found = [_read(json.loads(line)) for line in lines]
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidInput(f"{str(file)!r} cannot be read ({error!r}): delete it") from error
    return {one.question: one for one in found}


def _read(written: dict[str, object]) -> Found:
    turns = written.pop("turns")
    if not isinstance(turns, list):
        raise TypeError("no list of turns")
    places = tuple(
        Passage(session=SessionId(one["session"]), start=one["start"], end=one["end"]) for one in turns
    )
    return Found(turns=places, **written)  # type: ignore[arg-type]


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
