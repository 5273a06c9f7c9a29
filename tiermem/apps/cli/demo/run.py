"""The demo: a dialogue that ships with TierMem, questions that take different routes, the way to the words.

What is printed is what happened. Nothing about the answers is written down beforehand, except the replies of
a model in `demo.replies`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime
from importlib.resources import as_file, files
from pathlib import Path
from tempfile import TemporaryDirectory

import tiermem
from pagestore import Page, VerifyReport
from tiermem.apps.cli import options
from tiermem.apps.cli.ingest import IngestSummary, ingest_into
from tiermem.apps.present.reading_cost import ReadingCost, reading_cost
from tiermem.dialogue import Conversation, read_dialogue
from tiermem.model import Answer, AskMode, SummaryUnit, WriteBack

SPACE = "demo"
ASKED_AT = datetime.fromisoformat("2024-09-02T09:00")
"""The day after the last session, so that no answer depends on today's date."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoQuestion:
    """One question, why it is in the demo, and how it is asked (`ask(mode=…)`)."""

    question: str
    why: str
    mode: AskMode = "router"


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoAnswer:
    """One question of the demo, its answer, what that took to read, and the pages it cites.

    `intact` is what its audit says. `decisions` are those on its findings, `units` what they were written to.
    """

    question: DemoQuestion
    answer: Answer
    cost: ReadingCost
    pages: tuple[Page, ...]
    intact: bool
    decisions: tuple[WriteBack, ...]
    units: tuple[SummaryUnit, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Demo:
    """One run: what was stored, what was asked and answered, whether the store verifies.

    `dialogue_tokens` is what reading all of the dialogue costs once. `notice` says where replies are from
    that were recorded.
    """

    notice: str
    store: Path
    space: str
    kept: bool
    engine: str
    ingested: IngestSummary
    dialogue_tokens: int
    answers: tuple[DemoAnswer, ...]
    verified: VerifyReport


def dialogue() -> tuple[Conversation, ...]:
    """The dialogue that ships with TierMem."""
    with as_file(files(__package__) / "dialogue.jsonl") as path:
        return read_dialogue(path)


def read_questions(name: str) -> tuple[DemoQuestion, ...]:
    """The questions in a file of this package, in order."""
    listed = json.loads((files(__package__) / name).read_text(encoding="utf-8"))
    return tuple(DemoQuestion(**one) for one in listed)


def questions() -> tuple[DemoQuestion, ...]:
    """What the demo asks, in order."""
    return read_questions("questions.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoPlan:
    """What a demo asks, in which space, and how its memory is opened.

    `notice` is displayed first. `check` is called after each step that may use a model, and raises where the
    demo cannot go on.
    """

    notice: str = ""
    space: str = SPACE
    questions: tuple[DemoQuestion, ...] = field(default_factory=questions)
    open_memory: Callable[..., tiermem.Memory] = field(default_factory=lambda: tiermem.open)
    check: Callable[[], None] = lambda: None


def run_demo(
    store: Path | None,
    engine: options.EngineName,
    *,
    plan: DemoPlan | None = None,
    on_ingested: Callable[[IngestSummary, Sequence[SummaryUnit]], None] = lambda *_: None,
    on_answer: Callable[[DemoAnswer], None] = lambda _: None,
) -> Demo:
    """Store the dialogue, ask every question, verify. The callbacks are called as things happen.

    Without `store` the memory lives in a temporary directory and is gone afterwards.
    """
    plan = plan or DemoPlan()
    with ExitStack() as stack:
        directory = store or Path(stack.enter_context(TemporaryDirectory(prefix="tiermem-demo-")))
        (ingested,) = ingest_into(
            directory, dialogue(), space=plan.space, engine=engine, open_memory=plan.open_memory
        )
        plan.check()
        answers = []
        with plan.open_memory(directory, space=plan.space, engine=engine, write_back="deferred") as memory:
            on_ingested(ingested, memory.units())
            for question in plan.questions:
                answers.append(_ask(memory, question, plan))
                on_answer(answers[-1])
            verified, name = memory.verify(), memory.engine
            dialogue_tokens = sum(page.tokens for page in memory.pages())
    return Demo(
        notice=plan.notice,
        store=directory,
        space=plan.space,
        kept=store is not None,
        engine=name,
        ingested=ingested,
        dialogue_tokens=dialogue_tokens,
        answers=tuple(answers),
        verified=verified,
    )


def _ask(memory: tiermem.Memory, question: DemoQuestion, plan: DemoPlan) -> DemoAnswer:
    answer = memory.ask(question.question, asked_at=ASKED_AT, mode=question.mode)
    decisions = memory.apply_findings()
    plan.check()
    unit_ids = {decision.unit_id for decision in decisions}
    cited = dict.fromkeys(span.page_id for citation in answer.citations for span in citation.spans)
    return DemoAnswer(
        question=question,
        answer=answer,
        cost=reading_cost(memory, answer),
        pages=tuple(memory.page(page_id) for page_id in cited),
        intact=memory.audit(answer.id).intact,
        decisions=decisions,
        units=tuple(unit for unit in memory.units() if unit.id in unit_ids),
    )
