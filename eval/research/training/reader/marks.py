"""How good a reader is, head by head, on lessons it did not learn from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eval.metrics.qa import exact, token_f1
from eval.research.training.data.examples import Example
from tiermem.reasoning.learned.decode import best_span
from tiermem.reasoning.learned.pieces import Pieces

Outputs = Mapping[str, NDArray[np.float32]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a reader says to a question: the words it points at, and how far they lead "no answer"."""

    words: str
    start: int
    end: int
    margin: float
    suffices: float


def read(lesson: Example, pieces: Pieces, made: Outputs) -> Reading:
    """The answer, as characters of the lesson's second text."""
    suffices = float(made["suffices"][0])
    best = best_span(made["span"], pieces.second, pieces.second + len(pieces.offsets))
    if best is None:
        return Reading(words="", start=0, end=0, margin=float("-inf"), suffices=suffices)
    start = pieces.offsets[best.start - pieces.second][0]
    end = pieces.offsets[best.end - pieces.second][1]
    words = lesson.second[start:end]
    return Reading(words=words, start=start, end=end, margin=best.margin, suffices=suffices)


def auc(scores: Sequence[float], right: Sequence[bool]) -> float:
    """How often a right one scores above a wrong one, a tie counting half; .5 where there is but one kind."""
    values = np.asarray(scores, float)
    yes, no = values[np.asarray(right, bool)], values[~np.asarray(right, bool)]
    if not len(yes) or not len(no):
        return 0.5
    order = np.sort(no)
    below = np.searchsorted(order, yes, "left")
    ties = np.searchsorted(order, yes, "right") - below
    return float((below + ties / 2).mean() / len(no))


def squad_marks(
    lessons: Sequence[Example], readings: Sequence[Reading], threshold: float
) -> dict[str, float]:
    """SQuAD 2.0's F1 and exact match in shares, abstaining at margins up to `threshold`; and F1 of those
    with an answer where nothing is withheld.
    """
    f1s, exacts, alone = [], [], []
    for lesson, said in zip(lessons, readings, strict=True):
        answer = said.words if said.margin > threshold else ""
        gold = lesson.answers if lesson.label else ("",)
        f1s.append(token_f1(answer, gold))
        exacts.append(exact(answer, gold))
        if lesson.label:
            alone.append(token_f1(said.words, gold))
    return {
        "f1": float(np.mean(f1s)),
        "exact": float(np.mean(exacts)),
        "f1 of those with an answer": float(np.mean(alone)) if alone else 0.0,
    }


def marks(lessons: Sequence[Example], pieces: Sequence[Pieces], made: Sequence[Outputs]) -> dict[str, float]:
    """Every head's mark, by its name: F1 of spans, areas under curves, the share of right grades."""
    found: dict[str, float] = {}
    asked = [
        (one, read(one, cut, said))
        for one, cut, said in zip(lessons, pieces, made, strict=True)
        if one.task == "read"
    ]
    spans = [token_f1(said.words, one.answers) for one, said in asked if one.spans]
    if spans:
        found["span F1"] = float(np.mean(spans))
    judged = [(said, bool(one.label)) for one, said in asked if one.label in (0, 1)]
    if judged:
        found["answerable AUC by margin"] = auc([one.margin for one, _ in judged], [yes for _, yes in judged])
        found["answerable AUC by head"] = auc([one.suffices for one, _ in judged], [yes for _, yes in judged])
    ranked = [(said, one) for one, said in zip(lessons, made, strict=True) if one.task == "rank"]
    if ranked:
        found["bears AUC"] = auc(
            [float(said["bears"][0]) for said, _ in ranked], [bool(one.label) for _, one in ranked]
        )
    graded = [(said, one) for one, said in zip(lessons, made, strict=True) if one.task == "support"]
    if graded:
        found["grade right"] = float(np.mean([said["grade"].argmax() == one.label for said, one in graded]))
    return found
