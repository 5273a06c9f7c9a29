"""From judged turns to what a lead counts, and what that is worth: chosen on halves A, told of halves B."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from eval.metrics.intervals import Estimate, estimate
from eval.report.values import Table, interval, mean, share
from eval.research.training.reranker.judged import Judged

AT: Final = (1, 3, 5)
"""Places up to which the share of evidence is counted."""
WEIGHTS: Final = tuple(round(0.05 * step, 2) for step in range(21))
"""What a logit of the lead may count beside the score of the search."""
LEADS: Final = (1.0, 2.0, 3.0, 4.0, 6.0, float("inf"))
"""Scores by which the first of the search may lead the second to be sure."""
NEAR: Final = 0.005
"""Recall that is as good: of weights that find as much, the one that moves least."""
_PLAIN: Final = 0.0

Sources = Mapping[str, Sequence[Judged]]


def order(one: Judged, weight: float, sure: float = float("inf")) -> list[int]:
    """The turns in their new order, by their places in the old one."""
    places = range(len(one.leads))
    if is_sure(one, sure):
        return list(places)
    return sorted(places, key=lambda at: -(one.scores[at] + weight * one.leads[at]))


def is_sure(one: Judged, sure: float) -> bool:
    """Whether the first turn of the search leads the second by so much that nothing is judged."""
    return len(one.scores) < 2 or one.scores[0] - one.scores[1] >= sure


def recall(one: Judged, at: int, weight: float, sure: float = float("inf")) -> float:
    """The share of the evidence among the first turns of the new order."""
    return sum(one.relevant[place] for place in order(one, weight, sure)[:at]) / one.evidence


def fitted(chosen_on: Sources) -> float:
    """The least weight whose recall at the three places is no worse than the best by more than `NEAR`, every
    source counting alike.
    """
    worth = {weight: _worth(chosen_on, weight) for weight in WEIGHTS}
    best = max(worth.values())
    return next(weight for weight in WEIGHTS if worth[weight] >= best - NEAR)


def _worth(chosen_on: Sources, weight: float) -> float:
    means = [mean([recall(one, at, weight) for one in of for at in AT]) for of in chosen_on.values() if of]
    return mean([one for one in means if one is not None]) or 0.0


def before_and_after(halves: Mapping[str, Sources], weight: float, sure: float) -> Table:
    """Recall of turns as found and as judged, by source and half."""
    rows = []
    for half, sources in halves.items():
        for name, of in sources.items():
            if of:
                rows += _rows(f"{name}, half {half}, {len(of)} questions", of, weight, sure)
    return Table(
        title="Turns, as found and as judged",
        columns=("", *(f"R@{at}" for at in AT), "difference at 1", "difference at 5"),
        rows=tuple(rows),
    )


def _rows(name: str, of: Sequence[Judged], weight: float, sure: float) -> list[tuple[str, ...]]:
    found = [share(mean([recall(one, at, _PLAIN) for one in of])) for at in AT]
    judged = [share(mean([recall(one, at, weight, sure) for one in of])) for at in AT]
    moved = [interval(difference(of, at, weight, sure)) for at in (AT[0], AT[-1])]
    return [(name, *found, "", ""), ("– judged", *judged, *moved)]


def difference(of: Sequence[Judged], at: int, weight: float, sure: float) -> Estimate:
    """What judging gains, question by question."""
    gains = [recall(one, at, weight, sure) - recall(one, at, _PLAIN) for one in of]
    return estimate(gains, [one.case for one in of])


def skipped(sources: Sources, weight: float) -> Table:
    """What leaving out the sure ones costs: by the lead from which a first turn is sure."""
    everything = [one for of in sources.values() for one in of]
    rows = []
    for sure in LEADS:
        left = [one for one in everything if is_sure(one, sure)]
        rows.append(
            (
                "none is sure" if sure == LEADS[-1] else f"sure from {sure:g} on",
                share(len(left) / max(1, len(everything))),
                share(mean([float(one.relevant[0]) for one in left if one.relevant])),
                *(share(mean([recall(one, at, weight, sure) for one in everything])) for at in AT),
            )
        )
    return Table(
        title="Where the search is sure by itself (halves A together)",
        columns=("", "not judged", "of these first right", *(f"R@{at}" for at in AT)),
        rows=tuple(rows),
    )


def cost(sources: Sources) -> Table:
    """What judging ten turns took, of processor time."""
    rows = []
    for name, of in sources.items():
        taken = sorted(one.read_ms for one in of)
        if taken:
            middle, most = taken[len(taken) // 2], taken[int(0.95 * (len(taken) - 1))]
            rows.append((name, f"{middle:.0f} ms", f"{most:.0f} ms"))
    return Table(title="Processor time of judging, one thread", columns=("", "p50", "p95"), rows=tuple(rows))
