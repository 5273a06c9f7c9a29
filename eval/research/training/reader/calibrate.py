"""From answers that were judged to a reader's calibration, and what it is worth on the other halves.

Fitted on halves A of the conversations measured with, all together; told of halves B, each by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import log
from typing import Final

from eval.metrics.intervals import estimate
from eval.report.charts import Mark
from eval.report.pictures import picture
from eval.report.values import Table, share
from eval.research.calibration import (
    AtCoverage,
    Logistic,
    area_under_risk,
    calibration_error,
    error_by_chance,
    fit,
    reliability,
    risk_coverage,
    threshold_at,
)
from eval.research.training.reader.asked import Asked
from tiermem.reasoning.learned.calibration import OF_READER, OF_RULES, Calibration, Signals

RISKS: Final = tuple(round(0.05 * step, 2) for step in range(1, 20))
"""Risks that a threshold is kept for."""
_DOUBT: Final = 0.1
"""The doubt of the bound that is told beside what was seen."""
_SHOWN: Final = (0.1, 0.25, 0.4, 0.5, 0.6)


def calibrated(chosen_on: Sequence[Asked], *, embedder: str, fitted_on: str) -> Calibration:
    """The probability fitted to these answers, and by risk the threshold that keeps it on them."""
    judged = [(one.signals, one.right) for one in chosen_on if one.signals is not None]
    by_reader = _fitted([pair for pair in judged if not pair[0].by_rules], OF_READER)
    by_rules = _fitted([pair for pair in judged if pair[0].by_rules], OF_RULES)
    unbound = Calibration(
        embedder=embedder,
        bias=by_reader.bias,
        weights=dict(zip(OF_READER, by_reader.weights, strict=True)),
        rules_bias=by_rules.bias,
        rules_weights=dict(zip(OF_RULES, by_rules.weights, strict=True)),
        thresholds={},
        fitted_on=fitted_on,
    )
    said = [unbound.probability(signals) for signals, _ in judged]
    kept = {f"{risk:.2f}": threshold_at(said, [right for _, right in judged], risk=risk) for risk in RISKS}
    return replace(unbound, thresholds={name: at for name, at in kept.items() if at is not None})


def _fitted(judged: Sequence[tuple[Signals, bool]], names: Sequence[str]) -> Logistic:
    """Where all are right, or all wrong, signals tell nothing: one probability, by Laplace's rule."""
    hits = sum(right for _, right in judged)
    if hits in (0, len(judged)):
        return Logistic(bias=log((hits + 1) / (len(judged) - hits + 1)), weights=(0.0,) * len(names))
    rows = [[getattr(signals, name) for name in names] for signals, _ in judged]
    return fit(rows, [right for _, right in judged])


@dataclass(frozen=True, slots=True, kw_only=True)
class Worth:
    """Answers of one source's half B, each with its probability (0 where nothing could be an answer)."""

    source: str
    asked: Sequence[Asked]
    said: Sequence[float]

    @property
    def right(self) -> list[bool]:
        """Whether each is right."""
        return [one.right for one in self.asked]


def worth(source: str, asked: Sequence[Asked], calibration: Calibration) -> Worth:
    """What the calibration says of every answer."""
    return Worth(
        source=source,
        asked=asked,
        said=[calibration.probability(one.signals) if one.signals else 0.0 for one in asked],
    )


def shares(of: Worth, calibration: Calibration, same: float) -> Table:
    """Right, unanswered and abstained: of rules, of everything answered, at risks, and at the threshold
    `same`, which on halves A abstains as often as the rules where there is no answer.
    """
    rows = [_row("rules alone", of, lambda at: bool(of.asked[at].rules), rules=True)]
    rows.append(_row("everything answered", of, lambda at: bool(of.asked[at].text)))
    rows += [_at(f"risk {risk:.2f}", of, calibration.threshold(risk)) for risk in _SHOWN]
    rows.append(_at("as often silent as the rules", of, same))
    for category in dict.fromkeys(one.category for one in of.asked if one.answerable):
        places = {at for at, one in enumerate(of.asked) if one.category == category}
        for name, rules in (("rules", True), ("reader and rules, everything answered", False)):
            rows.append(_row(f"– {category}: {name}", of, places.__contains__, rules=rules, of_these=places))
    return Table(
        title=f"Answers of the whole product, {of.source}, half B",
        columns=("who", "right", "95 %", "answered", "of these right", "abstains where there is no answer"),
        rows=tuple(rows),
    )


def _at(name: str, of: Worth, threshold: float) -> tuple[str, ...]:
    return _row(f"{name} (from {threshold:.2f} on)", of, lambda at: of.said[at] >= threshold)


def _row(
    name: str,
    of: Worth,
    answers: Callable[[int], bool],
    *,
    rules: bool = False,
    of_these: set[int] | None = None,
) -> tuple[str, ...]:
    places = [at for at in range(len(of.asked)) if of_these is None or at in of_these]
    given = {at for at in places if answers(at) and (of.asked[at].rules if rules else of.asked[at].text)}
    right = {at for at in given if (of.asked[at].rules_right if rules else of.asked[at].right)}
    yes = [at for at in places if of.asked[at].answerable]
    no = [at for at in places if not of.asked[at].answerable]
    spread = estimate([float(at in right) for at in yes], [of.asked[at].question for at in yes])
    return (
        name,
        share(len(right) / max(1, len(yes))),
        f"{share(spread.low)} to {share(spread.high)}",
        share(len(given) / max(1, len(places))),
        share(len(right) / len(given)) if given else "–",
        share(sum(at not in given for at in no) / len(no)) if no else "–",
    )


def as_silent_as_rules(chosen_on: Worth) -> float:
    """The threshold at which, where there is no answer, as many are left open as the rules leave."""
    no = [at for at, one in enumerate(chosen_on.asked) if not one.answerable]
    silent = sum(not chosen_on.asked[at].rules for at in no)
    said = sorted(chosen_on.said[at] for at in no)
    return said[silent] if silent < len(said) else 2.0


def meaning(every: Sequence[Worth]) -> Table:
    """How far the probabilities mean what they say."""
    rows = []
    for of in every:
        said, right = list(of.said), of.right
        bound = threshold_at(said, right, risk=0.5, doubt=_DOUBT)
        exact, rarely = error_by_chance(said)
        rows.append(
            (
                of.source,
                str(len(said)),
                share(calibration_error(said, right)),
                f"{share(exact)}, up to {share(rarely)}",
                share(area_under_risk(said, right)),
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
            "share wrong (AURC by chance)",
            "bound",
        ),
        rows=tuple(rows),
        notes=(
            "ECE: ten bins of as many answers each; if exact: what as many answers show whose probabilities "
            "are all exact, in the mean and in nineteen of twenty draws. AURC: mean share wrong over all "
            "coverages. Bound: from which probability on no more than half are wrong, with a doubt of .1, by "
            "Hoeffding, on answers not seen, if they come from where these come from.",
        ),
    )


def reliability_picture(every: Sequence[Worth]) -> str:
    """What was said against what was so, as SVG."""
    series = {of.source: [Mark(b.said, b.right) for b in reliability(of.said, of.right)] for of in every}
    line = [Mark(at / 10, at / 10) for at in range(11)]
    return picture({**series, "as it should be": line}, y="share right", x="probability")


def risk_picture(every: Sequence[Worth]) -> str:
    """The share wrong against the share answered, as SVG."""
    series = {of.source: _thinned(risk_coverage(of.said, of.right)) for of in every}
    return picture(series, y="share wrong of the answers given", x="share answered")


def _thinned(curve: Sequence[AtCoverage]) -> list[Mark]:
    step = max(1, len(curve) // 60)
    return [Mark(one.coverage, one.risk) for one in curve[step - 1 :: step]]


def sources_of(asked: Mapping[str, Sequence[Asked]]) -> str:
    """What it was fitted on, in words for the file."""
    return ", ".join(f"half A of {name} ({len(of)} questions)" for name, of in asked.items())
