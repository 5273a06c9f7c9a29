"""Means with bootstrap confidence intervals that resample whole conversations."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A mean, the interval its resamples fell in, and how many values and clusters it rests on."""

    mean: float
    low: float
    high: float
    values: int
    clusters: int


def estimate(
    values: Sequence[float],
    clusters: Sequence[Hashable],
    *,
    confidence: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Estimate:
    """The mean of `values` and its percentile interval, resampling clusters, not values.

    Questions about one conversation share its difficulty, so resampling single questions would
    promise too much. For the difference of two systems, pass the differences question by question.
    `ValueError` when there is nothing to average or the lengths differ.
    """
    import numpy as np

    if not values or len(values) != len(clusters):
        raise ValueError(f"need one cluster a value, got {len(values)} values and {len(clusters)} clusters")
    names = list(dict.fromkeys(clusters))
    place = {name: i for i, name in enumerate(names)}
    owner = np.array([place[name] for name in clusters])
    sums = np.bincount(owner, weights=np.asarray(values, dtype=float), minlength=len(names))
    sizes = np.bincount(owner, minlength=len(names))
    drawn = np.random.default_rng(seed).integers(len(names), size=(resamples, len(names)))
    means = sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    tail = (1 - confidence) / 2
    low, high = np.quantile(means, [tail, 1 - tail])
    return Estimate(
        mean=float(sums.sum() / sizes.sum()),
        low=float(low),
        high=float(high),
        values=len(values),
        clusters=len(names),
    )
