"""From a kept run to what a router learns from: both ways of each question, and what had been recalled.

A run's records do not hold what was recalled; the memories that it kept do, in the trace of each answer. They
are looked up there, and nothing is asked again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from eval.auditing import memory_folder
from eval.folder import RunFolder
from eval.report.figures import by_system, spent
from eval.research.training.router.rows import Origin, Row, Shares, by_conversation, label_of
from eval.runner import Observer
from eval.systems.registry import Setup, tiermem
from eval.systems.tiermem import TierMem
from eval.types import QuestionId, Result
from tiermem.errors import InvalidInput
from tiermem.llm.interface import Message
from tiermem.llm.prompts import load
from tiermem.model import Trace
from tiermem.reasoning.model import prompt_text

PROMPT = "route_action"
"""What a model is asked with where it replies its action alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """The systems of the two ways: answering from what was recalled, and from the raw pages."""

    summary: str = "tiermem:summary"
    raw: str = "tiermem:raw"


async def outcomes(
    folder: RunFolder, setup: Setup, observer: Observer, *, pair: Pair, shares: Shares
) -> list[Row]:
    """Every question that both systems answered, in parts; `InvalidInput` where the run has none."""
    from_summaries, from_pages = _answers(folder, setup, pair)
    origin = Origin(
        dataset=folder.manifest.dataset,
        checksum=folder.manifest.checksum,
        sample=folder.manifest.sample,
        engine=folder.manifest.engine,
        judge=folder.manifest.judge,
        summary=pair.summary,
        raw=pair.raw,
        embedder=folder.manifest.embedder,
        prompt=load(PROMPT).id,
    )
    both = sorted((one for one in from_summaries if one.question in from_pages), key=lambda one: one.case)
    observer.starts("router-data", len(both))
    rows = []
    for case, results in groupby(both, key=lambda one: one.case):
        memory = tiermem(pair.summary, setup, case, memory_folder(folder, setup, pair.summary, case))
        for one, trace in await _traces(memory, list(results)):
            rows.append(row_of(one, from_pages[one.question], trace, origin))
            observer.step(pair.summary, case)
    return by_conversation(rows, shares)


def _answers(folder: RunFolder, setup: Setup, pair: Pair) -> tuple[list[Result], Mapping[QuestionId, Result]]:
    """Those of either system, of one memory."""
    systems = by_system(folder.records())
    missing = [name for name in (pair.summary, pair.raw) if name not in systems]
    if missing:
        there = ", ".join(systems) or "none"
        raise InvalidInput(f"{str(folder.path)!r} has no answers of {', '.join(missing)}; there are: {there}")
    if any(name not in setup.variants for name in (pair.summary, pair.raw)):
        raise InvalidInput("only TierMem's systems keep what was recalled: name two of them")
    if setup.variants[pair.summary].home != setup.variants[pair.raw].home:
        raise InvalidInput(f"{pair.summary!r} and {pair.raw!r} did not answer from one memory")
    return systems[pair.summary], {one.question: one for one in systems[pair.raw]}


async def _traces(memory: TierMem, results: Sequence[Result]) -> list[tuple[Result, Trace]]:
    """Each answer of a case with the trace that the memory kept of it."""
    await memory.reopen()
    try:
        replays = [await memory.replay(one.reply.answer_id or "", rerun=False) for one in results]
    finally:
        await memory.close()
    return [(one, replay.answer.trace) for one, replay in zip(results, replays, strict=True)]


def row_of(summary: Result, raw: Result, trace: Trace, origin: Origin) -> Row:
    """One question, in no part yet."""
    label = label_of(summary.grade.correct, raw.grade.correct)
    return Row(
        question=summary.question,
        case=summary.case,
        part="train",
        category=summary.category,
        text=summary.text,
        answerable=summary.answerable,
        asked_at=trace.asked_at,
        recalled=trace.candidates,
        c_s=summary.grade.correct,
        c_r=raw.grade.correct,
        label=label,
        s_tokens=spent(summary).taken_in,
        r_tokens=spent(raw).taken_in,
        recalled_tokens=trace.summary_tokens,
        messages=_messages(trace, label),
        origin=origin,
    )


def _messages(trace: Trace, label: str | None) -> tuple[Message, ...]:
    """The prompt as a router is asked it, and the reply it should have given where that is known."""
    prompt = load(PROMPT).render(
        question=trace.question,
        recalled=prompt_text.evidence(trace.candidates),
        asked_at=prompt_text.moment(trace.asked_at),
    )
    asked = Message(role="user", content=prompt)
    return (
        (asked,) if label is None else (asked, Message(role="assistant", content=f'{{"action": "{label}"}}'))
    )
