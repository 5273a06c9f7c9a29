"""What signals may do to a ranking: nothing by default, one place at most, and no floor is crossed."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagestore import Turn
from tests.reading.world import MAIN, START, World, distilled, make_unit
from tiermem.ledger import Feedback
from tiermem.model import SummaryUnit
from tiermem.reading.ranking import RankingOptions
from tiermem.reading.view import Scope
from tiermem.salience import Outcome, Share, SignalWeights, order_by_signals
from tiermem.trust import DEFAULT_TRUST

BY_FEEDBACK = SignalWeights(decay=0.0, tier=0.0)
numbers = st.floats(-5, 5)


def test_nothing_moves_where_signals_are_alike_or_count_nothing() -> None:
    assert order_by_signals([3, 2, 1], [0.5, 0.5, 0.5], 9.0) == [0, 1, 2]
    assert order_by_signals([3, 2, 1], [0.0, 0.5, 1.0], 0.0) == [0, 1, 2]
    assert order_by_signals([], [], 1.0) == []


def test_two_neighbours_change_places_where_signals_outdo_the_margin_between_them() -> None:
    assert order_by_signals([3.0, 2.9, 1.0], [0.0, 1.0, 0.0], 0.2) == [1, 0, 2]
    assert order_by_signals([3.0, 2.7, 1.0], [0.0, 1.0, 0.0], 0.2) == [0, 1, 2]


@given(
    pairs=st.lists(st.tuples(numbers, numbers), max_size=12),
    weight=st.floats(0, 1000),
)
def test_nothing_moves_more_than_one_place_and_nothing_is_lost(
    pairs: list[tuple[float, float]], weight: float
) -> None:
    scores = sorted((score for score, _ in pairs), reverse=True)
    order = order_by_signals(scores, [strength for _, strength in pairs], weight)
    assert sorted(order) == list(range(len(pairs)))
    assert all(abs(place - was) <= 1 for place, was in enumerate(order))


async def world_of(*lines: tuple[str, str | None, str | None]) -> tuple[World, tuple[SummaryUnit, ...]]:
    """Units of turns, each with its words, its trust and its role."""
    world = await World.new()
    turns = [
        Turn(speaker="Ann", text=text, trust=trust, role=role, said_at=START) for text, trust, role in lines
    ]
    await world.ledger.append(MAIN, turns)
    (page_id,) = await world.ledger.seal(MAIN)
    page = await world.ledger.page(page_id)
    units = tuple(
        replace(make_unit(page, turn.text, turn.text), trust=DEFAULT_TRUST.of(turn)) for turn in turns
    )
    await world.ledger.write(distilled(page, *units))
    await world.project()
    return world, units


async def judge(world: World, unit: SummaryUnit, outcome: Outcome, times: int = 3) -> None:
    for _ in range(times):
        shares = (Share(unit_id=unit.id, share=1.0),)
        await world.ledger.write(Feedback(outcome=outcome, shares=shares, by="user"))


async def found(world: World, *, weight: float, floor: str | None = None, limit: int = 5) -> list[str]:
    ranking = RankingOptions(signals_weight=weight, signals=BY_FEEDBACK)
    lookup = await world.look_up(Scope(min_trust=floor), ranking=ranking)
    return [one.text for one in (await lookup.units("grey cat", limit=limit)).units]


@pytest.mark.anyio
@pytest.mark.usefixtures("logs")
async def test_weights_move_a_unit_only_where_that_is_asked_for() -> None:
    texts = ("my grey cat sleeps", "the grey cat eats", "a cat is grey")
    world, units = await world_of(*((text, None, None) for text in texts))
    before = await found(world, weight=0)
    await judge(world, next(unit for unit in units if unit.text == before[1]), "success")
    assert await found(world, weight=0) == before
    assert RankingOptions().signals_weight == 0
    assert await found(world, weight=1000) == [before[1], before[0], before[2]]


@pytest.mark.anyio
@pytest.mark.usefixtures("logs")
async def test_what_a_tool_told_is_procedural_and_counts_more() -> None:
    texts = (("my grey cat sleeps", None, "user"), ("the grey cat eats", None, "tool"))
    world, _ = await world_of(*texts)
    ranking = RankingOptions(signals_weight=1000, signals=SignalWeights(decay=0.0))
    lookup = await world.look_up(ranking=ranking)
    seen = [one.text for one in (await lookup.units("grey cat", limit=2)).units]
    assert seen == ["the grey cat eats", "my grey cat sleeps"]


@pytest.mark.anyio
@pytest.mark.parametrize("weight", [0.0, 0.1, 1000.0])
@pytest.mark.usefixtures("logs")
async def test_no_praise_lifts_a_unit_over_a_floor_of_trust(weight: float) -> None:
    """Nor does blame press one below it: the floor asks of nothing but trust."""
    lines = [(f"my grey cat number {n} sleeps", "web" if n % 2 else "user", None) for n in range(8)]
    world, units = await world_of(*lines)
    before = await found(world, weight=weight, floor="user", limit=8)
    for unit in units:
        await judge(world, unit, "success" if unit.trust == "web" else "failure", times=8)
    after = await found(world, weight=weight, floor="user", limit=8)
    trusted = {unit.text for unit in units if unit.trust == "user"}
    assert set(after) == set(before) == trusted
    assert {unit.text for unit in units} == set(await found(world, weight=weight, limit=8))
