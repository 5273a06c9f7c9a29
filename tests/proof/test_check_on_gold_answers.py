"""The figures of `check_on_gold_answers`, held."""

from pathlib import Path

import pytest

from eval.datasets import LoCoMo, LongMemEval
from tests.proof.check_on_gold_answers import PROVED, Tally, measure


def shares(tally: Tally) -> tuple[float, float, float]:
    """True answers refused, true answers proved, altered answers proved."""
    proved = sum(tally.true[grade] for grade in PROVED)
    wrong = sum(tally.accepted.values()) / sum(tally.tried.values())
    return tally.true["contradicted"] / tally.questions, proved / tally.questions, wrong


@pytest.mark.shared
def test_true_answers_are_hardly_refused_and_altered_ones_hardly_proved(shared: Path) -> None:
    refused, proved, wrong = shares(measure(LoCoMo(shared / "data" / "locomo" / "locomo_dev7.json")))
    assert (refused <= 0.02, proved >= 0.7, wrong <= 0.01) == (True, True, True), (refused, proved, wrong)
    path = shared / "data" / "longmemeval" / "longmemeval_oracle_dev100.json.xz"
    refused, proved, wrong = shares(measure(LongMemEval(path)))
    assert (refused <= 0.05, proved >= 0.6, wrong <= 0.01) == (True, True, True), (refused, proved, wrong)
