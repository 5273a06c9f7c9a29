"""Lessons from conversations: what the product found for a question, labelled by the question's evidence.

A turn said after the question was asked is shown to nobody: it is left out before anything is labelled.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final

from eval.metrics.qa import token_f1
from eval.research.training.data.examples import Example
from eval.research.training.data.found import Found
from eval.types import Case, LabelledQuestion, Passage, QuestionId
from pagestore import Turn
from tiermem.reasoning.interface import SaidTurn
from tiermem.reasoning.learned.passage import LONGEST, READ, heading, passage_of
from tiermem.text.dates import resolve_dates

CLOSE: Final = 0.6
"""Token F1 from which words of a turn are the answer that the gold has in other words."""
UNKNOWN: Final = -1
"""The label where some of the evidence was found: nobody knows whether that suffices."""
WITHOUT: Final = ":without"
"""How the name of a lesson ends whose evidence was taken away."""
_MORE: Final = 2
"""Words a span may be longer than the gold answer."""
_WORD: Final = re.compile(r"\w+(?:['’]\w+)?")
_BESIDE: Final = 160
"""Characters of the turn before or after the one judged."""
_OTHERS: Final = 2
"""Turns that are no evidence for each that is, and at least."""


def groups_of(dataset: str, cases: Iterable[Case]) -> dict[str, str]:
    """The group of every case: itself, or, where cases share a session, the first of those it is tied to."""
    owner: dict[str, str] = {}
    first: dict[str, str] = {}

    def root(name: str) -> str:
        while first[name] != name:
            name = first[name]
        return name

    for case in cases:
        first[case.id] = case.id
        for session in case.official.values():
            first[root(owner.setdefault(session, case.id))] = root(case.id)
    return {case: f"{dataset}:{root(case)}" for case in first}


def spoken(turn: Turn) -> SaidTurn:
    """A turn as a reader sees it."""
    return SaidTurn(speaker=turn.speaker, text=turn.text, said_at=turn.said_at)


def reading(
    dataset: str, cases: Iterable[Case], found: Mapping[QuestionId, Found], groups: Mapping[str, str]
) -> Iterator[Example]:
    """One lesson in reading for every question that was asked."""
    for case in cases:
        for question in case.questions:
            if question.id in found:
                turns = before(case, question, found[question.id].turns)
                yield _read(dataset, case, question, turns[:READ], groups[case.id])


def without_evidence(
    dataset: str, cases: Iterable[Case], found: Mapping[QuestionId, Found], groups: Mapping[str, str]
) -> Iterator[Example]:
    """The same questions over what was found besides the evidence, which does not suffice."""
    for case in cases:
        for question in case.questions:
            if question.id in found and question.answerable and question.evidence:
                turns = before(case, question, found[question.id].turns)
                left = [turn for turn in turns if turn not in question.evidence]
                if len(left) >= READ:
                    lesson = _read(dataset, case, question, left[:READ], groups[case.id])
                    yield _insufficient(lesson)


def _insufficient(lesson: Example) -> Example:
    from dataclasses import replace

    return replace(lesson, id=f"{lesson.id}{WITHOUT}", label=0, spans=())


def before(case: Case, question: LabelledQuestion, turns: Sequence[Passage]) -> list[Passage]:
    """Those of the turns that had been said when the question was asked."""
    asked = question.asked_at
    return [turn for turn in turns if asked is None or not _later(case.turn(turn).said_at, asked)]


def _later(said: datetime | None, asked: datetime) -> bool:
    if said is None:
        return False
    return said.replace(tzinfo=said.tzinfo or UTC) > asked.replace(tzinfo=asked.tzinfo or UTC)


def _read(
    dataset: str, case: Case, question: LabelledQuestion, turns: Sequence[Passage], group: str
) -> Example:
    passage = passage_of(question.text, [spoken(case.turn(turn)) for turn in turns])
    spans = []
    for turn, line in zip(turns, passage.lines, strict=True):
        if turn in question.evidence:
            said = case.turn(turn)
            words = passage.text[line.start : line.end]
            spans += [
                (line.start + a, line.start + b) for a, b in answers_in(words, said.said_at, question.gold)
            ]
    return Example(
        id=f"{dataset}:{question.id}",
        source=dataset,
        group=group,
        task="read",
        first=question.text,
        second=passage.text,
        label=_suffices(question, turns),
        spans=tuple(spans) if question.answerable else (),
        answers=question.gold,
        category=question.category,
        asked_at=question.asked_at,
        latest=_latest(case, turns),
    )


def _suffices(question: LabelledQuestion, turns: Sequence[Passage]) -> int:
    if not question.answerable:
        return 0
    there = [one in turns for one in question.evidence]
    return UNKNOWN if not there or any(there) != all(there) else int(all(there))


def _latest(case: Case, turns: Sequence[Passage]) -> datetime | None:
    return max((said for turn in turns if (said := case.turn(turn).said_at)), default=None)


def answers_in(text: str, said_at: datetime | None, gold: Sequence[str]) -> list[tuple[int, int]]:
    """Where a turn's words are the answer: a date that means the gold's days, or the words closest to it."""
    dated = _dates_in(text, said_at, gold)
    return dated or [span for one in gold if (span := closest(text, one)) is not None]


def _dates_in(text: str, said_at: datetime | None, gold: Sequence[str]) -> list[tuple[int, int]]:
    wanted = [mention for one in gold for mention in resolve_dates(one, None)]
    if not wanted:
        return []
    return [
        (mention.start, mention.end)
        for mention in resolve_dates(text, said_at)
        if any(one.holds(mention.first, mention.last) for one in wanted)
    ]


@lru_cache(maxsize=4096)
def closest(text: str, gold: str) -> tuple[int, int] | None:
    """The run of words with the highest token F1 to the gold answer, if that is close enough to be it."""
    words = [(match.start(), match.end()) for match in _WORD.finditer(text)]
    wanted = set(_WORD.findall(gold.lower()))
    longest = len(_WORD.findall(gold)) + _MORE
    best, place = CLOSE, None
    for at, (start, _) in enumerate(words):
        if text[start : words[at][1]].lower() not in wanted:
            continue
        for _, end in words[at : at + longest]:
            score = token_f1(text[start:end], (gold,))
            if score > best or (score == best and place is None):
                best, place = score, (start, end)
    return place


def ranking(
    dataset: str, cases: Iterable[Case], found: Mapping[QuestionId, Found], groups: Mapping[str, str]
) -> Iterator[Example]:
    """Turns in their windows: evidence, and of what was found besides it twice as many."""
    for case in cases:
        by_session = {session.id: [spoken(turn) for turn in session.turns] for session in case.sessions}
        for question in case.questions:
            if question.id not in found or not question.answerable:
                continue
            turns = before(case, question, found[question.id].turns)
            evidence = before(case, question, question.evidence)
            others = [turn for turn in turns if turn not in question.evidence]
            drawn = random.Random(question.id)  # noqa: S311 - the same draw for the same question
            kept = drawn.sample(others, min(len(others), _OTHERS * max(1, len(evidence))))
            for turn, label in [*((one, 1) for one in evidence), *((one, 0) for one in kept)]:
                yield Example(
                    id=f"{dataset}:{question.id}:{turn.session}:{turn.start}",
                    source=dataset,
                    group=groups[case.id],
                    task="rank",
                    first=question.text,
                    second=window_of(by_session[turn.session], turn.start),
                    label=label,
                    category=question.category,
                    asked_at=question.asked_at,
                    latest=_latest(case, [turn]),
                )


def window_of(turns: Sequence[SaidTurn], at: int) -> str:
    """One turn to be judged, with the turn before it and the turn after it below, each cut short."""
    parts = [_line(turns[at])]
    if at > 0:
        parts.append(f"before: {_line(turns[at - 1])[:_BESIDE]}")
    if at + 1 < len(turns):
        parts.append(f"after: {_line(turns[at + 1])[:_BESIDE]}")
    return "\n".join(parts)


def _line(turn: SaidTurn) -> str:
    return f"{heading(turn)}: {turn.text[:LONGEST]}"
