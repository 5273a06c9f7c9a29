"""What a reader is worth in use: answers by words beside the rules on the same questions, at a threshold that
was chosen on the half that is learned from, or at the rules' own share of abstentions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from time import process_time

from eval.metrics.qa import right_by_words
from eval.research.training.data.conversations import before, spoken
from eval.research.training.data.found import Found
from eval.types import Case, CaseId, LabelledQuestion, QuestionId
from tiermem.reasoning.learned.answering import point
from tiermem.reasoning.learned.fitting import asks_for_day
from tiermem.reasoning.learned.graph import LearnedReader
from tiermem.reasoning.learned.passage import READ


@dataclass(frozen=True, slots=True, kw_only=True)
class BothAnswers:
    """One question, what rules and reader say to it, and whether that is right by words.

    `day` says that a date is asked for. `margin` is the reader's lead over "no answer"; `seconds` the
    processor time it took.
    """

    case: CaseId
    question: QuestionId
    category: str
    answerable: bool
    day: bool
    rules: str
    rules_right: bool
    reader: str
    reader_right: bool
    margin: float
    suffices: float
    seconds: float


def answers(
    reader: LearnedReader,
    cases: Iterable[Case],
    found: Mapping[QuestionId, Found],
    ruled: Mapping[QuestionId, str],
) -> list[BothAnswers]:
    """What both say to every question that was asked and has a gold answer, or none to find; `ruled` is what
    rules say, "" where they abstain.
    """
    return [
        _said(reader, case, question, found[question.id], ruled[question.id])
        for case in cases
        for question in case.questions
        if question.id in found and (question.gold or not question.answerable)
    ]


def _said(
    reader: LearnedReader, case: Case, question: LabelledQuestion, found: Found, ruled: str
) -> BothAnswers:
    turns = [spoken(case.turn(turn)) for turn in before(case, question, found.turns)[:READ]]
    began = process_time()
    pointed = point(reader, question.text, turns)
    seconds = process_time() - began
    words = pointed.text if pointed else ""
    return BothAnswers(
        case=case.id,
        question=question.id,
        category=question.category,
        answerable=question.answerable,
        day=asks_for_day(question.text),
        rules=ruled,
        rules_right=right_by_words(ruled, question.gold),
        reader=words,
        reader_right=right_by_words(words, question.gold),
        margin=pointed.margin if pointed else float("-inf"),
        suffices=pointed.suffices if pointed else float("-inf"),
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


def by_rules(said: Sequence[BothAnswers]) -> Shares:
    """What the rules come to."""
    return _shares([(one.answerable, bool(one.rules), one.rules_right) for one in said])


def by_reader(said: Sequence[BothAnswers], threshold: float) -> Shares:
    """What the reader comes to where margins up to the threshold are left unanswered."""
    return _shares(
        [
            (one.answerable, one.margin > threshold, one.reader_right and one.margin > threshold)
            for one in said
        ]
    )


def as_silent_as_rules(said: Sequence[BothAnswers]) -> float:
    """The margin up to which as many of the questions without an answer are left open as rules leave."""
    margins = sorted(one.margin for one in said if not one.answerable)
    abstentions = by_rules(said).abstained
    if not margins or abstentions <= 0:
        return float("-inf")
    return margins[min(len(margins), round(abstentions * len(margins))) - 1]


def by_both(said: Sequence[BothAnswers], threshold: float) -> Shares:
    """What comes of rules for dates, and the reader for what they leave open and for all else."""
    marked = [(one.answerable, *both(one, threshold)) for one in said]
    return _shares(marked)


def both(one: BothAnswers, threshold: float) -> tuple[bool, bool]:
    """Whether rules and reader together answer, and whether that is right."""
    if one.day and one.rules:
        return True, one.rules_right
    return one.margin > threshold, one.reader_right and one.margin > threshold


def _shares(marked: Sequence[tuple[bool, bool, bool]]) -> Shares:
    yes = [(answered, correct) for answerable, answered, correct in marked if answerable]
    no = [answered for answerable, answered, _ in marked if not answerable]
    return Shares(
        right=sum(correct for _, correct in yes) / max(1, len(yes)),
        unanswered=sum(not answered for answered, _ in yes) / max(1, len(yes)),
        abstained=sum(not answered for answered in no) / max(1, len(no)),
        with_answer=len(yes),
        without=len(no),
    )
