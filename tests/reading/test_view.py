"""What one question may see: a session, a past moment, a floor of trust; and what it is told of the rest."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest

from pagestore import PageId, SessionId, Span
from pagestore.codec import open_page_id
from pagestore.errors import Corrupt
from tests.reading.world import START, World, distilled, make_unit
from tiermem.index.interface import Hit, TurnHit, turn_id
from tiermem.ledger import Ledger
from tiermem.reading import Scope
from tiermem.reading.search import LookUp, _as_sealed
from tiermem.reading.turns import FoundTurn, gather
from tiermem.reading.view import View, _past

pytestmark = pytest.mark.anyio

OTHER = SessionId("other")


async def view(world: World, **scope: object) -> View:
    return await View.open(world.ledger, world.index, Scope(**scope))  # type: ignore[arg-type]  # as given


async def test_a_session_sees_its_own_units_and_pages_alone() -> None:
    world = await World.new()
    mine, (unit,) = await world.linked_page("Ann: I adopted a grey cat")
    theirs, (other,) = await world.linked_page("Bob: I saw a grey cat", session=OTHER)
    seen = await view(world, session=OTHER)
    assert (seen.unit(unit.id), seen.unit(other.id)) == (None, other)
    assert (seen.holds(mine), seen.holds(theirs)) == (False, True)
    everywhere = await view(world)
    assert (everywhere.unit(unit.id), everywhere.unit(other.id)) == (unit, other)


async def test_a_floor_of_trust_holds_for_units_and_is_itself_high_enough() -> None:
    world = await World.new()
    page = await world.page("Ann: I adopted a grey cat", "Bob: it likes fish")
    levels = ("web", "assistant", "user")
    units = [
        replace(make_unit(page, f"cat {level}", "a grey cat"), trust=level, id=f"u1:{level}")  # type: ignore[arg-type]
        for level in levels
    ]
    await world.ledger.write(distilled(page, *units))
    seen = await view(world, min_trust="assistant")
    assert [one.trust for one in units if seen.unit(one.id)] == ["assistant", "user"]


async def test_what_was_said_at_a_moment_is_seen_from_it_and_what_came_after_is_not() -> None:
    world = await World.new()
    await world.say("Ann: I adopted a grey cat")
    await world.say("Ann: I adopted a red cat")
    (page,) = await world.ledger.open_pages()
    first, second = (line.recorded_at for line in page.lines)
    assert first is not None
    assert second is not None
    assert first < second
    seen = (await view(world, as_of=first)).seen(page)
    assert [line.turn is not None for line in seen.lines] == [True, False]


@pytest.mark.usefixtures("another_day_here")
async def test_a_moment_without_a_zone_is_of_utc() -> None:
    written = datetime(2023, 5, 8, 12, 0)  # noqa: DTZ001 - that is what is tested
    assert _past(written) == datetime(2023, 5, 8, 12, 0, tzinfo=UTC)
    east = datetime(2023, 5, 8, 14, 0, tzinfo=timezone(timedelta(hours=2)))
    assert _past(east) == _past(written)


async def test_a_page_that_is_damaged_is_told_of_and_one_that_never_was_is_counted() -> None:
    world = await World.new()
    good = await world.page("Ann: I adopted a grey cat")
    bad = await world.page("Bob: the cat likes fish")
    read = world.ledger._read

    def damaged(self: Ledger, page_id: PageId) -> object:
        return Corrupt("a line is damaged") if page_id == bad.id else read(page_id)

    world.ledger._read = damaged.__get__(world.ledger)  # type: ignore[method-assign]  # for this test
    lookup = await world.look_up()
    hits = [Hit(id=page_id, score=1.0) for page_id in (good.id, bad.id, PageId("p1:none"))]
    found = await lookup.read(hits, limit=3)
    assert [page.id for _, page in found.read] == [good.id]
    assert found.dropped == 1
    (told,) = found.degradations
    assert "a line is damaged" in told.reason
    assert bad.id in told.fallback


async def test_units_that_the_index_lacks_are_found_in_the_ledger() -> None:
    world = await World.new()
    page = await world.page("Ann: I adopted a grey cat")
    unit = make_unit(page, "Ann has a pet", "I adopted a grey cat")
    await world.ledger.write(distilled(page, unit))  # and not projected
    lookup: LookUp = await world.look_up()
    assert (await lookup.view.waiting()).units() == 1
    assert [item.unit_id for item in (await lookup.units("pet", limit=3)).units] == [unit.id]


async def test_a_turn_found_by_the_id_of_its_open_page_is_that_of_the_sealed_one() -> None:
    world = await World.new()
    page = await world.page("Ann: I adopted a grey cat")
    opened = open_page_id(page.space, page.session, page.number)
    hits: dict[str, TurnHit | None] = {turn_id(opened, 0): None}
    assert _as_sealed(hits, [page]) == {turn_id(page.id, 0): None}


async def test_a_span_that_ends_where_a_turn_begins_does_not_touch_it() -> None:
    world = await World.new()
    page = await world.page("Ann: I adopted a grey cat", "Bob: how nice")
    first, second = (FoundTurn(page=page, line=line, score=1.0) for line in page.lines)
    border = first.line.end
    before = Span(page_id=page.id, start=first.line.start, end=border)
    after = Span(page_id=page.id, start=border, end=second.line.end)
    assert (first.holds(before), second.holds(before)) == (True, False)
    assert (first.holds(after), second.holds(after)) == (False, True)


async def test_what_was_said_beside_a_turn_is_of_its_own_session() -> None:
    world = await World.new()
    mine = await world.page("Ann: I adopted a grey cat")
    theirs = await world.page("Bob: I bought a red car", session=OTHER, at=START)
    gathered = gather({turn_id(mine.id, 0): None, turn_id(theirs.id, 0): None}, [mine, theirs])
    assert [len(one.beside) for one in gathered.candidates] == [1, 1]
