"""A weight moves a tenth for a success, half of that back for a failure, and .3 a day at most."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiermem.salience import Judgement, Outcome, tier_of, weight_of

START = datetime(2024, 3, 1, 12, tzinfo=UTC)


def judged(outcome: Outcome, *, share: float = 1.0, hours: float = 0) -> Judgement:
    return Judgement(outcome=outcome, share=share, at=START + timedelta(hours=hours), by="user")


def daily(outcome: Outcome, times: int) -> list[Judgement]:
    return [judged(outcome, hours=24 * day) for day in range(times)]


def test_ten_successes_on_ten_days_saturate_it_and_an_eleventh_changes_nothing() -> None:
    assert [weight_of(daily("success", n)).value for n in (1, 9, 10, 11)] == [0.1, 0.9, 1.0, 1.0]


def test_a_failure_takes_back_half_as_much_and_nothing_falls_below_minus_one() -> None:
    assert weight_of(daily("failure", 1)).value == -0.05
    assert [weight_of(daily("failure", n)).value for n in (20, 30)] == [-1.0, -1.0]


def test_a_neutral_outcome_moves_nothing() -> None:
    assert weight_of(daily("neutral", 5)).value == 0.0


def test_a_share_moves_its_part() -> None:
    assert weight_of([judged("success", share=0.25)]).value == 0.025


def test_a_day_moves_it_no_further_than_three_tenths_from_where_it_began() -> None:
    assert weight_of([judged("success")] * 50).value == 0.3
    assert weight_of([judged("failure")] * 50).value == -0.3
    next_day = [judged("success", hours=12 + n) for n in range(8)]
    assert weight_of([*[judged("success")] * 50, *next_day]).value == 0.6


def test_days_are_those_of_utc_and_a_clock_that_goes_back_begins_none_again() -> None:
    far_east = START.astimezone(timezone(timedelta(hours=14)))
    there = Judgement(outcome="success", share=1.0, at=far_east, by="user")
    assert weight_of([*[judged("success")] * 3, there]).value == 0.3
    back = [judged("success", hours=-48)] * 10
    assert weight_of([*[judged("success")] * 3, *back]).value == 0.3


@given(
    st.lists(
        st.builds(
            judged,
            st.sampled_from(["success", "failure", "neutral"]),
            share=st.floats(0, 1),
            hours=st.floats(0, 96),
        ),
        max_size=60,
    )
)
def test_it_stays_within_its_bounds_and_no_day_moves_it_more_than_it_may(judgements: list[Judgement]) -> None:
    ordered = sorted(judgements, key=lambda one: one.at)
    weights = [weight_of(ordered[:n]).value for n in range(len(ordered) + 1)]
    assert all(-1 <= weight <= 1 for weight in weights)
    for at, one in enumerate(ordered):
        began = next(n for n, other in enumerate(ordered) if other.at.date() == one.at.date())
        assert abs(weights[at + 1] - weights[began]) <= 0.3 + 1e-9


@pytest.mark.parametrize(
    ("roles", "tier"),
    [
        ((), "semantic"),
        (("user", None), "semantic"),
        (("user", "tool"), "procedural"),
        (("Function",), "procedural"),
    ],
)
def test_what_rests_on_a_tool_is_procedural(roles: tuple[str | None, ...], tier: str) -> None:
    assert tier_of(roles) == tier
