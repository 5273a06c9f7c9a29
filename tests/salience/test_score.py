"""The score of five signals, as published; decay that gives way; sessions first, then turns."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta, timezone
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagestore import SessionId
from tiermem.salience import PUBLISHED, Signals, SignalWeights, order_by_signals, score, strength
from tiermem.salience.score import Features, Scorable, chosen_sessions, decay, two_stages
from tiermem.salience.signals import Tier

NOW = datetime(2024, 3, 1, tzinfo=UTC)
numbers = st.floats(0, 30)
TIERS: tuple[Tier, ...] = ("episodic", "semantic", "procedural")


def test_half_is_left_after_a_fortnight_less_a_morning() -> None:
    assert decay(0) == 1.0
    assert decay(13.863) == pytest.approx(0.5, abs=1e-4)
    assert decay(-3) == 1.0


def test_what_is_plainly_meant_or_of_a_chosen_session_does_not_decay() -> None:
    assert decay(365, words=2.0) < 1e-7
    assert decay(365, words=2.01) == decay(365, chosen=True) == 1.0


def test_what_nobody_can_date_gets_nothing_for_being_new() -> None:
    assert (decay(None), decay(None, words=3.0)) == (0.0, 1.0)


def test_the_published_weights_give_the_published_sums() -> None:
    new = Features(tier="episodic", words=4.0, days=0.0, weight=1.0)
    assert score(new) == pytest.approx(0.35 * 4 + 0.25 + 0.25)
    assert score(Features(tier="episodic", words=2.0, days=None, weight=0.0), words="saturated") == (
        pytest.approx(0.35 * 0.5 + 0.25 * 0.5)
    )


def test_a_tier_adds_nothing_three_or_six_hundredths() -> None:
    plain = [score(Features(tier=tier)) for tier in TIERS]
    assert [round(one - plain[0], 6) for one in plain] == [0.0, 0.03, 0.06]


def test_meaning_counts_where_it_is_given_a_weight() -> None:
    weights = SignalWeights(meaning=0.5)
    near, far = (score(Features(tier="episodic", meaning=m), weights) for m in (0.9, 0.1))
    assert near - far == pytest.approx(0.4)
    assert score(Features(tier="episodic", meaning=0.9)) == score(Features(tier="episodic"))


@given(words=st.lists(numbers, min_size=2, max_size=8), others=numbers)
def test_without_variance_the_other_signals_leave_the_order_by_words(
    words: list[float], others: float
) -> None:
    """Every candidate alike in age, weight and tier: the order is that of BM25, raw or saturated."""
    for how in ("raw", "saturated"):
        same = [Features(tier="semantic", words=w, days=others, weight=0.3, chosen=True) for w in words]
        for one, other in combinations(same, 2):
            if abs(one.words - other.words) > 1e-6:
                by_score = score(one, words=how) > score(other, words=how)
                assert by_score == (one.words > other.words)


def test_raw_words_outweigh_every_other_signal_and_saturated_ones_do_not() -> None:
    said = Features(tier="episodic", words=6.0, days=400.0, weight=-1.0)
    liked = Features(tier="procedural", words=4.0, days=0.0, weight=1.0)
    assert score(said) > score(liked)
    assert score(said, words="saturated") < score(liked, words="saturated")


def signals(weight: float = 0.0, *, days: float | None = None, tier: Tier = "semantic") -> Signals:
    said_at = None if days is None else NOW - timedelta(days=days)
    return Signals(importance=0.5, uses=0, last_used=None, weight=weight, said_at=said_at, tier=tier)


def test_strength_runs_from_nothing_to_one_and_rises_with_each_signal() -> None:
    assert strength(signals(-1.0), NOW, SignalWeights(tier=0.0)) == 0.0
    assert strength(signals(1.0, days=0, tier="procedural"), NOW) == pytest.approx(1.0)
    assert strength(signals(0.1), NOW) > strength(signals(), NOW) > strength(signals(-0.1), NOW)
    assert strength(signals(days=1), NOW) > strength(signals(days=9), NOW) > strength(signals(), NOW)
    assert strength(signals(tier="procedural"), NOW) > strength(signals(), NOW)
    assert strength(signals(1.0), NOW, SignalWeights(decay=0, feedback=0, tier=0)) == 0.0


def test_a_time_without_a_zone_is_read_by_the_other_clock() -> None:
    naive = signals(days=10)
    local = Signals(
        importance=0.5, uses=0, last_used=None, weight=0.0, tier="semantic",
        said_at=(NOW - timedelta(days=10)).replace(tzinfo=None),
    )  # fmt: skip
    assert strength(local, NOW) == strength(naive, NOW)
    assert strength(naive, NOW.replace(tzinfo=None)) == strength(naive, NOW)
    elsewhere = NOW.astimezone(timezone(timedelta(hours=9)))
    assert strength(naive, elsewhere) == pytest.approx(strength(naive, NOW))


def candidate(key: str, session: str, tier: Tier, words: float, *, days: float = 400.0) -> Scorable:
    features = Features(tier=tier, words=words, days=days)
    return Scorable(key=key, session=SessionId(session), features=features)


UNITS = [candidate(f"u{n}", f"s{n}", "semantic", float(n)) for n in range(8)]


def test_stage_one_takes_the_sessions_of_the_best_units() -> None:
    def named(most: int | None) -> list[str]:
        return sorted(chosen_sessions(UNITS, most) or ())

    assert named(2) == ["s6", "s7"]
    assert named(5) == ["s3", "s4", "s5", "s6", "s7"]
    assert named(None) == [f"s{n}" for n in range(1, 8)]  # the first shares no word


def test_stage_two_ranks_the_turns_of_these_sessions_alone() -> None:
    turns = [candidate(f"t{n}", f"s{n}", "episodic", 1.0) for n in range(8)]
    found = two_stages([*UNITS, *turns], most=2)
    assert [one.key for one, _ in found] == ["t6", "t7"]
    assert all(value == pytest.approx(0.35 + 0.25 + 0.125) for _, value in found)


def test_where_no_unit_shares_a_word_every_session_counts_and_what_is_old_counts_less() -> None:
    turns = [candidate("old", "s1", "episodic", 1.0), candidate("new", "s2", "episodic", 1.0, days=0)]
    found = two_stages([UNITS[0], *turns])
    assert [one.key for one, _ in found] == ["new", "old"]


def test_nothing_is_chosen_of_nothing() -> None:
    assert two_stages([]) == ()
    assert chosen_sessions([]) is None
    assert math.isclose(PUBLISHED.words + PUBLISHED.decay + PUBLISHED.feedback + PUBLISHED.tier, 1.0)


def test_signals_move_nothing_back_by_more_than_one_place() -> None:
    assert order_by_signals([3.0, 2.9, 2.8], [0.0, 1.0, 1.0], 9.0) == [1, 0, 2]
