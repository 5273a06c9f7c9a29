"""Weights learned many times over, by hits and by rewards dealt out at random: what is more than chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from eval.research.memtier.measures import SCORED, Pool, Scored
from eval.research.memtier.score import DEFAULT, EQUAL, SIGNALS
from eval.research.training.diagnosis import Diagnosis, diagnose, hits, rank_change
from eval.research.training.policy import DEFAULTS, Episode, Options, Reward, Shown, hit, simplex, train

SEEDS: Final = 20
_DRAWS: Final = 20
_SEED_EPISODES: Final = 15
_SOURCE_MEAN: Final = 0.606
"""Gives the mean reward the source prints, .303, where every cognitive weight is 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """One way to score, learned from every seed. Changes are by signal; a `deaf` question is shown the same
    entries whatever weights are drawn: its reward cannot depend on them.
    """

    name: str
    change: Any
    deviation: Any
    by_chance: Any
    rank_change: float
    before: float
    after: float
    deaf: float
    diagnosis: Diagnosis


def variants(*, meaning: bool) -> list[Scored]:
    """The ways to score whose weights are learned."""
    return [one for one in SCORED if one.weights != EQUAL and (meaning or not one.needs_meaning)]


def episodes_of(scored: Scored, pools: Sequence[Pool]) -> list[Episode]:
    """The questions as episodes."""
    return [Episode(features=scored.rows(of), right=of.evidence) for of in pools]


def learn(scored: Scored, pools: Sequence[Pool], *, options: Options = DEFAULTS) -> Learned:
    """Learn from all questions, once a seed, and once more a seed by rewards that mean nothing."""
    episodes = episodes_of(scored, pools)
    start = np.array(scored.weights)
    rate = hits(episodes, start, shown=options.shown)
    trained = [train(episodes, hit, start, seed=seed, options=options) for seed in range(SEEDS)]
    chance = [
        train(episodes, dealt(rate, seed), start, seed=seed, options=options).after for seed in range(SEEDS)
    ]
    changes = np.array([one.after - one.before for one in trained])
    return Learned(
        name=scored.name,
        change=changes.mean(axis=0),
        deviation=changes.std(axis=0),
        by_chance=(np.array(chance) - start).std(axis=0),
        rank_change=_mean([rank_change(episodes, start, one.after, shown=options.shown) for one in trained]),
        before=rate,
        after=_mean([hits(episodes, one.after, shown=options.shown) for one in trained]),
        deaf=_deaf(episodes, start, options),
        diagnosis=diagnose(trained[0], episodes, hit, options=options),
    )


def dealt(rate: float, seed: int) -> Reward:
    """+1 as often as `rate`, else -1, whatever is shown."""
    drawn = np.random.default_rng((seed, 1))

    def reward(_: Shown) -> float:
        return 1.0 if drawn.random() < rate else -1.0

    return reward


def by_cognitive_weight(shown: Shown) -> float:
    """The source's first reward: what cognitive weight says of the entries shown."""
    return float(shown.features[:, SIGNALS.index("weight")].mean()) * _SOURCE_MEAN


def trap(pools: Sequence[Pool]) -> tuple[float, Diagnosis]:
    """The source's first training: 15 episodes, every cognitive weight 0. The largest change, and why."""
    episodes = episodes_of(SCORED[0], pools[:_SEED_EPISODES])
    trained = train(episodes, by_cognitive_weight, DEFAULT, seed=0)
    change = float(np.abs(trained.after - trained.before).max())
    return change, diagnose(trained, episodes, by_cognitive_weight)


def _deaf(episodes: Sequence[Episode], start: Any, options: Options) -> float:
    drawn = np.random.default_rng(0)
    changed = np.zeros(len(episodes), bool)
    for _ in range(_DRAWS):
        noise = options.sigma * drawn.standard_normal(len(start)) * (start > 0)
        weights = simplex(start + noise, start)
        changed |= [bool(rank_change([one], start, weights, shown=options.shown)) for one in episodes]
    return float(1 - changed.mean())


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values))
