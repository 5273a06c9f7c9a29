"""Signals of units change no ranking: decision 40."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pagestore import Turn
from tests.reading.world import MAIN, START, World, distilled, make_question, make_unit
from tiermem.ledger import Feedback
from tiermem.model import SummaryUnit
from tiermem.reading.view import Scope
from tiermem.salience import Outcome, Share
from tiermem.trust import DEFAULT_TRUST


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


async def found(world: World) -> list[str]:
    lookup = await world.look_up(Scope())
    return [one.text for one in (await lookup.units(make_question("grey cat"), limit=5)).units]


@pytest.mark.anyio
@pytest.mark.usefixtures("logs")
async def test_outcomes_change_no_ranking() -> None:
    texts = ("my grey cat sleeps", "the grey cat eats", "a cat is grey")
    world, units = await world_of(*((text, None, None) for text in texts))
    before = await found(world)
    await judge(world, next(unit for unit in units if unit.text == before[1]), "success")
    await judge(world, next(unit for unit in units if unit.text == before[0]), "failure")
    assert await found(world) == before
