"""From what a reader says of an answer to the probability that it is right.

A logistic regression, fitted on conversations that the reader did not learn from, with the embedder whose
turns it was shown; it is part of the reader's file. It does not apply to turns of other embedders.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from math import exp, isfinite, isnan
from typing import Final

KEY: Final = "calibration"
"""What it is called in the header of the file."""
DEFAULT_RISK: Final = 0.4
"""The share of given answers that may be wrong by default."""
_IN_EIGHT_BITS: Final = "-int8"
"""How the name of an embedder ends that is another in eight bits."""
FARTHEST: Final = 12.0
"""Logits beyond which a lead says no more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signals:
    """What is known of an answer before it is judged, each a number.

    `margin`: the lead over "there is no answer"; `ahead`: the lead over the best words of another turn (both
    in logits, at most `FARTHEST`). `covered`: the share of the question's words that the turn holds.
    `agrees`: 1 where rules answer likewise; `silent`: 1 where they do not answer. `by_rules`: 1 where theirs
    is the answer; `day`: 1 where a date is asked for, `several` where a list is, `yes` where yes or no is.
    `own`: how far words of the person asked about lead those of another (in logits, within `FARTHEST`);
    `theirs`: the share of the turns read that others say; `place`: that of the turn among those read, from 0;
    `unheard`: the share of the question's words, without names of speakers, that nothing found holds.
    """

    margin: float
    ahead: float
    covered: float
    agrees: float
    silent: float
    by_rules: float
    day: float
    several: float = 0.0
    yes: float = 0.0
    own: float = FARTHEST
    theirs: float = 0.0
    place: float = 0.0
    unheard: float = 0.0


NAMES: Final = tuple(one.name for one in fields(Signals))
_OF_WHOM: Final = ("own", "theirs")
OF_READER: Final = (
    *("margin", "ahead", "covered", "agrees", "silent", "day", "several", "yes", "place", "unheard"),
    *_OF_WHOM,
)
OF_RULES: Final = ("covered", "agrees", "yes", "unheard", *_OF_WHOM)
"""The signals that tell of an answer of the reader's, and of one of rules."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """Bias and weights by the name of a signal, for answers that the reader points at and for those of rules;
    thresholds by the risk they were chosen for.

    `thresholds` maps a risk, written as "0.25" (the share of given answers that may be wrong), to the lowest
    probability at which it was kept; a risk that nothing kept is not in it.
    """

    embedder: str
    bias: float
    weights: Mapping[str, float]
    rules_bias: float
    rules_weights: Mapping[str, float]
    thresholds: Mapping[str, float]
    fitted_on: str = ""

    def holds_for(self, embedder: str) -> bool:
        """Whether it tells of what this embedder finds: the one it was fitted with, and the same in eight
        bits, with which it errs about as much (docs/results/probability.md).
        """
        return embedder in (self.embedder, f"{self.embedder}{_IN_EIGHT_BITS}")

    def probability(self, signals: Signals) -> float:
        """Between 0 and 1; `FloatingPointError` where it cannot be computed."""
        bias, weights = (
            (self.rules_bias, self.rules_weights) if signals.by_rules else (self.bias, self.weights)
        )
        values = asdict(signals)
        total = bias + sum(weight * values[name] for name, weight in weights.items())
        if isnan(total):
            raise FloatingPointError("its calibration gives no number")
        return 1 / (1 + exp(-max(-60.0, min(60.0, total))))

    def threshold(self, risk: float) -> float:
        """The probability from which on answers are given at this risk: that of the nearest lower risk there
        is a threshold for; above 1 (nothing is given) where there is none.
        """
        kept = [float(one) for one in self.thresholds if float(one) <= risk + 1e-9]
        return self.thresholds[f"{max(kept):.2f}"] if kept else 2.0

    def written(self) -> str:
        """The text of the calibration in the file: JSON."""
        return json.dumps(asdict(self), sort_keys=True)


def read_calibration(header: Mapping[str, str]) -> Calibration | None:
    """What the header of a reader's file says; `None` without any, `ValueError` where it is none."""
    if KEY not in header:
        return None
    try:
        found = Calibration(**json.loads(header[KEY]))
        risks = {risk: f"{float(risk):.2f}" for risk in found.thresholds}
        names = {*found.rules_weights, *found.weights}
        numbers: list[object] = [found.bias, found.rules_bias]
        numbers += [*found.rules_weights.values(), *found.weights.values(), *found.thresholds.values()]
        is_finite = all(isinstance(one, int | float) and isfinite(one) for one in numbers)
    except (TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise ValueError(f"no calibration of a reader: {error}") from error
    unknown = [*(names - set(NAMES)), *(risk for risk, written in risks.items() if risk != written)]
    if unknown or not is_finite:
        raise ValueError(f"no calibration of a reader: {sorted(unknown) or numbers}")
    return found
