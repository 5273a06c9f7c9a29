"""The probability that the first of some lines holds what a question asks for.

A logistic regression, fitted on conversations that the reader did not learn from, with the embedder whose
turns it was shown; it is part of the reader's file, and does not apply to turns of other embedders.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from math import exp, isfinite, isnan
from typing import TYPE_CHECKING, Final

from tiermem.reasoning.interface import LikelyWords, SaidTurn
from tiermem.reasoning.learned.pointing import FARTHEST, point_at_words
from tiermem.text import search_stems

if TYPE_CHECKING:
    from tiermem.reasoning.learned.graph import LearnedReader

KEY: Final = "first line"
"""What it is called in the header of the file."""
READER_WEIGHT: Final = 0.6
"""The weight of a lead, in logits, in a score. Weights from .4 to .8 give similar results."""
_IN_EIGHT_BITS: Final = "-int8"
"""How the name of an embedder ends that is another in eight bits."""
_HIGHEST: Final = 30.0
"""A score of the search beyond which more says nothing: an identifier that is in the turn scores 100."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstLineSignals:
    """What is known of the first line, each a number.

    `lead`: how far its likeliest words lead "there is no answer", in logits. `gap`: its score less that of
    the second line, at most `FARTHEST`. `score`: its score of the search, at most 30. `is_of_other`: 1 where
    the question names a speaker of these turns, and somebody else says the line.
    """

    lead: float
    gap: float
    score: float
    is_of_other: float


NAMES: Final = tuple(one.name for one in fields(FirstLineSignals))


def read_signals(
    question: str,
    turns: Sequence[SaidTurn],
    *,
    found: Sequence[float],
    leads: Sequence[float],
    scores: Sequence[float],
) -> FirstLineSignals:
    """The signals of the turn with the highest of `scores`; `found` are the scores of the search."""
    first, *rest = sorted(range(len(turns)), key=lambda at: -scores[at])
    asked = set(search_stems(question))
    named = {turn.speaker for turn in turns if not asked.isdisjoint(search_stems(turn.speaker))}
    return FirstLineSignals(
        lead=leads[first],
        gap=min(FARTHEST, scores[first] - scores[rest[0]]) if rest else FARTHEST,
        score=min(_HIGHEST, found[first]),
        is_of_other=float(bool(named) and turns[first].speaker not in named),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredTurns:
    """The likeliest words and the score of each of some turns, and what is known of the best one."""

    words: tuple[LikelyWords, ...]
    scores: tuple[float, ...]
    signals: FirstLineSignals


def score_turns(
    reader: LearnedReader, question: str, turns: Sequence[SaidTurn], found: Sequence[float]
) -> ScoredTurns:
    """Score one or more turns by their scores of the search, `found`, and the leads of their words."""
    words = tuple(point_at_words(reader, question, turns))
    leads = [one.lead for one in words]
    scores = tuple(score + READER_WEIGHT * lead for score, lead in zip(found, leads, strict=True))
    signals = read_signals(question, turns, found=found, leads=leads, scores=scores)
    return ScoredTurns(words=words, scores=scores, signals=signals)


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstLineCalibration:
    """Bias and weights by the name of a signal, and thresholds by the risk they were chosen for.

    `thresholds` maps a risk, written as "0.25" (the share of first lines from the threshold on that may not
    hold what is asked for), to the lowest probability at which it was kept; a risk that none kept is missing.
    """

    embedder: str
    bias: float
    weights: Mapping[str, float]
    thresholds: Mapping[str, float]
    fitted_on: str = ""

    def holds_for(self, embedder: str) -> bool:
        """Whether it tells of what this embedder finds: the one it was fitted with, and the same in eight
        bits, with which it errs about as much (docs/results/probability.md).
        """
        return embedder in (self.embedder, f"{self.embedder}{_IN_EIGHT_BITS}")

    def probability(self, signals: FirstLineSignals) -> float:
        """Between 0 and 1; `FloatingPointError` where it cannot be computed."""
        values = asdict(signals)
        total = self.bias + sum(weight * values[name] for name, weight in self.weights.items())
        if isnan(total):
            raise FloatingPointError("its calibration gives no number")
        return 1 / (1 + exp(-max(-60.0, min(60.0, total))))

    def threshold(self, risk: float) -> float:
        """The lowest probability at which a risk, or the nearest lower one, was kept; above 1 without any."""
        kept = [float(one) for one in self.thresholds if float(one) <= risk + 1e-9]
        return self.thresholds[f"{max(kept):.2f}"] if kept else 2.0

    def written(self) -> str:
        """The text of the calibration in the file: JSON."""
        return json.dumps(asdict(self), sort_keys=True)


def read_first_line(header: Mapping[str, str]) -> FirstLineCalibration | None:
    """What the header of a reader's file says; `None` without any, `ValueError` where it is none."""
    if KEY not in header:
        return None
    try:
        found = FirstLineCalibration(**json.loads(header[KEY]))
        risks = {risk: f"{float(risk):.2f}" for risk in found.thresholds}
        numbers: list[object] = [found.bias, *found.weights.values(), *found.thresholds.values()]
        is_finite = all(isinstance(one, int | float) and isfinite(one) for one in numbers)
    except (TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise ValueError(f"no calibration of a reader: {error}") from error
    unknown = [*(set(found.weights) - set(NAMES)), *(risk for risk, two in risks.items() if risk != two)]
    if unknown or not is_finite:
        raise ValueError(f"no calibration of a reader: {sorted(unknown) or numbers}")
    return found
