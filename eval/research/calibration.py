"""How well a probability of being right means what it says, and what answering at a risk comes to.

A judged answer is a pair: the probability that was given for it, and whether it was right. Where nothing is
to be found, every answer is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, exp, log
from typing import Final

import numpy as np
from numpy.typing import NDArray

_STEPS: Final = 50
"""Newton steps of a fit at most; it stands still long before."""
_SHRINK: Final = 1.0
"""What holds weights of a fit small (ridge), in units of one observation of signals of unit variance."""
_BINS: Final = 10
_DRAWS: Final = 300
"""How often it is drawn what is right, to see what chance does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Logistic:
    """`1 / (1 + exp(-(bias + weights · signals)))`."""

    bias: float
    weights: tuple[float, ...]

    def probability(self, signals: Sequence[float]) -> float:
        """Between 0 and 1."""
        total = self.bias + sum(w * s for w, s in zip(self.weights, signals, strict=True))
        return 1 / (1 + exp(-max(-60.0, min(60.0, total))))


def fit(signals: Sequence[Sequence[float]], right: Sequence[bool]) -> Logistic:
    """The logistic regression of `right` on the signals, by Newton's method with a light ridge.

    Raises `ValueError` where there is nothing to fit, or all answers are alike right or wrong.
    """
    if not any(right) or all(right):
        raise ValueError("a fit needs answers that are right and answers that are wrong")
    raw = np.asarray(signals, float)
    spread = raw.std(axis=0)
    spread[spread == 0] = 1.0
    middle = raw.mean(axis=0)
    x = np.hstack([np.ones((len(raw), 1)), (raw - middle) / spread])
    found = _newton(x, np.asarray(right, float))
    weights = found[1:] / spread
    bias = float(found[0] - weights @ middle)
    return Logistic(bias=bias, weights=tuple(float(one) for one in weights))


def _newton(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
    ridge = np.eye(x.shape[1]) * _SHRINK
    ridge[0, 0] = 0.0
    found = np.zeros(x.shape[1])
    for _ in range(_STEPS):
        p = 1 / (1 + np.exp(-np.clip(x @ found, -60, 60)))
        slope = x.T @ (y - p) - ridge @ found
        bend = (x.T * (p * (1 - p))) @ x + ridge
        step = np.linalg.solve(bend, slope)
        found = found + step
        if np.abs(step).max() < 1e-9:
            break
    return np.asarray(found, float)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bin:
    """Answers whose probabilities are near each other: how many, the mean that was said, the share right."""

    count: int
    said: float
    right: float


def reliability(probabilities: Sequence[float], right: Sequence[bool], *, bins: int = _BINS) -> list[Bin]:
    """Answers in bins of as many each, from the least sure; the last may hold fewer."""
    order = np.argsort(np.asarray(probabilities, float), kind="stable")
    said, truth = np.asarray(probabilities, float)[order], np.asarray(right, float)[order]
    size = max(1, ceil(len(said) / bins))
    groups = [slice(start, start + size) for start in range(0, len(said), size)]
    return [
        Bin(count=len(said[of]), said=float(said[of].mean()), right=float(truth[of].mean())) for of in groups
    ]


def calibration_error(probabilities: Sequence[float], right: Sequence[bool], *, bins: int = _BINS) -> float:
    """The expected calibration error: the mean distance of what was said from what was so, over bins of as
    many answers each (0 is perfect; with few answers it is not 0 by chance alone, see `error_by_chance`).
    """
    found = reliability(probabilities, right, bins=bins)
    count = sum(one.count for one in found)
    return sum(one.count * abs(one.said - one.right) for one in found) / max(1, count)


def error_by_chance(probabilities: Sequence[float]) -> tuple[float, float]:
    """What the calibration error would be if every probability were exact: its mean over draws of what is
    right, and what one draw in twenty is above.
    """
    said = np.asarray(probabilities, float)
    chance = np.random.default_rng(0)
    errors = [
        calibration_error(probabilities, (chance.random(len(said)) < said).tolist()) for _ in range(_DRAWS)
    ]
    return float(np.mean(errors)), float(np.quantile(errors, 0.95))


@dataclass(frozen=True, slots=True, kw_only=True)
class AtCoverage:
    """Where a share of the questions (`coverage`) is answered, the surest first: the share wrong (`risk`)."""

    coverage: float
    risk: float
    threshold: float


def risk_coverage(probabilities: Sequence[float], right: Sequence[bool]) -> list[AtCoverage]:
    """The curve, one place for each answer, from the surest on."""
    order = np.argsort(-np.asarray(probabilities, float), kind="stable")
    wrong = np.cumsum(~np.asarray(right, bool)[order])
    return [
        AtCoverage(
            coverage=(at + 1) / len(order),
            risk=float(wrong[at]) / (at + 1),
            threshold=float(probabilities[order[at]]),
        )
        for at in range(len(order))
    ]


def area_under_risk(probabilities: Sequence[float], right: Sequence[bool]) -> float:
    """AURC: the mean risk over all coverages (0 is perfect, the share wrong is what chance gives)."""
    curve = risk_coverage(probabilities, right)
    return sum(one.risk for one in curve) / max(1, len(curve))


def threshold_at(
    probabilities: Sequence[float], right: Sequence[bool], *, risk: float, doubt: float | None = None
) -> float | None:
    """The lowest probability from which on at most `risk` of the answers given were wrong; `None` where no
    share of them is that good.

    With `doubt`, the risk is not the share seen but what it is at most with a probability of 1 − `doubt`
    (Hoeffding's bound, over as many thresholds as there are answers): a bound that holds on answers not
    seen yet, if they come from where these come from.
    """
    best = None
    curve = risk_coverage(probabilities, right)
    for at, one in enumerate(curve, start=1):
        tied = at < len(curve) and curve[at].threshold == one.threshold
        more = 0.0 if doubt is None else (log(len(curve) / doubt) / (2 * at)) ** 0.5
        if not tied and one.risk + more <= risk:
            best = one.threshold
    return best
