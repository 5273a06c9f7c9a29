"""The paper's two stages on a policy small enough to run anywhere: logistic regression on labels, then policy
gradient with group advantages on logged outcomes.

Nothing is answered while it learns: what either choice is worth is known of every question, so a draw of a
choice has its reward. Everything is learned in signals of unit variance and given back in their own units.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import numpy as np

from eval.research.calibration import Logistic, fit
from eval.research.training.router.router_reward import reward

Scale = Literal["deviation", "none"]
"""What a group's rewards are divided by, less their mean: their standard deviation (GRPO), or nothing."""

_TINY: Final = 1e-4
"""What keeps a group without differences from dividing by 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Draws a question, KL, epochs and questions a batch as in the paper's Table 10; the clip is GRPO's usual
    one. The rate and the steps on one batch belong to this policy.
    """

    draws: int = 8
    beta: float = 0.02
    epochs: int = 6
    batch: int = 24
    clip: float = 0.2
    steps: int = 4
    rate: float = 0.05
    scale: Scale = "deviation"


DEFAULTS: Final = Options()


@dataclass(frozen=True, slots=True, kw_only=True)
class Logged:
    """Questions to learn from: their signals, a row a question, and whether either way was right."""

    signals: Any
    c_s: Any
    c_r: Any
    rewards: Any = field(init=False)
    """Of R and of S, by question: the columns are what `choice` 0 and 1 are worth."""

    def __post_init__(self) -> None:
        pairs = zip(self.c_s, self.c_r, strict=True)
        worth = [(reward("R", c_s=s, c_r=r), reward("S", c_s=s, c_r=r)) for s, r in pairs]
        object.__setattr__(self, "rewards", np.asarray(worth, float).reshape(-1, 2))


def supervised(logged: Logged) -> Logistic:
    """The logistic regression of the labels (S where the summary is right, R where only the pages are)."""
    known = logged.c_s | logged.c_r
    return fit(logged.signals[known], [bool(one) for one in logged.c_s[known]])


def by_reward(start: Logistic, logged: Logged, *, seed: int, options: Options = DEFAULTS) -> Logistic:
    """`start`, improved by drawing choices and doing more of what was worth more than its group.

    Questions that the pages do not answer are left out, as in B.8. Raises `ValueError` where none is left.
    """
    kept = np.flatnonzero(logged.c_r)
    if not len(kept):
        raise ValueError("no question is answered from the pages")
    middle, spread = logged.signals[kept].mean(axis=0), logged.signals[kept].std(axis=0)
    spread[spread == 0] = 1.0
    x = np.hstack([np.ones((len(kept), 1)), (logged.signals[kept] - middle) / spread])
    weights = np.asarray(start.weights)
    before = np.concatenate([[start.bias + weights @ middle], weights * spread])
    learned = _learned(before, x, logged.rewards[kept], seed=seed, options=options)
    slopes = learned[1:] / spread
    return Logistic(bias=float(learned[0] - slopes @ middle), weights=tuple(map(float, slopes)))


def _learned(before: Any, x: Any, rewards: Any, *, seed: int, options: Options) -> Any:
    drawn = np.random.default_rng(seed)
    now = before.copy()
    for _ in range(options.epochs):
        order = drawn.permutation(len(x))
        for begin in range(0, len(order), options.batch):
            batch = order[begin : begin + options.batch]
            chosen = drawn.random((len(batch), options.draws)) < _chance(x[batch], now)[:, None]
            got = np.take_along_axis(rewards[batch], chosen.astype(int), axis=1)
            worth = advantages(got, options.scale)
            now = _steps(now, before, _Draws(x[batch], chosen, worth), options)
    return now


def advantages(rewards: Any, scale: Scale) -> Any:
    """How much more each draw of a group (a row) was worth than its group."""
    centred = rewards - rewards.mean(axis=1, keepdims=True)
    return centred / (rewards.std(axis=1, keepdims=True) + _TINY) if scale == "deviation" else centred


@dataclass(frozen=True, slots=True)
class _Draws:
    """A batch of questions, the choices drawn for each (a row a question), and what each is worth."""

    x: Any
    chosen: Any
    worth: Any


def _steps(now: Any, reference: Any, drawn: _Draws, options: Options) -> Any:
    """Steps up the clipped objective, less `beta` times the KL divergence from where learning began."""
    x, chosen, worth = drawn.x, drawn.chosen, drawn.worth
    drawn_from = _chance(x, now)
    for _ in range(options.steps):
        chance = _chance(x, now)
        ratio = np.where(chosen, _over(chance, drawn_from), _over(1 - chance, 1 - drawn_from))
        beyond = np.where(worth > 0, ratio > 1 + options.clip, ratio < 1 - options.clip)
        gained = np.where(beyond, 0.0, ratio * worth) * (chosen - chance[:, None])
        away = chance * (1 - chance) * (x @ (now - reference))
        now = now + options.rate * ((gained.mean(axis=1) - options.beta * away) @ x) / len(x)
    return now


def _over(above: Any, below: Any) -> Any:
    return (above / below)[:, None]


def _chance(x: Any, weights: Any) -> Any:
    """The probability of S, off 0 and 1 by as much as a ratio needs."""
    return 1 / (1 + np.exp(-np.clip(x @ weights, -30, 30)))


def chooses(policy: Logistic, signals: Sequence[Sequence[float]]) -> list[bool]:
    """Of each question, whether the policy answers from what was recalled."""
    return [policy.probability(one) >= 0.5 for one in signals]
