"""A question about a past moment that finds nothing says why: the dialogue was stored later."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from pagestore import SessionId
from tests.reading.world import MAIN, START, World, make_question
from tiermem.ledger import Visibility
from tiermem.model import Degradation
from tiermem.reading import Scope
from tiermem.reading.past import future_notes

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("logs")]

IN_2024 = datetime(2024, 1, 1, tzinfo=UTC)
BEFORE_ALL_WAS_SAID = START - timedelta(days=400)
SALTED = "Ann: I keep the anchovies salted"


async def notes_at(world: World, moment: datetime, **scope: object) -> list[Degradation]:
    outcome = await world.ask("Where are the anchovies?", scope=Scope(as_of=moment, **scope))  # type: ignore[arg-type]
    return [note for note in outcome.all_degradations if note.stage == "as_of"]


async def test_dialogue_that_was_stored_after_the_moment_and_said_before_it_is_explained() -> None:
    world = await World.new()
    page = await world.page(SALTED)
    (note,) = await notes_at(world, IN_2024)
    stored_at = page.lines[0].recorded_at
    assert stored_at is not None
    assert "nothing was stored by 2024-01-01 00:00 UTC" in note.reason
    assert f"the first turn was stored at {stored_at:%Y-%m-%d %H:%M} UTC" in note.reason
    assert "said_before" in note.reason
    assert note.fallback == "an empty memory"


async def test_a_page_that_is_still_filling_is_explained_as_well() -> None:
    world = await World.new()
    await world.say(SALTED)
    (note,) = await notes_at(world, IN_2024)
    assert "said_before" in note.reason


async def test_said_before_is_not_proposed_where_nothing_was_said_by_then_either() -> None:
    world = await World.new()
    await world.page(SALTED)
    (note,) = await notes_at(world, BEFORE_ALL_WAS_SAID)
    assert "nothing was stored by" in note.reason
    assert "said_before" not in note.reason


async def test_there_is_no_note_for_an_empty_store_or_where_other_turns_were_stored_by_then() -> None:
    world = await World.new()
    assert await notes_at(world, IN_2024) == []
    await world.page("Bob: the lighthouse is red")
    moment = datetime.now(UTC)
    await world.page(SALTED)
    assert await notes_at(world, moment) == []


async def test_a_note_knows_of_the_session_that_is_asked_about_alone() -> None:
    world = await World.new()
    await world.page("Bob: the lighthouse is red")
    moment = datetime.now(UTC)
    await world.page(SALTED, session=SessionId("kitchen"))
    assert await notes_at(world, moment, session=MAIN) == []
    (note,) = await notes_at(world, moment, session=SessionId("kitchen"))
    assert "said_before" in note.reason


async def test_a_note_tells_an_agent_nothing_of_turns_it_may_not_see() -> None:
    world = await World.new()
    await world.say(SALTED, agent="cook")
    reader = world.reader().seen_by(Visibility(agent="pilot", agents=frozenset({"pilot"})))
    outcome = await reader.ask(make_question("Where are the anchovies?"), scope=Scope(as_of=IN_2024))
    assert [note for note in outcome.all_degradations if note.stage == "as_of"] == []


async def test_a_moment_in_the_future_is_named_and_memory_is_as_it_is_now() -> None:
    world = await World.new()
    page = await world.page(SALTED)
    await world.units(page, ("The anchovies are salted", "I keep the anchovies salted"))
    later = datetime.now(UTC) + timedelta(days=400)
    (note,) = await notes_at(world, later)
    assert note.reason == f"{later:%Y-%m-%d %H:%M} UTC is in the future"
    assert note.fallback == "memory as it is now"


async def test_units_of_a_past_moment_warn_only_where_there_are_none(
    caplog: pytest.LogCaptureFixture,
) -> None:
    world = await World.new()
    page = await world.page(SALTED)
    await world.units(page, ("The anchovies are salted", "I keep the anchovies salted"))
    reader = world.reader()
    assert len(await reader.units(as_of=datetime.now(UTC))) == len(await reader.units()) == 1
    assert caplog.text == ""
    assert await reader.units(as_of=IN_2024) == ()
    assert "Use said_before" in caplog.text


@pytest.mark.parametrize("hours", [-5, 0, 9])
def test_today_to_its_end_is_not_the_future_in_any_zone(hours: int) -> None:
    now = datetime(2024, 5, 8, 12, 0, tzinfo=UTC)
    end = datetime(2024, 5, 8, 23, 59, 59, 999999, tzinfo=timezone(timedelta(hours=hours)))
    assert future_notes(now, now=now) == future_notes(end, now=now) == ()
    assert len(future_notes(end + timedelta(hours=1), now=now)) == 1


def test_today_is_that_of_the_zone_of_the_moment() -> None:
    now = datetime(2024, 5, 8, 20, 0, tzinfo=UTC)
    tomorrow_there = datetime(2024, 5, 9, 23, 0, tzinfo=timezone(timedelta(hours=9)))
    assert future_notes(tomorrow_there, now=now) == ()


def test_the_last_moment_of_the_calendar_can_be_shown() -> None:
    last = datetime.max.replace(tzinfo=timezone(timedelta(hours=-9)))
    (note,) = future_notes(last, now=datetime(2024, 5, 8, tzinfo=UTC))
    assert note.reason == "9999-12-31 23:59-09:00 is in the future"
