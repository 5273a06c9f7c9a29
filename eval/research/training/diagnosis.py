"""What came of learning weights, and why: whether there was anything to learn from, and whether it mattered.

Two traps the source names, and found in itself: rewards that do not differ teach nothing, and a reward that
is computed from the signals rewards the signals for themselves. A third it does not test for: weights may
move as far by rewards that were dealt out to the wrong questions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from eval.research.memtier.score import SIGNALS
from eval.research.training.policy import DEFAULTS, Episode, Options, Reward, Training, show, top

_NOTHING: Final = 1e-18
"""Below this, a variance is rounding."""
_DOMINANT: Final = 5.0
"""From this ratio of spreads on, the source calls a signal dominant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """What was found, and what to do about it.

    `spread` is, by signal, how far its part of the score reaches among the entries of a question (median);
    `silent` names the signals that are the same for all entries of every question. `dominance` is the spread
    of BM25 over that of all other parts together, `None` where they have none. `circular` says that the
    reward does not ask whether entries are right, `rank_change` for which share of the questions the weights
    learned show other entries.
    """

    advantage_variance: float
    gradient_norm: float
    spread: Mapping[str, float]
    silent: tuple[str, ...]
    dominance: float | None
    circular: bool
    rank_change: float
    advice: tuple[str, ...]


def diagnose(
    training: Training, episodes: Sequence[Episode], reward: Reward, *, options: Options = DEFAULTS
) -> Diagnosis:
    """Look at what was learned, and at what it could have been learned from."""
    spread = _spread(episodes, training.before)
    others = _spread_of_others(episodes, training.before)
    found = Diagnosis(
        advantage_variance=float(np.var(training.advantages)),
        gradient_norm=float(training.gradients.mean()),
        spread=spread,
        silent=_silent(episodes),
        dominance=spread["bm25"] / others if others > 0 else None,
        circular=is_circular(episodes, reward, training.before, options=options),
        rank_change=rank_change(episodes, training.before, training.after, shown=options.shown),
        advice=(),
    )
    return replace(found, advice=_advice(found))


def is_circular(
    episodes: Sequence[Episode], reward: Reward, weights: Any, *, options: Options = DEFAULTS
) -> bool:
    """True where the reward of no episode would be another if all that is shown were right, or none."""
    shown = [show(one, weights, options.shown) for one in episodes]
    return all(
        reward(replace(one, right=(True,) * len(one.right)))
        == reward(replace(one, right=(False,) * len(one.right)))
        for one in shown
    )


def rank_change(episodes: Sequence[Episode], before: Any, after: Any, *, shown: int) -> float:
    """The share of episodes whose first entries are not the same set."""
    changed = [set(top(one, before, shown)) != set(top(one, after, shown)) for one in episodes]
    return sum(changed) / len(changed)


def hits(episodes: Sequence[Episode], weights: Any, *, shown: int) -> float:
    """The share of episodes that show an entry that is right."""
    return float(np.mean([any(show(one, weights, shown).right) for one in episodes]))


def _spread(episodes: Sequence[Episode], weights: Any) -> dict[str, float]:
    reaches = np.array([np.ptp(one.features * weights, axis=0) for one in episodes])
    return {name: float(reach) for name, reach in zip(SIGNALS, np.median(reaches, axis=0), strict=True)}


def _silent(episodes: Sequence[Episode]) -> tuple[str, ...]:
    reaches = np.max([np.ptp(one.features, axis=0) for one in episodes], axis=0)
    return tuple(name for name, reach in zip(SIGNALS, reaches, strict=True) if reach == 0)


def _spread_of_others(episodes: Sequence[Episode], weights: Any) -> float:
    others = np.array([name != "bm25" for name in SIGNALS]) * weights
    return float(np.median([np.ptp(one.features @ others) for one in episodes]))


def _advice(found: Diagnosis) -> tuple[str, ...]:
    told = []
    if found.advantage_variance <= _NOTHING:
        told.append("The rewards do not differ: no step has a direction. Reward what differs by question.")
    if found.circular:
        told.append(
            "The reward does not ask whether what is shown is right: it rewards the signals for themselves."
        )
    if found.silent:
        told.append(f"The same for every entry, whatever the weight: {', '.join(found.silent)}.")
    if found.dominance is not None and found.dominance >= _DOMINANT:
        told.append(f"BM25 reaches {found.dominance:.1f} times as far as the rest: bound it first.")
    if not found.rank_change:
        told.append("No question is shown other entries: whatever was learned has no effect.")
    return tuple(told)
