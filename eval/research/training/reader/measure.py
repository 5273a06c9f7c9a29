"""How right a reader's likeliest words are as answers, at a threshold of their lead over "no answer"."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from time import process_time

from eval.metrics.qa import right_by_words
from eval.research.training.data.conversations import before, spoken
from eval.research.training.data.found import Found
from eval.types import Case, CaseId, LabelledQuestion, QuestionId
from tiermem.reasoning.learned.graph import LearnedReader
from tiermem.reasoning.learned.passage import READ
from tiermem.reasoning.learned.pointing import point_at_words


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderAnswer:
    """One question, the reader's likeliest words, and whether they are right as an answer, by words.

    `margin` is their lead over "no answer"; `seconds` the processor time it took.
    """

    case: CaseId
    question: QuestionId
    category: str
    answerable: bool
    words: str
    right: bool
    margin: float
    seconds: float


def answers(
    reader: LearnedReader, cases: Iterable[Case], found: Mapping[QuestionId, Found]
) -> list[ReaderAnswer]:
    """What it answers to every question that was asked and has a gold answer, or none to find."""
    return [
        _answer(reader, case, question, found[question.id])
        for case in cases
        for question in case.questions
        if question.id in found and (question.gold or not question.answerable)
    ]


def _answer(reader: LearnedReader, case: Case, question: LabelledQuestion, found: Found) -> ReaderAnswer:
    turns = [spoken(case.turn(turn)) for turn in before(case, question, found.turns)[:READ]]
    began = process_time()
    pointed = zip(turns, point_at_words(reader, question.text, turns), strict=True)
    turn, best = max(pointed, key=lambda one: one[1].lead, default=(None, None))
    seconds = process_time() - began
    words = turn.text[best.start : best.end] if turn is not None and best is not None else ""
    return ReaderAnswer(
        case=case.id,
        question=question.id,
        category=question.category,
        answerable=question.answerable,
        words=words,
        right=right_by_words(words, question.gold),
        margin=best.lead if best is not None else float("-inf"),
        seconds=seconds,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """Of questions with an answer, those right and those left open; of those without, those left open."""

    right: float
    unanswered: float
    abstained: float
    with_answer: int
    without: int


def shares(answered: Sequence[ReaderAnswer], threshold: float) -> Shares:
    """The shares where margins up to the threshold are left unanswered."""
    marked = [
        (one.answerable, one.margin > threshold, one.right and one.margin > threshold) for one in answered
    ]
    yes = [(is_given, is_right) for answerable, is_given, is_right in marked if answerable]
    no = [is_given for answerable, is_given, _ in marked if not answerable]
    return Shares(
        right=sum(is_right for _, is_right in yes) / max(1, len(yes)),
        unanswered=sum(not is_given for is_given, _ in yes) / max(1, len(yes)),
        abstained=sum(not is_given for is_given in no) / max(1, len(no)),
        with_answer=len(yes),
        without=len(no),
    )
