"""Recall: units and turns by rank within one budget, a past moment, and searching that does not fail."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pagestore import LogOptions, SessionId
from tests.logs import new_log
from tests.reading.world import (
    MAIN,
    SPACE,
    START,
    Judge,
    ListIndex,
    Words,
    World,
    distilled,
    make_question,
    make_unit,
)
from tiermem.errors import EmbedderUnavailable, IndexUnavailable, InvalidInput, ModelUnavailable
from tiermem.index.values import Entry, Hit
from tiermem.ledger import Ledger, WroteBack, finding_unit_id
from tiermem.model import FindingId, Recalled, SummaryUnit, WriteBack
from tiermem.reading import Scope
from tiermem.reading.fusion import fuse
from tiermem.reading.ranking import RankingOptions

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("logs")]
OTHER = SessionId("other")


async def test_units_come_by_rank_and_no_more_than_asked_for() -> None:
    world = await World.new()
    await world.linked_page("Ann: I adopted a grey cat", "Ann: My cat likes fish", "Bob: I bought a red car")
    recalled = await world.recall("What does the grey cat like?", units=2)
    assert [item.text for item in recalled.units] == [
        "Ann says I adopted a grey cat",
        "Ann says My cat likes fish",
    ]
    assert all(item.source == "unit" and item.spans and item.similarity for item in recalled.units)


async def test_a_hit_that_names_no_unit_of_this_log_is_dropped_and_counted() -> None:
    world = await World.new()
    await world.linked_page("Ann: I adopted a grey cat")
    await world.index.put(SPACE, "units", [Entry(id="u1:stranger", session=MAIN, text="grey cat")])
    recalled = await world.recall("grey cat")
    assert [item.text for item in recalled.units] == ["Ann says I adopted a grey cat"]
    assert recalled.dropped == 1


def texts(recalled: Recalled) -> list[str]:
    return [item.text for item in recalled.items]


async def test_a_session_sees_its_own_units_and_its_own_turns_open_ones_too() -> None:
    world = await World.new()
    await world.linked_page("Ann: I adopted a grey cat")
    await world.linked_page("Bob: I saw a grey cat", session=OTHER)
    await world.say("Ann: the cat sleeps")
    await world.say("Bob: the cat ran away", session=OTHER)
    recalled = await world.recall("cat", Scope(session=OTHER))
    assert [item.text for item in recalled.units] == ["Bob says I saw a grey cat"]
    assert {item.text for item in recalled.items if item.source == "turn"} == {
        "Bob: I saw a grey cat",
        "Bob: the cat ran away",
    }
    assert len((await world.recall("cat")).items) == 6


async def test_turns_and_units_stand_by_turns_each_in_its_own_order() -> None:
    world = await World.new()
    await world.linked_page("Ann: I adopted a grey cat", "Ann: My cat likes fish")
    recalled = await world.recall("What does the grey cat like?")
    assert [item.source for item in recalled.items] == ["turn", "unit", "turn", "unit"]
    assert texts(recalled)[:2] == ["Ann: I adopted a grey cat", "Ann says I adopted a grey cat"]
    turns = await world.reader().search(make_question("What does the grey cat like?"), kind="turns")
    assert [item for item in recalled.items if item.source == "turn"] == list(turns)


async def test_a_turn_stands_verbatim_with_who_said_it_and_when_and_its_span() -> None:
    world = await World.new()
    await world.say("Bob: four five six", "Ann: seven eight\nnine")
    (turn, *_) = (await world.recall("eight")).items
    (page,) = await world.ledger.open_pages()
    assert turn.text == "Ann: seven eight\nnine"
    assert page.words(turn.spans[0]) == "seven eight\n\tnine"
    assert turn.spans[0].page_id.startswith("o1:")
    assert turn.said_at == START + timedelta(minutes=1)


async def test_a_unit_that_only_repeats_a_turn_gives_way_to_it() -> None:
    world = await World.new()
    page = await world.page("Ann: I adopted a grey cat and it sleeps", "Bob: a cat, how nice")
    repeated, more, both = await world.units(
        page,
        ("Ann adopted a grey cat", "I adopted a grey cat"),
        ("Ann adopted a grey kitten", "I adopted a grey cat"),
        ("Ann adopted a cat", "I adopted a grey cat and it sleeps"),
    )
    recalled = await world.recall("cat")
    ids = {item.unit_id for item in recalled.units}
    assert more.id in ids
    assert ids.isdisjoint({repeated.id, both.id})
    assert sum(item.source == "turn" for item in recalled.items) == 2


async def test_a_unit_whose_turn_is_not_among_the_turns_has_its_words_beside_it() -> None:
    world = await World.new()
    page = await world.page("Ann: I took in a kitten", "Bob: a cat, a grey cat")
    first, second = await world.units(
        page, ("Ann has a grey cat", "took in a kitten"), ("Bob tells of a grey cat", "a cat, a grey cat")
    )
    recalled = await world.recall("grey cat", recall_turns=1)
    quotes = {item.unit_id: item.quote for item in recalled.units}
    assert texts(recalled)[0] == "Bob: a cat, a grey cat"
    assert quotes == {first.id: 'Ann: "took in a kitten"', second.id: ""}


async def test_a_unit_gives_way_only_to_a_turn_for_which_there_is_room() -> None:
    world = await World.new(page_tokens=10_000)
    page = await world.page("Bob: a grey cat of mine", "Ann: my cat " + "and on and on " * 40)
    await world.units(page, ("Ann has a cat", "my cat"))
    recalled = await world.recall("grey cat", recall_tokens=50)
    assert [(item.text, item.quote) for item in recalled.items] == [
        ("Bob: a grey cat of mine", ""),
        ("Ann has a cat", 'Ann: "my cat"'),
    ]
    roomy = await world.recall("grey cat", recall_tokens=500)
    assert [item.source for item in roomy.items] == ["turn", "turn"]


async def test_units_alone_are_recalled_with_their_words_where_no_turn_is_wanted() -> None:
    world = await World.new()
    await world.linked_page("Ann: I adopted a grey cat", "Bob: I bought a red car")
    recalled = await world.recall("grey cat", recall_turns=0)
    assert [(item.source, item.quote) for item in recalled.items] == [
        ("unit", 'Ann: "I adopted a grey cat"'),
    ]


async def test_the_best_piece_is_recalled_however_long_it_is() -> None:
    world = await World.new(page_tokens=10_000)
    await world.say("Ann: cat " + "long " * 60, "Bob: a cat of mine")
    assert len(texts(await world.recall("cat", recall_tokens=20))) == 1


@settings(max_examples=25)
@given(
    lengths=st.lists(st.integers(1, 12), max_size=12),
    limit=st.integers(1, 60),
    turns=st.integers(0, 12),
    told=st.booleans(),
)
def test_what_is_recalled_keeps_its_limits_and_nothing_comes_twice(
    lengths: list[int], limit: int, turns: int, told: bool
) -> None:
    async def main() -> None:
        world = await World.new(page_tokens=100_000)
        for number, length in enumerate(lengths):
            session, line = SessionId(f"s{number % 3}"), f"Ann: cat {number} " + "w " * (length - 1)
            if number % 2:
                await world.say(line, session=session)
            else:
                page = await world.page(line, session=session)
                if told:
                    await world.units(page, (f"Ann says cat {number}", f"cat {number}"))
        recalled = await world.recall("cat", recall_tokens=limit, recall_turns=turns)
        tokens = [Words().count(f"{item.text} {item.quote}") for item in recalled.items]
        assert sum(tokens) <= max(limit, *tokens[:1], 0)
        assert len({(item.source, item.spans) for item in recalled.items}) == len(recalled.items)
        assert sum(item.source == "turn" for item in recalled.items) <= turns
        assert len(recalled.units) <= 5
        assert bool(recalled.items) == bool(lengths and (turns or told))

    anyio.run(main)


async def test_a_broken_index_is_answered_by_keywords_and_said() -> None:
    world = await World.new()
    await world.linked_page("Ann: I adopted a grey cat", "Bob: I bought a red car")
    world.index.broken = IndexUnavailable("no route to index")
    recalled = await world.recall("Who has a grey cat?")
    assert recalled.units[0].text == "Ann says I adopted a grey cat"
    (degraded,) = recalled.degradations
    assert degraded.reason == "IndexUnavailable: no route to index"
    assert degraded.fallback == "keywords in the log"


async def test_without_index_and_without_a_fitting_unit_whole_pages_are_recalled() -> None:
    world = await World.new()
    page = await world.page("Ann: I adopted a grey cat", "Bob: how nice")
    await world.page("Bob: I bought a red car")
    world.index.broken = IndexUnavailable("gone")
    (item,) = (await world.recall("grey cat", recall_turns=0)).items
    assert item.source == "page"
    assert item.text == page.text
    assert item.spans[0].page_id == page.id


@pytest.mark.parametrize(
    "error", [ModelUnavailable("embedding endpoint down"), EmbedderUnavailable("no weights")]
)
async def test_without_vectors_the_words_of_the_index_answer(error: Exception) -> None:
    world = await World.new()
    await world.linked_page("Ann: I adopted a grey cat")
    world.index.without_vectors = error
    recalled = await world.recall("grey cat")
    assert len(recalled.units) == 1
    assert [d.fallback for d in recalled.degradations] == ["keywords in the index"]
    assert world.index.queries[-1][1] == "words"


async def test_search_on_a_broken_index_finds_by_keywords_and_warns(caplog: pytest.LogCaptureFixture) -> None:
    world = await World.new()
    page, (unit,) = await world.linked_page("Ann: I adopted a grey cat")
    world.index.broken = IndexUnavailable("no route to index")
    assert [item.unit_id for item in await world.reader().search(make_question("cat"), kind="units")] == [
        unit.id
    ]
    (found,) = await world.reader().search(make_question("cat"), kind="pages")
    assert found.spans[0].page_id == page.id
    assert [record.levelname for record in caplog.records] == ["WARNING", "WARNING"]
    assert "no route to index" in caplog.text


async def test_an_emptied_index_loses_no_unit() -> None:
    world = await World.new()
    await world.linked_page("Ann: I adopted a grey cat")
    await world.index.drop(SPACE)
    assert [item.text for item in (await world.recall("cat")).units] == ["Ann says I adopted a grey cat"]


async def test_a_unit_the_index_does_not_hold_yet_is_found_by_its_words() -> None:
    world = await World.new()
    page = await world.page("Ann: I adopted a grey cat")
    unit = make_unit(page, "Ann has a grey cat", "I adopted a grey cat")
    await world.ledger.write(distilled(page, unit))
    assert [item.unit_id for item in (await world.recall("cat", recall_turns=0)).units] == [unit.id]


async def _supersede(
    world: World, older: SummaryUnit, text: str, quote: str, *, at: datetime | None = None
) -> SummaryUnit:
    page = await world.page(f"Ann: {quote}", at=at)
    newer = replace(
        make_unit(page, text, quote), id=finding_unit_id(SPACE, FindingId("f1:x")), supersedes=(older.id,)
    )
    decision = WriteBack(finding_id=FindingId("f1:x"), op="ADD", reason="newer", unit_id=newer.id)
    await world.ledger.write(WroteBack(write_back=decision, unit=newer, shown=()))
    await world.project()
    return newer


async def test_a_past_moment_is_answered_from_what_was_active_then() -> None:
    world = await World.new()
    _, (older,) = await world.linked_page("Ann: I live in Boston")
    moment = await world.now()
    later = moment + timedelta(seconds=1)
    newer = await _supersede(world, older, "Ann lives in Denver", "I live in Denver now", at=later)
    await world.say("Ann: I still live in Denver")
    now = await world.recall("Where does Ann live?")
    units = (await world.recall("Where does Ann live?", recall_turns=0)).units
    assert [item.unit_id for item in units] == [newer.id]
    assert {item.text for item in now.items if item.source == "turn"} == {
        "Ann: I live in Boston",
        "Ann: I live in Denver now",
        "Ann: I still live in Denver",
    }
    then = await world.recall("Where does Ann live?", Scope(as_of=moment))
    assert [item.unit_id for item in then.units] == [older.id]
    assert [item.text for item in then.items if item.source == "turn"] == ["Ann: I live in Boston"]
    assert then.dropped == 0


async def test_a_superseded_unit_is_not_recalled_even_while_the_index_still_shows_it() -> None:
    world = await World.new()
    _, (older,) = await world.linked_page("Ann: I live in Boston")
    stale = {key: dict(entries) for key, entries in world.index.entries.items()}
    newer = await _supersede(world, older, "Ann lives in Denver", "I live in Denver now")
    world.index.entries[SPACE, "units"] |= stale[SPACE, "units"]
    recalled = await world.recall("Where does Ann live?", recall_turns=0)
    assert [item.unit_id for item in recalled.units] == [newer.id]
    assert recalled.dropped == 1


async def test_better_hits_of_another_session_crowd_nothing_out() -> None:
    world = await World.new()
    await world.linked_page("Ann: a grey animal sleeps here")
    await world.linked_page("Bob: the grey cat sleeps", "Bob: a grey cat", session=OTHER)
    recalled = await world.recall("grey cat", Scope(session=MAIN), units=1)
    assert [item.text for item in recalled.units] == ["Ann says a grey animal sleeps here"]
    assert recalled.dropped == 0


async def test_a_moment_to_come_is_now() -> None:
    world = await World.new()
    await world.say("Ann: I live in Denver")
    scope = Scope(as_of=datetime.now(UTC) + timedelta(days=1))
    assert (await world.look_up(scope)).view.scope.as_of is None
    assert len((await world.recall("Denver", scope)).items) == 1


@pytest.mark.parametrize("indexed", [False, True])
@pytest.mark.parametrize("sealed", [False, True])
@pytest.mark.parametrize("recorded", [False, True])
async def test_turns_of_a_page_that_was_open_then_are_seen_and_its_later_ones_are_not(
    indexed: bool, sealed: bool, recorded: bool
) -> None:
    world = await World.new()
    await world.say("Ann: my cat sleeps")
    await world.linked_page("Bob: my dog barks", session=OTHER)
    moment = await world.now()
    if recorded:
        await world.linked_page("Bob: my cow moos", session=OTHER)
    later = None if recorded else moment + timedelta(seconds=1)
    await world.say("Ann: the cat ran away", "Ann: the cat came back", at=later)
    if sealed:
        await world.ledger.seal()
    if indexed:
        await world.project()
    scope = Scope(session=MAIN, as_of=moment)
    assert texts(await world.recall("cat", scope)) == ["Ann: my cat sleeps"]
    view = (await world.look_up(scope)).view
    page = await world.ledger.page((await world.ledger.pages(MAIN))[0].id) if sealed else None
    (page,) = (page,) if page is not None else await world.ledger.open_pages(MAIN)
    assert view.holds(page)
    assert [line.turn is not None for line in view.as_visible(page).lines] == [True, False, False]
    assert len(view.as_visible(page).text) == len(page.text)
    assert "ran away" not in view.as_visible(page).text


async def test_turns_recorded_by_a_wrong_clock_are_seen_from_their_place_in_the_log_on() -> None:
    start, years = datetime(2024, 1, 1, tzinfo=UTC), timedelta(days=3650)
    now = start
    log = new_log(SPACE, options=LogOptions(clock=lambda: now))
    world = World(ledger=await Ledger.open(log), index=ListIndex(), judge=Judge())
    for day, text, off in (
        (1, "Ann: my cat sleeps", 0 * years),
        (4, "Ann: the cat ran away", years),
        (8, "Ann: the cat came back", -years),
    ):
        now = start + timedelta(days=day) + off
        await world.say(text)
        for later in (1, 2):
            now = start + timedelta(days=day + later)
            log.record("note", {})
    (page,) = await world.ledger.open_pages(MAIN)
    for moment, seen in ((2.0, 1), (3.5, 1), (6.5, 2), (7.5, 2), (10.5, 3)):
        view = (await world.look_up(Scope(as_of=start + timedelta(days=moment)))).view
        assert sum(line.turn is not None for line in view.as_visible(page).lines) == seen, moment


@pytest.mark.parametrize("minutes", [1, 3, 5, 8, 9.9])
@pytest.mark.parametrize("is_followed", [False, True])
async def test_a_turn_right_after_the_clock_was_set_back_is_seen(minutes: float, is_followed: bool) -> None:
    now = said_at = datetime(2024, 1, 1, tzinfo=UTC)
    ahead = timedelta(minutes=minutes)
    log = new_log(SPACE, options=LogOptions(clock=lambda: now))
    world = World(ledger=await Ledger.open(log), index=ListIndex(), judge=Judge())
    now = said_at + ahead
    log.record("note", {})
    now = said_at
    await world.say("Ann: my cat sleeps")
    if is_followed:
        now = said_at + timedelta(hours=1)
        log.record("note", {})
    (page,) = await world.ledger.open_pages(MAIN)
    scope = Scope(as_of=said_at + ahead + timedelta(minutes=1))
    (line,) = (await world.look_up(scope)).view.as_visible(page).lines
    assert line.turn is not None
    assert line.recorded_at == said_at


async def test_a_page_of_which_nothing_had_been_said_is_not_held() -> None:
    world = await World.new()
    early, _ = await world.linked_page("Ann: my cat sleeps")
    moment = await world.now()
    await world.linked_page("Bob: my cow moos")
    late = await world.page("Ann: the cat ran away")
    view = (await world.look_up(Scope(as_of=moment))).view
    assert (view.holds(early), view.holds(late)) == (True, False)
    assert view.as_visible(early) == early
    assert "ran away" not in view.as_visible(late).text


async def test_turns_of_too_little_trust_are_withheld_and_a_floor_that_is_no_level_is_refused() -> None:
    world = await World.new()
    await world.say("Ann: my cat is grey")
    await world.say("page: the cat is black", trust="web")
    await world.project()
    assert texts(await world.recall("cat", Scope(min_trust="user"))) == ["Ann: my cat is grey"]
    assert len(texts(await world.recall("cat", Scope(min_trust="web")))) == 2
    with pytest.raises(InvalidInput, match="'nobody' is not known"):
        await world.look_up(Scope(min_trust="nobody"))


async def test_a_page_is_found_by_the_words_of_its_turns_and_by_no_name_or_day_alone() -> None:
    world = await World.new()
    both = await world.page("Ann: I adopted a grey cat")
    many = await world.page(*(["Ann: I have a cat"] * 4))
    lookup = await world.look_up()
    assert [
        hit.id for hit in (await lookup.pages(make_question("grey cat"), limit=2, mode="words")).pages
    ] == [
        both.id,
        many.id,
    ]
    assert "Ann" in both.text
    assert (await lookup.pages(make_question("Ann"), limit=2, mode="words")).pages == ()
    assert "2023" in both.text
    assert (await lookup.pages(make_question("2023"), limit=2, mode="words")).pages == ()


async def test_many_turns_of_one_page_leave_no_other_page_out() -> None:
    world = await World.new()
    many = await world.page(*(["Ann: grey cat"] * 9))
    other = await world.page("Ann: a cat")
    lookup = await world.look_up(ranking=RankingOptions(candidates=1))
    for limit, expected in ((1, [many.id]), (2, [many.id, other.id]), (3, [many.id, other.id])):
        found = await lookup.pages(make_question("grey cat"), limit=limit, mode="words")
        assert [hit.id for hit in found.pages] == expected


async def test_search_brings_units_or_pages_with_the_open_ones() -> None:
    world = await World.new()
    page, (unit,) = await world.linked_page("Ann: I adopted a grey cat")
    await world.say("Bob: my cat is black")
    (opened,) = await world.ledger.open_pages()
    reader = world.reader()
    assert [item.unit_id for item in await reader.search(make_question("cat"), kind="units")] == [
        unit.id,
        None,
    ]  # and a turn
    pages = await reader.search(make_question("cat"), kind="pages")
    assert {item.spans[0].page_id for item in pages} == {page.id, opened.id}
    assert len(await reader.search(make_question("cat"), kind="pages", limit=1)) == 1
    with pytest.raises(InvalidInput, match="at least 1"):
        await reader.search(make_question("cat"), limit=0)


_hits = st.lists(st.builds(Hit, id=st.sampled_from("abcdef"), score=st.floats(0, 1)), max_size=6)


@given(rankings=st.lists(_hits, max_size=4))
def test_fusing_keeps_every_id_once(rankings: list[list[Hit]]) -> None:
    fused = [hit.id for hit in fuse(*rankings)]
    assert sorted(fused) == sorted({hit.id for ranking in rankings for hit in ranking})


def test_what_two_rankings_agree_on_comes_first() -> None:
    a, b, c = (Hit(id=i, score=0.5) for i in "abc")
    assert next(hit.id for hit in fuse([a, b], [c, b])) == "b"


def test_equal_scores_share_a_rank_so_that_no_id_decides() -> None:
    a, b, c = Hit(id="a", score=0.5), Hit(id="b", score=0.5), Hit(id="c", score=0.1)
    scores = {hit.id: hit.score for hit in fuse([a, b, c], [b, a])}
    assert scores["a"] == scores["b"] > scores["c"]
    assert scores == {hit.id: hit.score for hit in fuse([b, a, c], [a, b])}


async def test_a_judge_is_never_asked_by_recall() -> None:
    world = await World.new()
    await world.linked_page("Ann: I adopted a grey cat")
    await world.recall("cat")
    assert world.judge == Judge()


async def test_a_turn_told_after_the_moment_is_not_seen_however_long_ago_it_was_said() -> None:
    """Dialogue that is read in says times of years ago; what counts is when the log took it in."""
    world = await World.new()
    await world.say("Ann: the kitten is called Tiger")
    await world.project()
    between = datetime.now(UTC)
    await world.say("Ann: the kitten is called Lion now")
    await world.project()
    then = await world.recall("What is the kitten called?", Scope(as_of=between))
    assert ["Tiger" in item.text for item in then.items] == [True]
    now = await world.recall("What is the kitten called?")
    assert len(now.items) == 2
