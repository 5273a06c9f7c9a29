"""The linear score of five signals, and scoping in two stages: which sessions, then which turns (MemTier).

    S = meaning + words + decay + feedback, each by its weight, + tier weight × (multiplier − 1)

With `raw` words (BM25 as it is) the score is the published one. BM25 has no upper bound, so it may outweigh
all the rest; `saturated` words lie between 0 and 1 as the other features do.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from pagestore import SessionId
from tiermem.salience.signals import Signals, Tier

WordsAs = Literal["raw", "saturated"]

DECAY_A_DAY = 0.05
"""After 13.9 days half of it is left."""
PLAINLY_MEANT = 2.0
"""Raw BM25 above which it does not matter how long ago something was said; and half of a saturated 1."""
STAGE_ONE = 5
"""Units whose sessions are looked into."""
MULTIPLIERS: dict[Tier, float] = {"episodic": 1.0, "semantic": 1.2, "procedural": 1.4}
"""MemTier's μ of each tier."""
_SECONDS_A_DAY = 86_400


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalWeights:
    """What each of the five signals counts."""

    meaning: float = 0.0
    words: float = 0.35
    decay: float = 0.25
    feedback: float = 0.25
    tier: float = 0.15


PUBLISHED = SignalWeights()
"""The weights that MemTier starts from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Features:
    """What a score is made of.

    `meaning` is a cosine, `words` raw BM25, `days` how long ago it was said (`None`: nobody knows), `weight`
    that of its signals. `chosen`: its session is one of those that stage one chose.
    """

    tier: Tier
    meaning: float = 0.0
    words: float = 0.0
    days: float | None = None
    weight: float = 0.0
    chosen: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Scorable:
    """A unit or a turn that may be what is looked for."""

    key: str
    session: SessionId
    features: Features


def decay(days: float | None, *, words: float = 0.0, chosen: bool = False) -> float:
    """1 for what was said now, less the longer ago; 1 too for what is plainly meant, however old.

    What nobody can date gets nothing for being new.
    """
    if chosen or words > PLAINLY_MEANT:
        return 1.0
    return 0.0 if days is None else math.exp(-DECAY_A_DAY * max(days, 0.0))


def score(features: Features, weights: SignalWeights = PUBLISHED, *, words: WordsAs = "raw") -> float:
    """The weighted sum of the five signals."""
    told = features.words
    if words == "saturated":
        told = told / (told + PLAINLY_MEANT)
    return (
        weights.meaning * features.meaning
        + weights.words * told
        + weights.decay * decay(features.days, words=features.words, chosen=features.chosen)
        + weights.feedback * (features.weight + 1) / 2
        + weights.tier * (MULTIPLIERS[features.tier] - 1)
    )


def strength(signals: Signals, at: datetime, weights: SignalWeights = PUBLISHED) -> float:
    """What a unit's score is at some moment besides what was asked, as a share of what it may be at most."""
    features = Features(tier=signals.tier, days=days_between(signals.said_at, at), weight=signals.weight)
    most = weights.decay + weights.feedback + weights.tier * (MULTIPLIERS["procedural"] - 1)
    return score(features, weights) / most if most else 0.0


def order_by_signals(scores: Sequence[float], strengths: Sequence[float], weight: float) -> list[int]:
    """What is ranked already, as places, once each may have changed places with the one right before it.

    It does where its signals, by their weight, outdo that one's by more than their scores are apart. Nothing
    moves more than one place, whatever the signals say.
    """
    order, at = list(range(len(scores))), 1
    while at < len(order):
        before, this = order[at - 1], order[at]
        if weight * (strengths[this] - strengths[before]) > scores[before] - scores[this]:
            order[at - 1], order[at] = this, before
            at += 1
        at += 1
    return order


def days_between(said_at: datetime | None, at: datetime) -> float | None:
    """Days from one moment to the other, fractions too; where one has no zone, the other's clock is meant."""
    if said_at is None:
        return None
    said = said_at.replace(tzinfo=said_at.tzinfo or at.tzinfo)
    return (at.replace(tzinfo=at.tzinfo or said_at.tzinfo) - said).total_seconds() / _SECONDS_A_DAY


def chosen_sessions(
    candidates: Iterable[Scorable], most: int | None = STAGE_ONE
) -> frozenset[SessionId] | None:
    """Stage one: the sessions of the `most` units that say most words; all (`None`) where none says any."""
    units = [one for one in candidates if one.features.tier != "episodic" and one.features.words > 0]
    best = sorted(units, key=lambda one: -one.features.words)[:most]
    return frozenset(one.session for one in best) or None


def two_stages(
    candidates: Sequence[Scorable],
    weights: SignalWeights = PUBLISHED,
    *,
    most: int | None = STAGE_ONE,
    words: WordsAs = "raw",
) -> tuple[tuple[Scorable, float], ...]:
    """Turns of the sessions that the best units are of, each with its score, best first.

    Of equal scores the one given first comes first. Where no unit shares a word, turns of all sessions count,
    and then what is old counts less.
    """
    sessions = chosen_sessions(candidates, most)
    found = [
        (one, score(replace(one.features, chosen=sessions is not None), weights, words=words))
        for one in candidates
        if one.features.tier == "episodic" and (sessions is None or one.session in sessions)
    ]
    return tuple(sorted(found, key=lambda pair: -pair[1]))
