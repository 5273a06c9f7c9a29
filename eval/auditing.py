"""A kept run looked at again: every answer, as the memory that gave it recorded it, and asked once more.

A second run asks over the memory as it stood when the answer was given, so it must find the same
candidates with the same scores, take the same route and use the same words. That builds the index of
then anew, which takes seconds: of a large run, let a part be asked again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

from eval.folder import RunFolder
from eval.runner import Observer
from eval.systems.registry import Setup, tiermem
from eval.types import CaseId, Reply, Result
from tiermem import Difference, Replay
from tiermem.errors import InvalidInput
from tiermem.model import Answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Differs:
    """An answer that is not found as the run recorded it."""

    system: str
    case: CaseId
    answer_id: str
    question: str
    differences: tuple[Difference, ...]


@dataclass(slots=True, kw_only=True)
class Audited:
    """How many answers were looked up, how many asked again, and which of them differ."""

    answers: int = 0
    asked_again: int = 0
    differing: list[Differs] = field(default_factory=list)


async def audit(folder: RunFolder, setup: Setup, observer: Observer, *, rerun: int | None = None) -> Audited:
    """Replay every answer of a kept run and ask `rerun` of them again (`None`: all), evenly spread.

    `InvalidInput` when it was not kept.
    """
    results = _answers(folder)
    again = _spread(results, len(results) if rerun is None else rerun)
    observer.starts("audit", len(results))
    audited = Audited()
    for (system, case), group in groupby(results, key=_home):
        memory = tiermem(system, setup, case, memory_folder(folder, setup, system, case))
        await memory.reopen()
        try:
            for result in group:
                answer_id = result.reply.answer_id or ""
                found = await memory.replay(answer_id, rerun=answer_id in again)
                _compare(audited, result, found)
                observer.step(system, case)
        finally:
            await memory.close()
    return audited


def _answers(folder: RunFolder) -> list[Result]:
    """The answers that can be looked up, those of one memory together."""
    results = [one for one in folder.records() if isinstance(one, Result) and one.reply.answer_id]
    if not results:
        raise InvalidInput(f"no answer in {str(folder.path)!r} can be looked up: only TierMem's can")
    return sorted(results, key=_home)


def _spread(results: Sequence[Result], count: int) -> set[str | None]:
    """The ids of so many answers, at even distances."""
    count = min(count, len(results))
    chosen = [number * len(results) // count for number in range(count)]
    return {results[at].reply.answer_id for at in chosen}


def _home(result: Result) -> tuple[str, CaseId]:
    return result.system, result.case


def memory_folder(folder: RunFolder, setup: Setup, system: str, case: CaseId) -> Path:
    """Where a run kept the memory of a case; `InvalidInput` where it kept none."""
    if system not in setup.variants:
        raise InvalidInput(f"no system {system!r}; what it answered cannot be looked up")
    where = folder.memory(case, setup.variants[system].home)
    if not where.is_dir():
        raise InvalidInput(f"the memories of {str(folder.path)!r} were not kept: run it with --keep")
    return where


def _compare(audited: Audited, result: Result, found: Replay) -> None:
    audited.answers += 1
    audited.asked_again += found.rerun is not None
    differences = (*_unlike(result.reply, found.answer), *found.differences)
    if differences:
        differs = Differs(
            system=result.system,
            case=result.case,
            answer_id=found.answer.id,
            question=result.text,
            differences=differences,
        )
        audited.differing.append(differs)


def _unlike(reply: Reply, answer: Answer) -> Iterator[Difference]:
    """What the run wrote down otherwise than the memory."""
    text = "" if answer.abstained else answer.text
    cited: Sequence[str] = [one.quote for one in answer.citations]
    for what, then, now in (
        ("answer", reply.text, text),
        ("route", str(reply.route), str(answer.route)),
        ("citations", repr([one.quote for one in reply.citations]), repr(cited)),
    ):
        if then != now:
            yield Difference(what=what, then=then, now=now)
