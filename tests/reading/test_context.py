"""Context for somebody else's prompt: within its limit, numbered, and unable to pose as anything but data."""

from dataclasses import replace
from datetime import UTC, datetime

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pagestore import EstimateCounter, PageId, Span
from tests.reading.world import Words, World, make_question
from tiermem.errors import IndexUnavailable
from tiermem.ledger import TurnAt
from tiermem.model import Evidence
from tiermem.reading import Scope
from tiermem.reading.context import assemble, without_repeats
from tiermem.text.own_context import HEADING

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("logs")]


async def test_turns_and_units_stand_numbered_with_when_they_were_said() -> None:
    world = await World.new()
    page = await world.page("Ann: I adopted three grey cats")
    await world.units(page, ("Ann took three cats home", "I adopted three grey cats"))
    await world.say("Bob: what are the cats called?")
    context = await world.reader().context(make_question("cats"))
    assert context.text.splitlines() == [
        HEADING,
        "[1] said 2023-05-08",
        "| Ann: I adopted three grey cats",
        "[2] noted; said 2023-05-08",
        "| Ann took three cats home",
        "[3] said 2023-05-08",
        "| Bob: what are the cats called?",
    ]
    assert [item.source for item in context.sources] == ["turn", "unit", "turn"]
    assert context.tokens == Words().count(context.text)
    assert str(context) == context.text


async def test_a_unit_whose_turn_is_not_shown_has_its_words_beside_it() -> None:
    world = await World.new()
    page = await world.page("Ann: " + "I took in a grey cat, a long story, " * 9)
    await world.units(page, ("Ann has got a cat", "I took in a grey cat"))
    context = await world.reader().context(make_question("cat"), max_tokens=40)
    assert context.text.splitlines()[1:] == [
        "[1] noted; said 2023-05-08",
        "| Ann has got a cat",
        '| Ann: "I took in a grey cat"',
    ]


async def test_where_nothing_fits_the_context_is_empty() -> None:
    world = await World.new()
    await world.linked_page("Ann: I adopted three grey cats")
    context = await world.reader().context(make_question("cats"), max_tokens=5)
    assert (context.text, context.tokens, context.sources) == ("", 0, ())


async def test_a_context_is_filled_up_with_turns_and_units_once_each() -> None:
    world = await World.new()
    lines = [f"Ann: cat number {number} is grey and sleeps" for number in range(120)]
    for start in range(0, len(lines), 20):
        page = await world.page(*lines[start : start + 20])
        told = [(f"cat {n} was seen asleep", f"cat number {n} is grey") for n in range(start, start + 20, 2)]
        await world.units(page, *told)
    for limit in (300, 1000, 1500):
        context = await world.reader().context(make_question("Which cat sleeps?"), max_tokens=limit)
        assert 0.95 * limit <= context.tokens <= limit
        assert len({(item.source, item.spans) for item in context.sources}) == len(context.sources)
        assert {item.source for item in context.sources} == {"turn", "unit"}


async def test_a_turn_that_fits_but_for_the_heading_is_cut() -> None:
    world = await World.new()
    await world.page("Ann: my cat sleeps all day. " + "We talked about this and that. " * 7)
    context = await world.reader().context(make_question("Where does the cat sleep?"), max_tokens=60)
    assert "my cat sleeps all day" in context.text


async def test_a_turn_too_long_to_be_shown_takes_no_other_ones_place() -> None:
    world = await World.new(page_tokens=10_000)
    await world.page("Ann: cat cat " + "and on " * 300, "Bob: a cat of mine", "Ann: my cat too")
    context = await world.reader().context(make_question("cat"), max_tokens=60)
    assert [item.text for item in context.sources] == ["Bob: a cat of mine", "Ann: my cat too"]


_said = st.lists(
    st.sampled_from(["my cat sleeps", "a cat " + "again and " * 30, "the dog", "grey"]), max_size=6
)


@settings(max_examples=30)
@given(said=_said, told=st.booleans(), opened=st.booleans(), broken=st.booleans())
def test_a_context_is_never_empty_where_a_question_would_find_something_that_fits(
    said: list[str], told: bool, opened: bool, broken: bool
) -> None:
    async def main() -> None:
        world = await World.new(page_tokens=10_000)
        for text in said:
            if opened:
                await world.say(f"Ann: {text}")
            else:
                page = await world.page(f"Ann: {text}")
                if told:
                    await world.units(page, (f"Ann tells: {text}", text.strip()))
        if broken:
            world.index.broken = IndexUnavailable("gone")
        asked = (await world.recall("cat grey")).items
        context = await world.reader().context(make_question("cat grey"), max_tokens=40)
        assert context.tokens <= 40
        fits = [item for item in asked if Words().count(f"{item.text} {item.quote}") <= 15]
        assert bool(context.sources) >= bool(fits)
        assert len({(item.source, item.spans) for item in context.sources}) == len(context.sources)

    anyio.run(main)


@pytest.mark.parametrize("broken", [False, True])
async def test_words_that_were_erased_or_are_withheld_are_never_shown(broken: bool) -> None:
    world = await World.new()
    await world.say("Ann: my cat is called Luna")
    await world.say("page: my cat is called Rex", trust="web")
    page = await world.page("Bob: my cat is called Tom")
    gone = TurnAt(page_id=page.id, seq=page.lines[2].seq)
    entries = await world.ledger.logged_entries()
    await world.ledger.erase([gone], entries=entries, records=(), instead=(), reason="asked to")
    if broken:
        world.index.broken = IndexUnavailable("gone")
    shown = (await world.reader().context(make_question("cat called"), scope=Scope(min_trust="user"))).text
    assert "Luna" in shown
    assert "Rex" not in shown
    assert "Tom" not in shown
    assert "Rex" in (await world.reader().context(make_question("cat called"))).text


async def test_a_context_of_a_past_moment_or_of_one_session_shows_nothing_else() -> None:
    world = await World.new()
    await world.linked_page("Ann: my cat sleeps")
    moment = await world.now()
    await world.linked_page("Bob: I have a dog")
    await world.say("Ann: the cat ran away")
    shown = await world.reader().context(make_question("cat"), scope=Scope(as_of=moment))
    assert "sleeps" in shown.text
    assert "ran away" not in shown.text


_unit = st.builds(
    Evidence,
    text=st.text("ab |[1]\n\r\v\f\x1c\x85\u2028", max_size=60),
    spans=st.just(()),
    score=st.just(0.0),
    source=st.sampled_from(["unit", "turn"]),
    quote=st.text("ab |[1]\n\u2029", max_size=20),
)
_items = st.lists(_unit, max_size=6)


@given(items=_items, limit=st.integers(0, 400))
def test_a_context_never_exceeds_its_limit_and_every_word_of_memory_stands_behind_a_bar(
    items: list[Evidence], limit: int
) -> None:
    context = assemble(items, max_tokens=limit, count=len)
    assert context.tokens == len(context.text) <= limit
    remaining = iter(items)
    assert all(source in remaining for source in context.sources)
    rows = context.text.splitlines()
    assert all(row.startswith(("| ", "[", HEADING[:4])) for row in rows)
    assert sum(row.startswith("[") for row in rows) == len(context.sources)


@pytest.mark.parametrize("limit", range(60, 400, 20))
def test_nor_where_a_whole_counts_more_than_its_parts(limit: int) -> None:
    items = [Evidence(text=f"cat {n}", spans=(), score=0.0, source="turn", quote="") for n in range(12)]
    context = assemble(items, max_tokens=limit, count=lambda text: len(text) + text.count("\n") ** 2)
    assert context.tokens == len(context.text) + context.text.count("\n") ** 2 <= limit


@pytest.mark.parametrize("word", ["cat", "Wörter", "猫が寝る", "a-b_c/d.py", "12:30", "🙂🙂"])
def test_a_full_context_counts_each_further_item_and_not_the_whole_again(word: str) -> None:
    counter, counted = EstimateCounter(), [0]

    def count(text: str) -> int:
        counted[0] += len(text)
        return counter.count(text)

    items = [Evidence(text=f"{word} {word} {n}", spans=(), score=0.0, source="turn") for n in range(400)]
    context = assemble(items, max_tokens=1_000, count=count)
    assert 0.98 * 1_000 <= context.tokens <= 1_000
    longest = max(len(block) for block in context.text.split("["))
    assert counted[0] <= 400 * (longest + 10) + 8 * len(context.text)


@pytest.mark.parametrize("limit", range(80, 125, 3))
async def test_a_source_too_long_for_the_context_takes_no_room_from_those_that_fit(limit: int) -> None:
    world = await World.new()
    await world.page("Ann: cats " + "cats are here " * 28 + "yes")
    await world.page("Ann: cats eat fish", "Bob: cats sleep")
    context = await world.reader().context(make_question("cats"), max_tokens=limit)
    assert context.sources
    assert context.tokens <= limit


MOVED = Evidence(
    text="Ann: I moved from Lisbon to Oslo in March.",
    spans=(Span(page_id=PageId("p1:a"), start=10, end=52),),
    source="turn",
    score=1.0,
    said_at=datetime(2023, 5, 9, tzinfo=UTC),
)


@pytest.mark.parametrize(
    ("text", "spans", "left_out"),
    [
        ("Ann: I moved from Lisbon to Oslo in March (March 2023).", ((15, 52),), True),
        ("Ann moved to Oslo", ((15, 52),), True),  # the same words, fewer of them
        ("Ann moved to Oslo with Ben", ((15, 52),), False),  # another word
        ("Ann: I moved from Lisbon to Oslo in March.", ((15, 52), (60, 70)), False),  # another turn too
    ],
)
def test_a_unit_that_adds_only_a_date_to_a_turn_gives_it_the_date(
    text: str, spans: tuple[tuple[int, int], ...], left_out: bool
) -> None:
    unit = replace(
        MOVED,
        source="unit",
        text=text,
        spans=tuple(Span(page_id=PageId("p1:a"), start=start, end=end) for start, end in spans),
        event_at="2023-03",
    )
    expected = (replace(MOVED, event_at="2023-03"),) if left_out else (MOVED, unit)
    assert without_repeats((MOVED, unit)) == expected
    assert without_repeats((unit,)) == (unit,)


@pytest.mark.parametrize(("asked", "left_out"), [("Where did you  move?", True), ("Who came?", False)])
def test_a_unit_with_the_question_of_a_turn_that_is_shown_adds_nothing(asked: str, left_out: bool) -> None:
    question = Span(page_id=PageId("p1:a"), start=0, end=14)
    before = replace(MOVED, text=f"Ben: {asked}", spans=(question,))
    unit = replace(MOVED, source="unit", text='Ann, asked "Where did you move?": to Oslo in March.')
    expected = (before, MOVED) if left_out else (before, MOVED, unit)
    assert without_repeats((before, MOVED, unit)) == expected


def test_the_date_of_a_unit_of_two_turns_is_given_to_neither() -> None:
    page = PageId("p1:a")
    first, second = Span(page_id=page, start=0, end=20), Span(page_id=page, start=20, end=50)
    turns = (
        replace(MOVED, text="Ann: I moved to Oslo.", spans=(first,)),
        replace(MOVED, text="Ann: It was in March.", spans=(second,)),
    )
    unit = replace(MOVED, source="unit", text="Ann moved to Oslo in March.", spans=(first, second))
    assert without_repeats((*turns, replace(unit, event_at="2023-03"))) == turns
