"""What outcomes of half of the questions do for the others: judged by evidence, ranked as reading ranks."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.research.feedback.halves import (
    VARIANTS,
    halves,
    halves_of,
    learnt,
    order_by_signals,
    rows,
    strength,
)
from eval.research.feedback.report import terminal
from tests.engines import quoting_engine
from tests.eval import tiny
from tiermem import Signals
from tiermem.embedding.hashed import HashEmbedder

pytestmark = pytest.mark.anyio


def test_halves_share_no_question_and_leave_out_what_has_no_evidence() -> None:
    asked = [question for n in range(20) for question in tiny.case(f"c{n}").questions]
    first, second = halves(asked)
    assert sorted(one.id for one in (*first, *second)) == sorted(one.id for one in asked if one.evidence)
    assert min(len(first), len(second)) > 20
    assert halves(reversed(asked))[0] == first[::-1]


async def test_units_that_hold_evidence_succeed_and_the_others_fail() -> None:
    all_learnt = [
        await learnt(tiny.case(name), engine=quoting_engine(), embedder=HashEmbedder())
        for name in ("one", "two")
    ]
    found = halves_of(all_learnt, data="0" * 64, engine="rules")
    assert found.outcomes >= found.questions > 0
    assert 0 < found.moved <= found.units
    assert [row.name for row in found.rows] == ["no signals", *(variant.name for variant in VARIANTS)]
    assert all(0 <= row.recall.mean <= 1 and row.difference.clusters == 2 for row in found.rows)
    assert found.rows[0].difference.mean == found.rows[0].changed == 0
    assert rows(all_learnt) == found.rows
    table, foot = terminal(found)
    assert not isinstance(table, str)
    assert table.row_count == len(found.rows)
    assert f"of {found.units} units moved" in str(foot)


async def test_swapped_the_half_is_looked_up_that_was_judged() -> None:
    case = tiny.case("one")
    first, second = halves(case.questions)
    one, other = [
        await learnt(case, engine=quoting_engine(), embedder=HashEmbedder(), swapped=swapped)
        for swapped in (False, True)
    ]
    assert (len(one.asked), len(other.asked)) == (len(second), len(first))
    assert len(first) != len(second)


NOW = datetime(2024, 3, 1, tzinfo=UTC)
numbers = st.floats(-5, 5)


def signals(weight: float = 0.0, *, days: float | None = None) -> Signals:
    said_at = None if days is None else NOW - timedelta(days=days)
    return Signals(importance=0.5, uses=0, last_used=None, weight=weight, said_at=said_at, tier="semantic")


def test_strength_runs_from_nothing_to_one_and_rises_with_each_signal() -> None:
    def strength_of(signals: Signals) -> float:
        return strength(signals, NOW, by_feedback=False)

    assert strength_of(replace(signals(-1.0), tier="episodic")) == 0.0
    assert math.isclose(strength_of(replace(signals(1.0, days=0), tier="procedural")), 1.0)
    assert strength_of(signals(0.1)) > strength_of(signals()) > strength_of(signals(-0.1))
    assert strength_of(signals(days=1)) > strength_of(signals(days=9)) > strength_of(signals())
    assert strength_of(replace(signals(), tier="procedural")) > strength_of(signals())
    assert strength(signals(0.5, days=0), NOW, by_feedback=True) == 0.75


def test_two_neighbours_change_places_where_signals_outdo_the_margin_between_them() -> None:
    assert order_by_signals([3.0, 2.9, 1.0], [0.0, 1.0, 0.0], 0.2) == [1, 0, 2]
    assert order_by_signals([3.0, 2.7, 1.0], [0.0, 1.0, 0.0], 0.2) == [0, 1, 2]
    assert order_by_signals([3.0, 2.9, 2.8], [0.0, 1.0, 1.0], 9.0) == [1, 0, 2]


@given(pairs=st.lists(st.tuples(numbers, numbers), max_size=12), weight=st.floats(0, 1000))
def test_nothing_moves_more_than_one_place_and_nothing_is_lost(
    pairs: list[tuple[float, float]], weight: float
) -> None:
    scores = sorted((score for score, _ in pairs), reverse=True)
    order = order_by_signals(scores, [strength for _, strength in pairs], weight)
    assert sorted(order) == list(range(len(pairs)))
    assert all(abs(place - was) <= 1 for place, was in enumerate(order))
