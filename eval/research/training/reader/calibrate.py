"""From lines that were judged to a reader's calibration, and what it is worth on the other halves.

Fitted on halves A of the conversations measured with, all together; reported on halves B, each by itself.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from eval.metrics.intervals import estimate
from eval.report.charts import Mark
from eval.report.pictures import picture
from eval.report.values import Table, share
from eval.research.calibration import (
    AtCoverage,
    area_under_risk,
    calibration_error,
    error_by_chance,
    fit,
    reliability,
    risk_coverage,
    threshold_at,
)
from eval.research.training.reader.asked import AskedQuestion
from tiermem.reasoning.learned.first_line import NAMES, FirstLineCalibration

RISKS: Final = tuple(round(0.05 * step, 2) for step in range(1, 20))
"""Risks that a threshold is kept for."""
_DOUBT: Final = 0.1
"""The highest probability that the bound beside an observed share does not hold."""
_SHOWN: Final = (0.1, 0.2, 0.3, 0.4, 0.5)


def fit_calibration(
    chosen_on: Sequence[AskedQuestion], *, embedder: str, fitted_on: str
) -> FirstLineCalibration:
    """The probability fitted to these questions, and by risk the threshold that keeps it on them."""
    judged = [(one.signals, one.first) for one in chosen_on if one.signals is not None]
    rows = [[float(getattr(signals, name)) for name in NAMES] for signals, _ in judged]
    hits = [hit for _, hit in judged]
    fitted = fit(rows, hits)
    unbound = FirstLineCalibration(
        embedder=embedder,
        bias=fitted.bias,
        weights=dict(zip(NAMES, fitted.weights, strict=True)),
        thresholds={},
        fitted_on=fitted_on,
    )
    given = [unbound.probability(signals) for signals, _ in judged]
    kept = {f"{risk:.2f}": threshold_at(given, hits, risk=risk) for risk in RISKS}
    return replace(unbound, thresholds={name: at for name, at in kept.items() if at is not None})


@dataclass(frozen=True, slots=True, kw_only=True)
class Worth:
    """Questions of one source's half B, each with the probability of its first line (0 without a line)."""

    source: str
    asked: Sequence[AskedQuestion]
    given: Sequence[float]

    @property
    def right(self) -> list[bool]:
        """Whether the first line of each holds the answer."""
        return [one.first for one in self.asked]


def find_worth(source: str, asked: Sequence[AskedQuestion], calibration: FirstLineCalibration) -> Worth:
    """What the calibration says of every first line."""
    return Worth(
        source=source,
        asked=asked,
        given=[calibration.probability(one.signals) if one.signals else 0.0 for one in asked],
    )


def shares(of: Worth, calibration: FirstLineCalibration) -> Table:
    """How often the first line and one of three hold the answer: of all questions, those at risks, and by
    category.
    """
    every = range(len(of.asked))
    rows = [_row("every question", of, every)]
    for risk in _SHOWN:
        at = calibration.threshold(risk)
        rows.append(_row(f"risk {risk:.1f} (from {at:.2f} on)", of, [n for n in every if of.given[n] >= at]))
    categories = dict.fromkeys(one.category for one in of.asked if one.answerable)
    rows += [_row(f"– {one}", of, [n for n in every if of.asked[n].category == one]) for one in categories]
    return Table(
        title=f"Lines that hold the answer, {of.source}, half B",
        columns=(
            "questions",
            "their share",
            "first of those with an answer",
            "95 %",
            "one of three",
            "first of all of them",
            "share of the questions without an answer",
        ),
        rows=tuple(rows),
    )


def _row(name: str, of: Worth, chosen: Collection[int]) -> tuple[str, ...]:
    asked = [of.asked[n] for n in chosen]
    yes = [one for one in asked if one.answerable]
    without = sum(not one.answerable for one in of.asked)
    spread = estimate([float(one.first) for one in yes], [one.question for one in yes]) if yes else None
    return (
        name,
        share(len(asked) / max(1, len(of.asked))),
        share(sum(one.first for one in yes) / len(yes)) if yes else "–",
        f"{share(spread.low)} to {share(spread.high)}" if spread is not None else "–",
        share(sum(one.one_of_three for one in yes) / len(yes)) if yes else "–",
        share(sum(one.first for one in asked) / len(asked)) if asked else "–",
        share(sum(not one.answerable for one in asked) / without) if without else "–",
    )


def describe_probability(every: Sequence[Worth]) -> Table:
    """How far the probabilities mean what they say."""
    rows = []
    for of in every:
        given, right = list(of.given), of.right
        bound = threshold_at(given, right, risk=0.5, doubt=_DOUBT)
        exact, rarely = error_by_chance(given)
        rows.append(
            (
                of.source,
                str(len(given)),
                share(calibration_error(given, right)),
                f"{share(exact)}, up to {share(rarely)}",
                share(area_under_risk(given, right)),
                share(1 - sum(right) / max(1, len(right))),
                "none" if bound is None else f"{bound:.2f}",
            )
        )
    return Table(
        title="What the probability is worth, halves B",
        columns=(
            "source",
            "questions",
            "ECE",
            "ECE if exact",
            "AURC",
            "share without (AURC by chance)",
            "bound",
        ),
        rows=tuple(rows),
        notes=(
            "ECE: ten bins of as many questions each; if exact: what as many show whose probabilities are "
            "all exact, in the mean and in nineteen of twenty draws. AURC: mean share of first lines without "
            "the answer over all coverages. Bound: from which probability on no more than half are without "
            "it, with a doubt of .1, by Hoeffding, on other questions of the same sources.",
        ),
    )


def reliability_picture(every: Sequence[Worth]) -> str:
    """What was given against what was so, as SVG."""
    series = {of.source: [Mark(b.said, b.right) for b in reliability(of.given, of.right)] for of in every}
    line = [Mark(at / 10, at / 10) for at in range(11)]
    return picture({**series, "as it should be": line}, y="share that hold the answer", x="probability")


def risk_picture(every: Sequence[Worth]) -> str:
    """The share of first lines without the answer against the share called likely, as SVG."""
    series = {of.source: _thin_curve(risk_coverage(of.given, of.right)) for of in every}
    return picture(series, y="share without the answer", x="share called likely")


def _thin_curve(curve: Sequence[AtCoverage]) -> list[Mark]:
    step = max(1, len(curve) // 60)
    return [Mark(one.coverage, one.risk) for one in curve[step - 1 :: step]]


def sources_of(asked: Mapping[str, Sequence[AskedQuestion]]) -> str:
    """What it was fitted on, in words for the file."""
    return ", ".join(f"half A of {name} ({len(of)} questions)" for name, of in asked.items())
