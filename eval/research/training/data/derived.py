"""Lessons made from lessons: the answer cut out, another's text, sentences to rank, claims.

Each is of the group its words are from; where two lessons are put together they are of one group or of one
part. What is drawn depends on the lesson's name alone.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from eval.research.training.data.examples import GRADES, Example
from tiermem.text import sentences

_SPACES: Final = re.compile(r"\s+")


def draw(lesson: Example, what: str) -> random.Random:
    """Chance that is the same for the same lesson."""
    return random.Random(f"{what}:{lesson.id}")  # noqa: S311 - no secret depends on it


def ablated(lesson: Example) -> Example | None:
    """The lesson without the sentences that hold an answer; `None` where nothing is left."""
    kept = [
        piece.text
        for piece in sentences(lesson.second)
        if not any(piece.start < end and begin < piece.end for begin, end in lesson.spans)
    ]
    if not kept or not lesson.spans:
        return None
    return replace(lesson, id=f"{lesson.id}:ablated", second=" ".join(kept), label=0, spans=())


def swapped(lessons: Sequence[Example]) -> Iterator[Example]:
    """Every question over the text of another lesson of its part: what is asked does not stand there."""
    for at, lesson in enumerate(lessons):
        other = lessons[(at + 1 + draw(lesson, "swap").randrange(len(lessons))) % len(lessons)]
        if other.group != lesson.group and not any(one in other.second for one in lesson.answers):
            yield replace(lesson, id=f"{lesson.id}:swapped", second=other.second, label=0, spans=())


def sentence_ranks(lesson: Example) -> Iterator[Example]:
    """Sentences of a text as things to rank: one that holds an answer, and one that does not."""
    holds: list[str] = []
    others: list[str] = []
    for piece in sentences(lesson.second):
        there = any(answer and answer in piece.text for answer in lesson.answers)
        (holds if there else others).append(piece.text)
    chance = draw(lesson, "rank")
    for label, of in ((1, holds), (0, others)):
        if of:
            yield replace(
                lesson,
                id=f"{lesson.id}:rank{label}",
                task="rank",
                second=_SPACES.sub(" ", chance.choice(of)),
                label=label,
                spans=(),
            )


def claims(lesson: Example, wrong: str) -> Iterator[Example]:
    """A question with its answer as a claim: over its text, with a wrong answer, and over what is left of
    the text without the answer.
    """
    right = lesson.answers[0]
    told = [(f"{lesson.first} {right}", lesson.second, "stated")]
    if wrong and all(wrong.lower() not in one.lower() for one in lesson.answers):
        told.append((f"{lesson.first} {wrong}", lesson.second, "contradicted"))
    left = ablated(lesson)
    if left is not None:
        told.append((f"{lesson.first} {right}", left.second, "unclear"))
    for first, second, grade in told:
        yield replace(
            lesson,
            id=f"{lesson.id}:{grade}",
            task="support",
            first=first,
            second=second,
            label=GRADES.index(grade),
            spans=(),
        )
