"""What one question may see: a session, a past moment, a floor of trust; and what it is told of the rest."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from pagestore import KeepsPages, Page, PageId, SessionId, Span, Turn
from pagestore.errors import Corrupt
from tests.reading.world import START, World, distilled, make_question, make_unit
from tiermem.index import features
from tiermem.index.values import Hit
from tiermem.ledger import Visibility
from tiermem.model import TurnFilter, UnitId
from tiermem.reading import Scope
from tiermem.reading.search import LookUp
from tiermem.reading.turns import FoundTurn, candidates_on_pages
from tiermem.reading.view import View, _past

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("logs")]

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
    seen = (await view(world, as_of=first)).as_visible(page)
    assert [line.turn is not None for line in seen.lines] == [True, False]


@pytest.mark.usefixtures("another_day_here")
async def test_a_moment_without_a_zone_is_of_utc() -> None:
    written = datetime(2023, 5, 8, 12, 0)  # noqa: DTZ001 - that is what is tested
    assert _past(written) == datetime(2023, 5, 8, 12, 0, tzinfo=UTC)
    east = datetime(2023, 5, 8, 14, 0, tzinfo=timezone(timedelta(hours=2)))
    assert _past(east) == _past(written)


async def test_a_page_that_is_damaged_is_told_of_and_one_that_never_was_is_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = await World.new()
    good = await world.page("Ann: I adopted a grey cat")
    bad = await world.page("Bob: the cat likes fish")
    log = world.ledger._log
    assert isinstance(log, KeepsPages)
    whole = log.kept_page

    def damaged(page_id: PageId) -> Page:
        if page_id == bad.id:
            raise Corrupt("a line is damaged")
        return whole(page_id)

    monkeypatch.setattr(log, "kept_page", damaged)
    lookup = await world.look_up()
    hits = [Hit(id=page_id, score=1.0) for page_id in (good.id, bad.id, PageId("p1:none"))]
    found = await lookup.read(hits, limit=3)
    assert [page.id for _, page in found.read] == [good.id]
    assert found.dropped == 1
    (told,) = found.degradations
    assert "a line is damaged" in told.reason
    assert bad.id in told.fallback


async def test_an_agent_is_not_shown_how_many_pages_of_others_are_found() -> None:
    world = await World.new()
    page = await world.page("Ann: I adopted a grey cat")
    scope = Scope(sees=Visibility(agent="pilot", agents=frozenset({"pilot"})))
    lookup = await world.look_up(scope)
    found = await lookup.read([Hit(id=one, score=1.0) for one in (page.id, PageId("p1:none"))], limit=2)
    assert found.dropped == 0


async def test_a_unit_that_happened_in_part_on_a_day_is_seen() -> None:
    world = await World.new()
    page = await world.page("Ann: I moved to Oslo")
    unit = replace(make_unit(page, "Ann moved to Oslo", "I moved to Oslo"), event_at="2023-05")
    await world.ledger.write(distilled(page, unit))
    for first, last, is_seen in (
        (date(2023, 5, 8), date(2023, 5, 8), True),
        (date(2023, 4, 1), date(2023, 5, 1), True),
        (date(2023, 6, 1), date(2023, 6, 2), False),
    ):
        seen = await view(world, happened=((first, last),))
        assert (seen.unit(unit.id) is not None) == is_seen


async def test_units_that_the_index_lacks_are_found_in_the_ledger() -> None:
    world = await World.new()
    page = await world.page("Ann: I adopted a grey cat")
    unit = make_unit(page, "Ann has a pet", "I adopted a grey cat")
    await world.ledger.write(distilled(page, unit))  # and not projected
    lookup: LookUp = await world.look_up()
    assert await (await lookup.view.waiting()).count("units") == 1
    assert [item.unit_id for item in (await lookup.units(make_question("pet"), limit=3)).units] == [unit.id]


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
    found = candidates_on_pages([page.lines[0].seq for page in (mine, theirs)], [mine, theirs])
    assert len(found) == 2
    assert [*found.before, *found.after] == [-1] * 4


async def test_a_unit_is_seen_when_every_turn_it_rests_on_is() -> None:
    world = await World.new()
    page = await world.page("Ann: I adopted a grey cat", "Bob: it likes fish")
    ann, bob = make_unit(page, "a grey cat", "a grey cat"), make_unit(page, "it likes fish", "it likes fish")
    both = replace(ann, id=UnitId("u1:both"), spans=(*ann.spans, *bob.spans))
    await world.ledger.write(distilled(page, ann, bob, both))
    seen = await view(world, turns=TurnFilter(speaker="ann"))
    ids = [ann.id, bob.id, both.id, "u1:none"]
    assert await seen.units(ids) == (ann, None, None, None)
    assert await (await view(world)).units(ids) == (ann, bob, both, None)


async def test_a_page_without_a_turn_that_is_asked_for_is_not_held() -> None:
    world = await World.new()
    page = await world.page("Ann: I adopted a grey cat", "Bob: it likes fish")
    for speaker, kept in (("Ann", [True, False]), ("Cid", [False, False])):
        seen = await view(world, turns=TurnFilter(speaker=speaker))
        shown = seen.as_visible(page)
        assert [line.turn is not None for line in shown.lines] == kept
        assert seen.holds(shown) is any(kept)


@pytest.mark.parametrize(
    ("said", "after", "before", "kept"),
    [
        ("2024-05-08T13:00", "2024-05-08T13:00", "2024-05-08T13:00", True),
        ("2024-05-08T13:00", "2024-05-08T13:01", None, False),
        ("2024-05-08T13:00", None, "2024-05-08T12:59", False),
        # A bound without a zone is read in the turn's, and a turn without one in the bound's.
        ("2024-05-08T23:30+09:00", "2024-05-08T23:00", "2024-05-08T23:59", True),
        ("2024-05-08T23:30", "2024-05-08T23:00+09:00", "2024-05-08T23:59+09:00", True),
        ("2024-05-08T23:30+09:00", "2024-05-08T14:31+00:00", None, False),
        ("0001-01-01T00:00", "0001-01-01T00:00+14:00", "9999-12-31T23:59-12:00", True),
        (None, "2024-05-08T13:00", None, False),
        (None, None, "2024-05-08T13:00", False),
        (None, None, None, True),
    ],
)
def test_both_moments_count_in_and_a_turn_without_a_time_is_in_no_period(
    said: str | None, after: str | None, before: str | None, *, kept: bool
) -> None:
    moments = [None if text is None else datetime.fromisoformat(text) for text in (said, after, before)]
    turn = Turn(speaker="Ann", text="yes", said_at=moments[0])
    assert TurnFilter(said_after=moments[1], said_before=moments[2]).keeps(turn) is kept


async def test_units_are_looked_for_until_there_are_enough() -> None:
    world = await World.new(page_tokens=10_000)
    crowd = [f"Bob: the grey cat number {n}" for n in range(60)]
    page = await world.page(*crowd, "Ann: it eats fish every day")
    told = [(f"the grey cat number {n}", f"the grey cat number {n}") for n in range(60)]
    *_, last = await world.units(page, *told, ("a cat eats fish", "eats fish"))
    lookup = await world.look_up(Scope(turns=TurnFilter(speaker="Ann")))
    found = await lookup.units(make_question("the grey cat"), limit=1)
    assert [item.unit_id for item in found.units] == [last.id]
    assert found.dropped == 0


async def test_turns_are_looked_for_until_there_are_enough() -> None:
    world = await World.new(page_tokens=10_000)
    await world.page(*(f"Bob: the grey cat number {n}" for n in range(60)), "Ann: a cat")
    lookup = await world.look_up(Scope(turns=TurnFilter(speaker="Ann")))
    found = await lookup.turns(make_question("the grey cat"), limit=9)
    assert [turn.words() for turn in found.turns] == ["a cat"]


async def test_which_turns_a_speaker_said_their_rows_tell_and_only_displayed_pages_are_read() -> None:
    world = await World.new()
    for number in range(12):
        await world.page(f"Bob: the grey cat number {number}", f"Ann: my cat {number}")
    lookup = await world.look_up(Scope(turns=TurnFilter(speaker="Ann")))
    found = await lookup.turns(make_question("the grey cat"), limit=3)
    assert [turn.words()[:6] for turn in found.turns] == ["my cat"] * 3
    assert len(lookup.view.pages_touched) == 3


@pytest.mark.parametrize("ranks_alike", [False, True])
async def test_a_turn_whose_row_only_seems_to_be_asked_for_is_not_displayed(
    ranks_alike: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows have hashes, and two values may have one."""
    monkeypatch.setattr(features, "_value", lambda *_: 7)
    world = await World.new()
    await world.page(
        *(f"Bob: the grey cat {n}" for n in range(9)), "Ann: the grey cat" if ranks_alike else "Ann: a cat"
    )
    lookup = await world.look_up(Scope(turns=TurnFilter(speaker="Ann")))
    found = await lookup.turns(make_question("the grey cat"), limit=3)
    assert [turn.evidence().speaker for turn in found.turns] == ["Ann"]


async def test_pages_by_their_words_are_all_looked_at() -> None:
    world = await World.new()
    for n in range(3):
        await world.page(f"Bob: the grey cat number {n}")
    wanted = await world.page("Ann: a cat")
    lookup = await world.look_up(Scope(turns=TurnFilter(speaker="Ann")))
    found = await lookup.pages(make_question("the grey cat"), limit=1, mode="words")
    assert [page.id for _, page in (await lookup.read(found.pages, limit=1)).read] == [wanted.id]
