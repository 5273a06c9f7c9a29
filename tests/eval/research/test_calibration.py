"""What a probability is worth: fits that find what made the data, errors, curves and thresholds."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.research.calibration import (
    Logistic,
    area_under_risk,
    calibration_error,
    error_by_chance,
    fit,
    reliability,
    risk_coverage,
    threshold_at,
)


def drawn(count: int, seed: int = 1) -> tuple[list[tuple[float, float]], list[bool]]:
    """Answers whose truth is drawn by a known probability."""
    chance = random.Random(seed)
    truth = Logistic(bias=-0.5, weights=(1.5, 0.0))
    signals = [(chance.gauss(0, 1), chance.gauss(0, 5)) for _ in range(count)]
    return signals, [chance.random() < truth.probability(one) for one in signals]


def test_a_fit_finds_what_made_the_data_and_means_what_it_says() -> None:
    signals, right = drawn(4000)
    found = fit(signals, right)
    assert found.bias == pytest.approx(-0.5, abs=0.12)
    assert list(found.weights) == pytest.approx([1.5, 0], abs=0.15)
    others, truth = drawn(4000, seed=2)
    said = [found.probability(one) for one in others]
    assert calibration_error(said, truth) < 0.03
    assert calibration_error([min(1, 1.5 * one) for one in said], truth) > 0.1
    assert area_under_risk(said, truth) < 1 - sum(truth) / len(truth) - 0.15


def test_exact_probabilities_show_an_error_by_chance_the_fewer_the_more() -> None:
    signals, _ = drawn(2000)
    truth = Logistic(bias=-0.5, weights=(1.5, 0.0))
    said = [truth.probability(one) for one in signals]
    few, many = error_by_chance(said[:100]), error_by_chance(said)
    assert 0 < many[0] < many[1] < few[0] < few[1] < 0.2
    assert error_by_chance(said) == many
    assert error_by_chance([0.0, 1.0]) == (0, 0)
    seen = [chance.random() < one for chance in [random.Random(7)] for one in said]
    assert calibration_error(said, seen) < 2 * many[1]


def test_a_fit_needs_both_kinds() -> None:
    for right in ([True, True], [False, False], []):
        with pytest.raises(ValueError, match="right and answers that are wrong"):
            fit([(1.0,) for _ in right], right)


def test_bins_hold_as_many_each_and_tell_what_was_said_and_what_was_so() -> None:
    low, high = reliability([0.9, 0.1, 0.2, 0.8], [True, False, True, True], bins=2)
    assert (low.count, low.right, high.count, high.right) == (2, 0.5, 2, 1.0)
    assert [low.said, high.said] == pytest.approx([0.15, 0.85])
    assert calibration_error([1.0, 0.0], [True, False]) == 0


def test_the_curve_answers_the_surest_first() -> None:
    curve = risk_coverage([0.2, 0.9, 0.5], [False, True, False])
    assert [one.coverage for one in curve] == pytest.approx([1 / 3, 2 / 3, 1])
    assert [one.risk for one in curve] == pytest.approx([0, 0.5, 2 / 3])
    assert [one.threshold for one in curve] == [0.9, 0.5, 0.2]


def test_a_threshold_keeps_the_risk_or_there_is_none() -> None:
    said, right = [0.9, 0.8, 0.7, 0.6], [True, True, False, True]
    assert threshold_at(said, right, risk=0.25) == 0.6
    assert threshold_at(said, right, risk=0.1) == 0.8
    assert threshold_at([0.9, 0.9], [True, False], risk=0.1) is None
    assert threshold_at(said, right, risk=0.25, doubt=0.1) is None
    sure = [0.9] * 500 + [0.1] * 500
    truth = [True] * 500 + [False] * 500
    assert threshold_at(sure, truth, risk=0.25, doubt=0.1) == 0.9


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=60), st.floats(0, 1))
def test_what_is_answered_from_a_threshold_on_is_no_riskier_than_asked(
    answers: list[tuple[float, bool]], risk: float
) -> None:
    said, right = [one for one, _ in answers], [one for _, one in answers]
    found = threshold_at(said, right, risk=risk)
    if found is not None:
        given_out = [truth for one, truth in answers if one >= found]
        assert sum(not one for one in given_out) / len(given_out) <= risk + 1e-12
