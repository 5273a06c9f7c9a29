"""Recall of some time alone, by some strategy alone: a filter on units, pages and turns alike."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest

import tiermem
from pagestore import Page, SessionId, Turn
from tests.api.conftest import OpenMemory
from tests.engines import quote_sentences, quoting_engine
from tests.stores import NewAddress
from tiermem.errors import InvalidInput
from tiermem.model import Claim

ASKED = datetime(2024, 5, 15, 12, 0, tzinfo=UTC)
WEST = timezone(-timedelta(hours=8))
SAID = {
    "Skye": datetime(2024, 5, 6, 10, 0),  # noqa: DTZ001  # on the speaker's clock
    "Mull": datetime(2024, 5, 7, 23, 30, tzinfo=WEST),
    "Iona": datetime(2024, 5, 12, 0, 0, tzinfo=UTC),
    "Arran": datetime(2024, 4, 2, 9, 0, tzinfo=UTC),
}
TOPIC = "Where did Ann sail to in the boat?"

TIMEFRAMES: tuple[tuple[Any, set[str]], ...] = (
    (None, set(SAID)),
    ("auto", set(SAID)),
    (date(2024, 5, 6), {"Skye"}),
    (datetime(2024, 5, 6, 18, 0, tzinfo=UTC), {"Skye"}),
    ("2024-05-07", {"Mull"}),
    ("2024-05", {"Skye", "Mull", "Iona"}),
    ("2024-04-30/2024-05-06", {"Skye"}),
    ("2024-05-07/", {"Mull", "Iona"}),
    ("/2024-05-06", {"Skye", "Arran"}),
    ("last week", {"Skye", "Mull", "Iona"}),
    ("in April 2024", {"Arran"}),
    ((date(2024, 5, 7), None), {"Mull", "Iona"}),
    ((None, "2024-05-06"), {"Skye", "Arran"}),
    (("2024-05-06T10:00", "2024-05-06T10:00"), {"Skye"}),
    (("2024-05-06T10:01", "2024-05-07"), {"Mull"}),
    # A time with a zone is a moment: 23:30 in the west is 7:30 of the next day in UTC.
    ((datetime(2024, 5, 8, 7, 0, tzinfo=UTC), datetime(2024, 5, 8, 8, 0, tzinfo=UTC)), {"Mull"}),
    ((datetime(2024, 5, 7, 23, 0, tzinfo=UTC), datetime(2024, 5, 8, 7, 0, tzinfo=UTC)), set()),
    ([date(2024, 5, 6), "2024-05-12"], {"Skye", "Iona"}),
    (["April 2024", (date(2024, 5, 7), date(2024, 5, 7))], {"Arran", "Mull"}),
    ("2031", set()),
    ("since May 2024", {"Skye", "Mull", "Iona"}),
    ("after April 2024", {"Skye", "Mull", "Iona"}),
    ("before May 2024", {"Arran"}),
    ("until 6 May 2024", {"Skye", "Arran"}),
    ("between March and April 2024", {"Arran"}),
    ("from 6 to 7 May 2024", {"Skye", "Mull"}),
    ("March 2024/April 2024", {"Arran"}),
    (("2024-04", "2024-05"), set(SAID)),
    (("2024-05", "2024-06"), {"Skye", "Mull", "Iona"}),
    (("2023", "2024"), set(SAID)),
    (("2024-05-06", "2024-05-07"), {"Skye", "Mull"}),
    (("April 2024", date(2024, 5, 6)), {"Skye", "Arran"}),
    (("last week", None), {"Skye", "Mull", "Iona"}),
    (("2024-05-06T10:01", "2024-05"), {"Mull", "Iona"}),
)


@pytest.fixture(scope="module")
def boats(session_address: NewAddress) -> Any:
    from tiermem.embedding.hashed import HashEmbedder

    where = session_address("boats")
    with tiermem.open(where, engine="local", embedder=HashEmbedder(), distil="inline") as memory:
        for name, said_at in SAID.items():
            turn = Turn(speaker="Ann", text=f"I sailed to {name} Island in the boat.", said_at=said_at)
            memory.add(turn, session=f"s-{name}")
        memory.flush()
        yield memory


def found(recollection: tiermem.Recollection) -> set[str]:
    return {name for name in SAID for item in recollection.items if f"{name} Island" in item.text}


@pytest.mark.parametrize(("timeframe", "expected"), TIMEFRAMES, ids=[str(one) for one, _ in TIMEFRAMES])
def test_what_was_said_at_another_time_is_left_out(
    boats: tiermem.Memory, timeframe: Any, expected: set[str]
) -> None:
    for kind in ("units", "pages", "turns"):
        recollection = boats.recall(TOPIC, kind=kind, timeframe=timeframe, asked_at=ASKED)
        assert found(recollection) == expected, kind
        assert (recollection.undated, recollection.degradations) == (0, ())
        assert (recollection.times is None) == (timeframe in (None, "auto"))


@pytest.mark.parametrize("strategy", ["hybrid", "vector", "fulltext"])
@pytest.mark.parametrize("kind", ["units", "pages", "turns"])
def test_each_strategy_finds_each_kind_and_is_filtered(
    boats: tiermem.Memory, strategy: Any, kind: Any
) -> None:
    named = boats.recall("Arran Island", kind=kind, strategy=strategy, limit=1)
    assert found(named) == {"Arran"}
    then = boats.recall("Arran Island", kind=kind, strategy=strategy, timeframe="2024-05-06")
    assert found(then) == {"Skye"}
    only = boats.recall("island", kind=kind, strategy=strategy, timeframe="2024-05", session="s-Iona")
    assert found(only) == {"Iona"}


def test_without_a_kind_turns_are_found_that_no_unit_tells_of(open_memory: OpenMemory) -> None:
    memory = open_memory()
    memory.add("The roof cost 1,450 dollars.", speaker="Ann", said_at="2024-05-08")
    memory.add("Fine, then.", speaker="Bob", said_at="2024-06-01")
    memory.flush()
    assert not any("Fine" in unit.text for unit in memory.units())
    for strategy in ("hybrid", "vector", "fulltext"):
        (turn,) = memory.recall("fine then", timeframe="2024-06", strategy=strategy).items
        assert (turn.text, turn.source) == ("Bob: Fine, then.", "turn")
    both = memory.recall("roof dollars fine").items
    assert len({one.text for one in both}) == len(both)


def test_fulltext_finds_words_alone_and_vector_ranks_by_the_cosine(boats: tiermem.Memory) -> None:
    assert boats.recall("zeppelin", strategy="fulltext").items == ()
    turns = boats.recall("I sailed to Arran Island in the boat.", strategy="vector", kind="turns").items
    assert [one.score for one in turns] == [one.similarity for one in turns]
    by_words = boats.recall("Arran Island", strategy="fulltext", kind="turns").items
    assert all(one.similarity is None for one in by_words)


def test_auto_takes_the_time_out_of_the_topic_and_leaves_one_that_is_nothing_else(
    boats: tiermem.Memory,
) -> None:
    recollection = boats.recall("Where did Ann sail last week?", timeframe="auto", asked_at=ASKED)
    assert (recollection.topic, found(recollection)) == ("Where did Ann sail ?", set(SAID) - {"Arran"})
    assert recollection.times is not None
    assert [one.since and one.since.date() for one in recollection.times] == [date(2024, 5, 6)]
    alone = boats.recall("2024-05-06", timeframe="auto")
    assert (alone.topic, found(alone)) == ("2024-05-06", {"Skye"})


def test_auto_reads_a_time_as_words_that_name_one_do_and_takes_no_other_word_for_one(
    boats: tiermem.Memory,
) -> None:
    between = boats.recall(
        "Where did Ann sail between March and April 2024?", timeframe="auto", asked_at=ASKED
    )
    assert (between.topic, found(between)) == ("Where did Ann sail ?", {"Arran"})
    before = boats.recall("Where did Ann sail before May 2024?", timeframe="auto", asked_at=ASKED)
    assert found(before) == {"Arran"}
    for topic in ("Where did Ann sail with June?", "Where may Ann sail?", "Which boat is order 2024-13?"):
        recollection = boats.recall(topic, timeframe="auto", asked_at=ASKED)
        assert (recollection.topic, recollection.times) == (topic, None)


WRONG: tuple[Any, ...] = (
    "bananas",
    "",
    [],
    ["last week", "bananas"],
    (date(2024, 5, 8), date(2024, 5, 1)),
    "2024-05-08/2024-05-01",
    (None, None),
    (date(2024, 5, 8),),
    ("soon", None),
    ("2024-13", None),
    "2024-13",
    "2024-02-30",
    "13/13/2024",
    "05/2024",
    "12",
    "between May 2024 and the race",
    "2024-05/2024-13",
    ("2024-06", "2024-05"),
    7,
    {"from": "2024-05-01"},
    "x" * 10_000,
)


@pytest.mark.parametrize("timeframe", WRONG, ids=[repr(one)[:40] for one in WRONG])
def test_a_timeframe_that_names_no_time_is_refused(boats: tiermem.Memory, timeframe: Any) -> None:
    with pytest.raises(InvalidInput, match="timeframe"):
        boats.recall(TOPIC, timeframe=timeframe, asked_at=ASKED)


def test_other_arguments_that_are_wrong_are_named(boats: tiermem.Memory) -> None:
    with pytest.raises(InvalidInput, match=r"strategy.*hybrid"):
        boats.recall(TOPIC, strategy="dense")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match=r"about.*event"):
        boats.recall(TOPIC, about="happened")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="of units only"):
        boats.recall(TOPIC, about="event", kind="turns", timeframe="2024")
    with pytest.raises(InvalidInput, match="topic"):
        boats.recall("")


def test_what_happened_then_is_another_question_than_what_was_said_then(open_memory: OpenMemory) -> None:
    memory = open_memory()
    memory.remember("I went to a concert on 3 March 2022.", speaker="Ann", said_at="2024-05-06")
    memory.remember("I like concerts with a cello.", speaker="Ann", said_at="2024-05-06")
    told = [unit for unit in memory.units() if unit.event_at is not None]
    recollection = memory.recall("concert", timeframe="2022-03", about="event")
    assert {one.unit_id for one in recollection.items} == {unit.id for unit in told}
    assert recollection.undated == len(memory.units()) - len(told)
    assert memory.recall("concert", timeframe="2022-03").items == ()
    assert memory.recall("concert", timeframe="2022-04", about="event").items == ()


def test_what_happened_is_told_by_days_and_a_moment_with_a_zone_is_of_its_own(
    open_memory: OpenMemory,
) -> None:
    async def distil(pages: Sequence[Page], *, hints: Sequence[str] = ()) -> tuple[Claim, ...]:
        claims = await quote_sentences(pages, hints=hints)
        return tuple(replace(claim, event_at="2024-05-07") for claim in claims)

    memory = open_memory(engine=replace(quoting_engine(), distil=distil))
    memory.add("I sold the boat on 7 May 2024.", speaker="Ann", said_at="2024-06-01T10:00")
    memory.flush()
    for day, expected in ((7, 1), (8, 0)):
        noon = datetime(2024, 5, day, 12, 0, tzinfo=UTC)
        found = memory.recall("the boat", timeframe=(noon, noon + timedelta(hours=1)), about="event")
        assert len(found.items) == expected


def test_the_day_after_the_next_is_the_same_moment_at_the_other_end_of_the_world(
    open_memory: OpenMemory,
) -> None:
    memory = open_memory()
    first, last = timezone(timedelta(hours=14)), timezone(-timedelta(hours=12))
    kiri, joe = datetime(2024, 5, 3, 0, 30, tzinfo=first), datetime(2024, 5, 1, 23, 0, tzinfo=last)
    assert kiri < joe
    for said_at in (kiri, joe):
        memory.add(Turn(speaker="Ann", text="The roof leaks.", said_at=said_at), session=f"{said_at:%d}")
    for timeframe in ((None, joe), (kiri, None), (kiri, joe)):
        items = memory.recall("roof", timeframe=timeframe).items
        assert {item.said_at for item in items} == {kiri, joe}


def test_a_page_of_several_days_is_found_by_each_and_seen_without_the_others(open_memory: OpenMemory) -> None:
    memory = open_memory(distil="deferred")
    for day in (6, 7, 8):
        memory.add(f"Day {day} of the regatta was windy.", speaker="Ann", said_at=f"2024-05-0{day}T10:00")
    for seal in (False, True):
        if seal:
            memory.flush()
        (page,) = memory.recall("regatta", kind="pages", timeframe="2024-05-07").items
        assert "Day 7" in page.text
        assert "Day 6" not in page.text
        assert "Day 8" not in page.text
        assert memory.recall("regatta", kind="pages", timeframe="2024-05-09").items == ()


def test_turns_that_tell_no_time_are_left_out_and_counted(open_memory: OpenMemory) -> None:
    memory = open_memory()
    memory.add("The boat was red.", speaker="Ann", said_at="2024-05-06")
    # A memory gives every turn a time; logs of others may hold some without.
    ledger, undated = memory._async._caller.components.ledger, Turn(speaker="Bob", text="The boat was green.")
    memory._call(lambda: ledger.append(SessionId("old"), [undated]))
    memory.index_pending()
    recollection = memory.recall("boat", timeframe="2024-05")
    assert [item.text for item in recollection.items] == ["Ann: The boat was red."]
    assert recollection.undated == 1
    assert memory.recall("boat").undated == 0
    assert len(memory.recall("boat").items) == 2
    assert memory.recall("boat", timeframe="2024-05", session="main").undated == 0


def test_how_many_undated_turns_a_filter_would_leave_out_is_not_known(open_memory: OpenMemory) -> None:
    memory = open_memory()
    memory.add("The boat was red.", speaker="Ann", said_at="2024-05-06")
    ledger = memory._async._caller.components.ledger
    undated = [
        Turn(speaker="Bob", role="user", text="The boat was green.", metadata={"channel": "general"}),
        Turn(speaker="Cid", role="tool", text="The boat was blue.", trust="web"),
    ]
    memory._call(lambda: ledger.append(SessionId("old"), undated))
    memory.index_pending()
    filters: tuple[tuple[dict[str, Any], int | None], ...] = (
        ({}, 2),
        ({"session": "old"}, 2),
        ({"speaker": "Ann"}, None),
        ({"role": "tool"}, None),
        ({"where": {"channel": "general"}}, None),
        ({"min_trust": "user"}, None),
        ({"speaker": "Bob", "session": "main"}, 0),
    )
    for only, count in filters:
        assert memory.recall("boat", timeframe="2024-05", **only).undated == count, only


def test_nor_how_many_units_where_it_is_about_events(
    open_memory: OpenMemory,
) -> None:
    memory = open_memory()
    memory.add("The boat has 2 oars of ash.", speaker="Ann", said_at="2024-05-06")
    memory.flush()
    memory.add("The boat cost 900 dollars.", speaker="Bob", said_at="2024-05-06")
    memory.flush()
    assert [unit.event_at for unit in memory.units()] == [None, None]
    found = {
        who: memory.recall("boat", timeframe="2024", about="event", speaker=who).undated
        for who in (None, "Ann", "Cid")
    }
    assert found == {None: 2, "Ann": None, "Cid": None}


@pytest.mark.unexpected
def test_an_index_that_cannot_count_what_tells_no_time_is_searched_all_the_same(
    boats: tiermem.Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def undated(*args: object, **kwargs: object) -> int:
        raise AttributeError("an adapter that is older than timeframes")

    monkeypatch.setattr(type(boats._async._caller.components.reader._index), "undated", undated)
    recollection = boats.recall(TOPIC, timeframe="2024-05-07")
    assert (found(recollection), recollection.undated) == ({"Mull"}, None)


def test_a_memory_without_a_usable_index_filters_by_time_as_well(open_memory: OpenMemory) -> None:
    writing = open_memory()
    writing.add("The boat was red.", speaker="Ann", said_at="2024-05-06")
    writing.add("The boat was green.", speaker="Ann", said_at="2024-06-06")
    memory = open_memory(index="memory", read_only=True)  # it makes none
    for strategy in ("hybrid", "vector", "fulltext"):
        recollection = memory.recall("boat", timeframe="2024-05", kind="turns", strategy=strategy)
        assert [item.text for item in recollection.items] == ["Ann: The boat was red."]
        assert recollection.undated is None
        assert recollection.degradations
