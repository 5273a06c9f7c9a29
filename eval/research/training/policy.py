"""PPO over the weights of a linear score, as MemTier trains them: one episode is one question.

Weights are drawn around a mean, cut off below 0 and divided by their sum; the advantage of an episode is its
reward less the mean reward of its batch. What the source leaves open: the step (plain gradient ascent here,
with a rate that gives changes of the size the source prints) and the clip, .2.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from eval.research.memtier.score import ranking


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """One question: the signals of its entries, a row an entry, and which entries are right."""

    features: Any
    right: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What a draw of weights put first: the signals of those entries, and whether each is right."""

    features: Any
    right: tuple[bool, ...]


Reward = Callable[[Shown], float]


def hit(shown: Shown) -> float:
    """+1 where one of the entries shown is right, else -1."""
    return 1.0 if any(shown.right) else -1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How much is drawn, how far a step goes, how many entries are shown."""

    sigma: float = 0.15
    clip: float = 0.2
    epochs: int = 4
    batch: int = 16
    rate: float = 0.002
    shown: int = 2
    passes: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Training:
    """The weights before and after, and what the steps were made of."""

    before: Any
    after: Any
    rewards: Any
    advantages: Any
    gradients: Any


DEFAULTS: Final = Options()


def top(episode: Episode, weights: Any, shown: int) -> list[int]:
    """The places of the best entries."""
    return ranking(episode.features @ weights)[:shown]


def show(episode: Episode, weights: Any, shown: int) -> Shown:
    """The best entries with what is known of them."""
    best = top(episode, weights, shown)
    return Shown(features=episode.features[best], right=tuple(bool(episode.right[at]) for at in best))


def simplex(weights: Any, otherwise: Any) -> Any:
    """Nothing below 0, and the sum 1; `otherwise` where nothing is left."""
    cut = np.maximum(weights, 0.0)
    total = cut.sum()
    return cut / total if total > 0 else otherwise


def train(
    episodes: Sequence[Episode],
    reward: Reward,
    start: Sequence[float] | np.ndarray[Any, Any],
    *,
    seed: int,
    options: Options = DEFAULTS,
) -> Training:
    """Learn from some passes over the episodes. A signal whose weight is 0 at the start stays out."""
    drawn = np.random.default_rng(seed)
    before = np.asarray(start, float)
    taken = before > 0
    mean, rewards, advantages, gradients = before.copy(), [], [], []
    for _ in range(options.passes):
        order = drawn.permutation(len(episodes))
        for begin in range(0, len(order), options.batch):
            batch = [episodes[at] for at in order[begin : begin + options.batch]]
            drawings = mean + options.sigma * drawn.standard_normal((len(batch), len(mean))) * taken
            got = np.array(
                [
                    reward(show(one, simplex(drawing, mean), options.shown))
                    for one, drawing in zip(batch, drawings, strict=True)
                ]
            )
            advantage = got - got.mean()
            mean, steps = _steps(mean, drawings, advantage, options)
            rewards.append(got)
            advantages.append(advantage)
            gradients.extend(steps)
    return Training(
        before=before,
        after=mean,
        rewards=np.concatenate(rewards),
        advantages=np.concatenate(advantages),
        gradients=np.array(gradients),
    )


def _steps(mean: Any, drawings: Any, advantage: Any, options: Options) -> tuple[Any, list[float]]:
    """The clipped steps on one batch, and the length of each gradient."""
    drawn_from, lengths = mean, []
    for _ in range(options.epochs):
        gradient = _gradient(mean, drawn_from, drawings, advantage, options)
        lengths.append(float(np.linalg.norm(gradient)))
        mean = simplex(mean + options.rate * gradient, mean)
    return mean, lengths


def _gradient(mean: Any, drawn_from: Any, drawings: Any, advantage: Any, options: Options) -> Any:
    """Of the clipped objective: what has left the clip on the side it gains by counts no more."""
    variance = options.sigma**2
    away, was = drawings - mean, drawings - drawn_from
    ratio = np.exp(((was**2).sum(axis=1) - (away**2).sum(axis=1)) / (2 * variance))
    beyond = np.where(advantage > 0, ratio > 1 + options.clip, ratio < 1 - options.clip)
    counted = np.where(beyond, 0.0, ratio * advantage)
    return (counted[:, None] * away / variance).mean(axis=0)
