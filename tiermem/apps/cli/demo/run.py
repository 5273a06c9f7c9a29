"""The demo: a dialogue that ships with TierMem, questions that take different routes, the way to the words.

What is printed is what happened: nothing about the answers is written down beforehand.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
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
from tiermem.model import Answer

SPACE = "demo"
ASKED_AT = datetime.fromisoformat("2024-09-02T09:00")
"""The day after the last session, so that no answer depends on today's date."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoQuestion:
    """One question and why it is in the demo."""

    question: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoAnswer:
    """One question of the demo, its answer, what that took to read, and the pages it cites."""

    question: DemoQuestion
    answer: Answer
    cost: ReadingCost
    pages: tuple[Page, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Demo:
    """One run: what was stored, what was asked and answered, whether the store verifies.

    `dialogue_tokens` is what reading all of the dialogue costs once.
    """

    store: Path
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


def questions() -> tuple[DemoQuestion, ...]:
    """What the demo asks, in order."""
    listed = json.loads((files(__package__) / "questions.json").read_text(encoding="utf-8"))
    return tuple(DemoQuestion(question=one["question"], why=one["why"]) for one in listed)


def run_demo(
    store: Path | None,
    engine: options.EngineName,
    *,
    on_ingested: Callable[[IngestSummary], None] = lambda _: None,
    on_answer: Callable[[DemoAnswer], None] = lambda _: None,
) -> Demo:
    """Store the dialogue, ask every question, verify. The callbacks are called as things happen.

    Without `store` the memory lives in a temporary directory and is gone afterwards.
    """
    with ExitStack() as stack:
        directory = store or Path(stack.enter_context(TemporaryDirectory(prefix="tiermem-demo-")))
        (ingested,) = ingest_into(directory, dialogue(), space=SPACE, engine=engine)
        on_ingested(ingested)
        answers = []
        with tiermem.open(directory, space=SPACE, engine=engine, write_back="inline") as memory:
            for question in questions():
                answers.append(_ask(memory, question))
                on_answer(answers[-1])
            verified, name = memory.verify(), memory.engine
            dialogue_tokens = sum(page.tokens for page in memory.pages())
    return Demo(
        store=directory,
        kept=store is not None,
        engine=name,
        ingested=ingested,
        dialogue_tokens=dialogue_tokens,
        answers=tuple(answers),
        verified=verified,
    )


def _ask(memory: tiermem.Memory, question: DemoQuestion) -> DemoAnswer:
    answer = memory.ask(question.question, asked_at=ASKED_AT)
    cited = dict.fromkeys(span.page_id for citation in answer.citations for span in citation.spans)
    return DemoAnswer(
        question=question,
        answer=answer,
        cost=reading_cost(memory, answer),
        pages=tuple(memory.page(page_id) for page_id in cited),
    )
