"""The figures of `check_on_gold_answers`, held."""

from pathlib import Path

import pytest

from eval.datasets import LoCoMo, LongMemEval
from tests.proof.check_on_gold_answers import PROVED, RANDOM_TURN, Tally, measure


def shares(tally: Tally) -> tuple[float, float, float]:
    """Return the shares of true answers refused, true ones confirmed and altered ones confirmed."""
    confirmed = sum(tally.true[grade] for grade in PROVED)
    wrong = tally.altered(tally.accepted) / tally.altered(tally.tried)
    return tally.true["contradicted"] / tally.questions, confirmed / tally.questions, wrong


@pytest.mark.shared
def test_true_answers_are_hardly_refused_and_altered_ones_hardly_confirmed(shared: Path) -> None:
    tally = measure(LoCoMo(shared / "data" / "locomo" / "locomo_dev7.json"))
    refused, confirmed, wrong = found = shares(tally)
    assert (refused <= 0.02, confirmed >= 0.68, wrong <= 0.015) == (True, True, True), found
    assert tally.share("word") <= 0.03
    assert tally.share(RANDOM_TURN) <= 0.03
    tally = measure(LongMemEval(shared / "data" / "longmemeval" / "longmemeval_oracle_dev100.json.xz"))
    refused, confirmed, wrong = found = shares(tally)
    assert (refused <= 0.05, confirmed >= 0.68, wrong <= 0.01) == (True, True, True), found
    assert tally.share("word") <= 0.03
