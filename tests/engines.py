"""Engines for tests: one whose judgements fail unless they are given, and one that answers in quotes."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from tiermem.model import Evidence
from tiermem.reasoning import Draft, Engine, by_rules
from tiermem.reasoning.interface import ABSTAINED, Compose
from tiermem.reasoning.rules.route import gate
from tiermem.text import search_stems, sentences
from tiermem.text.readings import speech

JUDGEMENTS = ("distil", "route", "integrate", "plan", "compose", "select", "reconcile")


def engine(*, name: str = "test", free: bool = True, **judgements: Any) -> Engine:
    """The judgements given (`route=None`: nobody is asked beforehand); the others fail when asked."""
    given = {judgement: _unasked(judgement) for judgement in JUDGEMENTS} | judgements
    return Engine(name=name, free=free, **given)


def quoting_engine() -> Engine:
    """Judges by rules, and answers with the sentence that shares most words with the question."""
    return replace(by_rules(), route=gate, compose=quote_best_sentence)


async def quote_best_sentence(question: str, evidence: Sequence[Evidence], *, asked_at: datetime) -> Draft:
    """The best sentence of the evidence, of a turn where one is as good, with the piece it is from as source.

    An abstention where no sentence has at least half of the words of the question, stop words apart.
    """
    asked = set(search_stems(question))
    best, shared, source = "", 0, -1
    for at in sorted(range(len(evidence)), key=lambda at: evidence[at].source != "turn"):
        said = speech(evidence[at].text)
        speaker, text = (said.speaker, said.said) if said is not None else ("", evidence[at].text)
        for piece in sentences(text):
            count = len(asked & {*search_stems(speaker), *search_stems(piece.text)})
            if count > shared:
                best, shared, source = piece.text, count, at
    if 2 * shared < max(1, len(asked)):
        return ABSTAINED
    return Draft(text=best, cited=(source,), abstained=False)


def compose_of(engine: Engine) -> Compose:
    """What words the answers of an engine that has one to do it."""
    assert engine.compose is not None
    return engine.compose


def _unasked(judgement: str) -> Callable[..., Awaitable[Any]]:
    async def fail(*args: Any, **kwargs: Any) -> Any:
        raise AssertionError(f"{judgement!r} was asked, and this test gives no such judgement")

    return fail
