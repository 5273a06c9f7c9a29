"""Runs: every system sees every case once, and every question is recorded the moment it is answered.

A case that was cut short is finished, not skipped. Rankings and single answers go on at the question
they stopped at; a replayed case is begun again, because later epochs rest on what earlier ones wrote.
"""

from __future__ import annotations

import shutil
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

import anyio
from anyio import CapacityLimiter, to_thread

from eval.corpus import Corpus
from eval.folder import RunFolder
from eval.judge import Judge
from eval.metrics.lines import shows_answer
from eval.records import DEPTH, LEVELS, Begun, Epoch, Record, Retrieved, rankings, words_shown
from eval.types import (
    Case,
    CaseId,
    Consolidates,
    Dataset,
    LabelledQuestion,
    Level,
    Passage,
    QuestionId,
    Result,
    Retriever,
    Spends,
    System,
)
from pagestore import TokenCounter
from tiermem.errors import InvalidInput, TierMemError
from tiermem.llm.meter import Meter, paid_by, plus
from tiermem.model import Usage

_DEEPER: Final = 4
"""Turns are asked for this much deeper: some labels count only what a user said."""
_SHOWN: Final = 3


class Observer(Protocol):
    """What a run tells whoever watches: how much there is, and each step."""

    def starts(self, what: str, total: int) -> None:
        """So many questions are still to be asked."""
        ...

    def step(self, system: str, case: CaseId) -> None:
        """One question more is recorded."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Participant:
    """A system that takes part: its name, how to open it for a case, and whose memory it shares.

    Candidates with one `home` read the same memory of a case, one after another.
    """

    name: str
    home: str
    open: Callable[[CaseId, Path], Awaitable[System | Retriever]]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlan:
    """What to run: the candidates on every case of the dataset, so many questions at once.

    With `keep` their memories stay in the folder, so that every answer can be looked up afterwards.
    """

    dataset: Dataset
    candidates: Sequence[Participant]
    folder: RunFolder
    counter: TokenCounter
    observer: Observer
    concurrency: int = 1
    keep: bool = False


@dataclass
class _Done:
    """What a folder already holds."""

    questions: dict[tuple[str, CaseId], set[QuestionId]] = field(default_factory=dict)
    attempts: Counter[tuple[str, CaseId]] = field(default_factory=Counter)
    epochs: dict[tuple[str, CaseId], set[int]] = field(default_factory=dict)

    @classmethod
    def read(cls, records: Iterable[Record]) -> _Done:
        done = cls()
        for record in records:
            key = (record.system, record.case)
            match record:
                case Begun():
                    done.attempts[key] = record.attempt
                    done.epochs[key] = set()
                case Epoch():
                    done.epochs.setdefault(key, set()).add(record.epoch)
                case _:
                    done.questions.setdefault(key, set()).add(record.question)
        return done

    def waiting(self, name: str, case: Case) -> list[LabelledQuestion]:
        """The questions of a case that a system has not answered yet."""
        answered: Collection[QuestionId] = self.questions.get((name, case.id), ())
        return [question for question in case.questions if question.id not in answered]


async def retrieval(plan: RunPlan) -> None:
    """Rank turns, pages and sessions for every question that holds evidence; no model is asked."""
    done = _Done.read(plan.folder.records())

    async def one(candidate: Participant, system: System | Retriever, case: Case) -> None:
        if not isinstance(system, Retriever):
            raise InvalidInput(f"the system {candidate.name!r} cannot say what it would retrieve")
        corpus = await to_thread.run_sync(_corpus, case, plan.counter)
        for question in done.waiting(candidate.name, case):
            found, seconds = await _found(system, question)
            record = Retrieved(
                system=candidate.name,
                case=case.id,
                question=question.id,
                category=question.category,
                text=question.text,
                gold=question.gold,
                answerable=question.answerable,
                flags=tuple(sorted(question.flags)),
                rankings=rankings(case, question, corpus, found),
                evidence=words_shown(case, question.evidence),
                shown=words_shown(case, found["turn"][:_SHOWN]),
                seconds=seconds,
                lines=tuple(
                    shows_answer(case.turn(place), place, question) for place in found["turn"][:_SHOWN]
                ),
                found={level: passages[:DEPTH] for level, passages in found.items()},
            )
            plan.folder.append([record])
            plan.observer.step(candidate.name, case.id)

    await _each_case(plan, done, one)


async def qa(plan: RunPlan, judge: Judge) -> None:
    """Ask every question once of a memory that does not change meanwhile."""
    done = _Done.read(plan.folder.records())
    limiter = CapacityLimiter(plan.concurrency)

    async def one(candidate: Participant, system: System | Retriever, case: Case) -> None:
        case_run = _CaseRun(plan, candidate.name, system, case, judge, limiter, done)
        await case_run.ask(done.waiting(candidate.name, case))

    await _each_case(plan, done, one)


async def replay(plan: RunPlan, judge: Judge, *, epochs: int) -> None:
    """Ask every question once an epoch; between epochs, write back what the epoch found, in one batch."""
    done = _Done.read(plan.folder.records())
    limiter = CapacityLimiter(plan.concurrency)

    async def one(candidate: Participant, system: System | Retriever, case: Case) -> None:
        case_run = _CaseRun(plan, candidate.name, system, case, judge, limiter, done)
        for epoch in range(1, epochs + 1):
            before = await case_run.learner.units()
            await case_run.ask(case.questions, epoch=epoch)
            await case_run.consolidate(epoch, before)

    await _each_case(plan, done, one, epochs=epochs)


@dataclass
class _CaseRun:
    """One system with one case in its memory, answering."""

    plan: RunPlan
    name: str
    system: System | Retriever
    case: Case
    judge: Judge
    limiter: CapacityLimiter
    done: _Done

    @property
    def learner(self) -> Consolidates:
        """The system as one that learns; `InvalidInput` when it does not."""
        if not isinstance(self.system, Consolidates):
            raise InvalidInput(f"the system {self.name!r} keeps nothing of what it learns; use qa")
        return self.system

    async def ask(self, questions: Sequence[LabelledQuestion], *, epoch: int = 1) -> None:
        """Ask these, some at once; each is recorded when it is answered."""
        async with anyio.create_task_group() as tasks:
            for question in questions:
                tasks.start_soon(self._ask, question, epoch)

    async def _ask(self, question: LabelledQuestion, epoch: int) -> None:
        if not isinstance(self.system, System):
            raise InvalidInput(f"the system {self.name!r} cannot answer")
        async with self.limiter:
            started = time.monotonic()
            reply = await self.system.ask(question.text, asked_at=question.asked_at)
            seconds = time.monotonic() - started
            with paid_by(Meter()) as judging:
                grade = await self.judge.grade(question, reply)
        result = Result(
            system=self.name,
            case=self.case.id,
            question=question.id,
            category=question.category,
            text=question.text,
            gold=question.gold,
            answerable=question.answerable,
            flags=tuple(sorted(question.flags)),
            evidence=words_shown(self.case, question.evidence),
            epoch=epoch,
            attempt=self._attempt,
            reply=reply,
            grade=grade,
            seconds=seconds,
            judging=judging.total(),
            lines=tuple(shows_answer(line.turn, line.place, question) for line in reply.said),
        )
        self.plan.folder.append([result])
        self.plan.observer.step(self.name, self.case.id)

    async def consolidate(self, epoch: int, before: int) -> None:
        """Write back what the epoch found; `TierMemError` when Tier 1 moved while it was asked."""
        if await self.learner.units() != before:
            raise TierMemError(
                f"Tier 1 of {self.name!r} changed within epoch {epoch}: nothing it says counts"
            )
        spent = await _spent(self.system)
        started = time.monotonic()
        consolidated = await self.learner.consolidate()
        epoch_record = Epoch(
            system=self.name,
            case=self.case.id,
            epoch=epoch,
            attempt=self._attempt,
            before=before,
            consolidated=consolidated,
            seconds=time.monotonic() - started,
            usage=minus(await _spent(self.system), spent),
        )
        self.plan.folder.append([epoch_record])

    @property
    def _attempt(self) -> int:
        return self.done.attempts[self.name, self.case.id]


Work = Callable[[Participant, System | Retriever, Case], Awaitable[None]]


async def _each_case(plan: RunPlan, done: _Done, work: Work, *, epochs: int = 0) -> None:
    """Do `work` for every candidate and case that has something left, some cases at once."""
    plan.observer.starts(plan.folder.manifest.kind, _left(plan, done, epochs))
    limiter = CapacityLimiter(plan.concurrency)

    async def run(case: Case) -> None:
        try:
            for candidate in plan.candidates:
                if _unfinished(candidate, case, done, epochs):
                    await _observed(plan, done, candidate, case, work, fresh=bool(epochs))
            if not plan.keep:
                await to_thread.run_sync(
                    lambda: shutil.rmtree(plan.folder.scratch / case.id, ignore_errors=True)
                )
        finally:
            limiter.release_on_behalf_of(case.id)

    async with anyio.create_task_group() as tasks:
        for case in plan.dataset.cases():
            # Taken here, so that only cases under way are in memory.
            await limiter.acquire_on_behalf_of(case.id)
            tasks.start_soon(run, case)


def _left(plan: RunPlan, done: _Done, epochs: int) -> int:
    left = 0
    for case in plan.dataset.cases():
        for candidate in plan.candidates:
            if epochs:
                left += epochs * len(case.questions) * _unfinished(candidate, case, done, epochs)
            else:
                left += len(done.waiting(candidate.name, case))
    return left


def _unfinished(candidate: Participant, case: Case, done: _Done, epochs: int) -> bool:
    if epochs:
        return len(done.epochs.get((candidate.name, case.id), ())) < epochs
    return bool(done.waiting(candidate.name, case))


async def _observed(
    plan: RunPlan, done: _Done, candidate: Participant, case: Case, work: Work, *, fresh: bool
) -> None:
    """Open a candidate, let it listen, do the work, close it."""
    where = plan.folder.memory(case.id, candidate.home)
    if fresh:
        await to_thread.run_sync(lambda: shutil.rmtree(where, ignore_errors=True))
    await to_thread.run_sync(lambda: where.mkdir(parents=True, exist_ok=True))
    system = await candidate.open(case.id, where)
    try:
        started = time.monotonic()
        await system.observe(case.sessions)
        attempt = done.attempts[candidate.name, case.id] + 1
        done.attempts[candidate.name, case.id] = attempt
        done.epochs[candidate.name, case.id] = set()
        seconds = time.monotonic() - started
        begun = Begun(
            system=candidate.name,
            case=case.id,
            attempt=attempt,
            seconds=seconds,
            usage=await _spent(system),
        )
        plan.folder.append([begun])
        await work(candidate, system, case)
    finally:
        await system.close()


async def _spent(system: System | Retriever) -> Usage:
    """Everything a system has paid for, where it knows."""
    total = Usage()
    if isinstance(system, Spends):
        for one in await system.spent():
            total = plus(total, one.usage)
    return total


def minus(later: Usage, earlier: Usage) -> Usage:
    """What was paid between two readings; an unknown cost stays unknown."""
    counts = ("input_tokens", "output_tokens", "cached_tokens", "embedding_tokens", "calls", "seconds")
    cost = None if later.cost is None else later.cost - (earlier.cost or 0.0)
    return Usage(**{name: getattr(later, name) - getattr(earlier, name) for name in counts}, cost=cost)


def _corpus(case: Case, counter: TokenCounter) -> Corpus:
    corpus = Corpus(case.sessions, counter)
    corpus.passages("page")
    return corpus


async def _found(
    system: Retriever, question: LabelledQuestion
) -> tuple[dict[Level, tuple[Passage, ...]], float]:
    """What a system finds at every level, and what one search took."""
    found: dict[Level, tuple[Passage, ...]] = {}
    started = time.monotonic()
    for level in LEVELS:
        depth = DEPTH * _DEEPER if level == "turn" else DEPTH
        found[level] = await system.retrieve(
            question.text, level=level, limit=depth, asked_at=question.asked_at
        )
    return found, (time.monotonic() - started) / len(LEVELS)
