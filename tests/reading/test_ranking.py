"""How turns are ranked: each signal alone, and what they are together."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from types import MappingProxyType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagestore import Turn
from tests.reading.world import ASKED, MAIN, SPACE, World, make_question
from tiermem.errors import EmbedderUnavailable, IndexUnavailable
from tiermem.index.candidates import Candidates, gather_candidates, pack_without_vectors
from tiermem.index.features import turn_features
from tiermem.index.testing import page_with
from tiermem.reading.ranking import (
    RankingOptions,
    TurnQuery,
    cover_by_stems,
    rank_groups,
    score_rows,
    turn_query,
)
from tiermem.reading.turns import candidates_on_pages
from tiermem.text.question import Question

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("logs")]

OPTIONS = RankingOptions()


def candidate(
    text: str,
    *,
    speaker: str = "Ann",
    role: str | None = None,
    said_at: datetime | None = None,
    beside: Sequence[str] = (),
    near: Mapping[str, float] = MappingProxyType({}),
) -> Candidates:
    """A turn that is not near, or as near as is given, and those said after it."""
    said = Turn(speaker=speaker, text=text, role=role, said_at=said_at)
    rows = [turn_features(page_with(said, 0, MAIN), 0)]
    rows += [turn_features(page_with(Turn(speaker="Bob", text=one), 1, MAIN), 0) for one in beside]
    scores = [np.array([near.get(name, 0.0)]) for name in ("meaning", "exchange", "around")]
    block = pack_without_vectors(rows)
    return gather_candidates(block, [[1] if beside else []], 1, scores=scores, rarity={"any": 1.0})


def unseen(text: str) -> Candidates:
    """A turn of which nothing is known but its words."""
    return candidates_on_pages([0], [page_with(Turn(speaker="Ann", text=text), 0, MAIN)])


def score(question: TurnQuery, one: Candidates) -> float:
    (found,) = score_rows(question, one, cover_by_stems, OPTIONS).tolist()
    return float(found)


def query_of(
    question: str, named: Iterable[str] = (), rarity: Mapping[str, float] = MappingProxyType({})
) -> TurnQuery:
    return turn_query(Question(question, ASKED), named, rarity)


QUESTION = query_of("Which bicycle did Ann buy?", {"ann"}, {"bicycl": 3.0, "buy": 1.0})


def test_a_question_is_read_without_stop_words_and_without_the_speakers_it_names() -> None:
    assert QUESTION.words == ("bicycle", "buy")
    assert QUESTION.worth == (3.0, 1.0)
    assert (QUESTION.speaker, QUESTION.time) == ("ann", False)
    assert query_of("What is Ann's bicycle called?", {"ann"}).words == ("bicycle", "called")
    both = query_of("What did Ann tell Bob?", {"ann", "bob"})
    assert both.speaker is None
    assert query_of("What is it?").words == ("what", "is", "it")


@pytest.mark.parametrize(
    ("before", "after", "pages", "share"),
    [
        (("Ann", None), ("Ann", None), (0, 0), OPTIONS.continued),
        (("ANN Lee", None), ("Ann Lee", None), (0, 0), OPTIONS.continued),
        (("user", "user"), ("user", "user"), (0, 0), OPTIONS.continued),
        (("Ann", "user"), ("Ann", "user"), (0, 0), OPTIONS.continued),
        (("Ann", None), ("Bob", None), (0, 0), 1.0),
        (("Ann Lee", None), ("Ann Moor", None), (0, 0), 1.0),
        (("user", "user"), ("assistant", "assistant"), (0, 0), 1.0),
        (("assistant", "assistant"), ("tool", "tool"), (0, 0), 1.0),
        (("Ann", None), ("Bob", None), (0, 1), 0.0),
        (("Ann", None), ("Ann", None), (0, 1), 0.0),
    ],
)
def test_an_exchange_counts_as_far_as_the_turn_may_be_a_reply(
    before: tuple[str, str | None],
    after: tuple[str, str | None],
    pages: tuple[int, int],
    share: float,
) -> None:
    turns = [Turn(speaker=name, role=role, text="It rained.") for name, role in (before, after)]
    rows = [
        replace(turn_features(page_with(turn, seq, MAIN), 0), page=page)
        for seq, (turn, page) in enumerate(zip(turns, pages, strict=True))
    ]

    def score_last(exchange: float) -> float:
        scores = [np.array([0.5, 0.5]), np.array([0.5, exchange]), np.zeros(2)]
        found = gather_candidates(pack_without_vectors(rows), [[1], [0]], 2, scores=scores)
        return float(score_rows(QUESTION, found, cover_by_stems, OPTIONS)[1])

    gained = (score_last(0.9) - score_last(0.5)) / 0.4
    assert gained == pytest.approx(OPTIONS.exchange * share)


@pytest.mark.parametrize(
    ("total", "share"),
    [(0, 1.0), (1, 1.0), (600, 1.0), (1_000, 1.0), (4_000, 0.5), (9_000, 1 / 3), (100_000, 0.1)],
)
def test_words_around_count_less_among_more_turns_than_a_long_conversation_has(
    total: int, share: float
) -> None:
    far, near = (
        replace(candidate("It rained.", near={"around": around}), total=total) for around in (0.0, 0.8)
    )
    assert score(QUESTION, near) - score(QUESTION, far) == pytest.approx(OPTIONS.around * 0.8 * share)


@pytest.mark.parametrize(
    ("question", "asker"),
    [
        ("Where did I park my car?", True),
        ("Can you recommend a dinner with my vegetables?", True),
        ("Where did Ann park my car?", False),
        ("Which car did you recommend to me?", False),
        ("Can you remind me of the name you gave?", False),
        ("Where is the car?", True),
        ("Where is Ann's car?", False),
    ],
)
def test_the_user_is_meant_where_nobody_is_named_nor_the_other_side_asked(question: str, asker: bool) -> None:
    names = {"ann"} if "Ann" in question else set()
    found = query_of(question, names)
    assert found.asker is asker

    user, other = (candidate("I parked the car.", speaker=role, role=role) for role in ("user", "assistant"))
    more = score(found, user) - score(found, other)
    assert more == pytest.approx(OPTIONS.named if asker else 0)


@pytest.mark.parametrize(
    ("question", "time"),
    [
        ("When did she move?", True),
        ("How many weeks ago did it rain?", True),
        ("Which year was it?", True),
        ("What does Bob do when it rains?", False),
        ("Who plays the cello?", False),
    ],
)
def test_questions_for_a_time_are_told_by_their_words(question: str, time: bool) -> None:
    assert query_of(question).time is time


def test_each_signal_of_the_index_adds_its_weight() -> None:
    plain = score(QUESTION, candidate("the weather is mild"))
    for name in ("meaning", "exchange", "around"):
        more = score(QUESTION, candidate("the weather is mild", near={name: 0.5}))
        assert more - plain == pytest.approx(0.5 * getattr(OPTIONS, name))


def test_a_turn_and_the_one_before_it_are_an_exchange_on_one_page_alone() -> None:
    near = candidate("yes", beside=["Is it red?"], near={"meaning": 0.2, "exchange": 0.5})
    after = replace(near, before=near.after, after=near.before)
    after.block.rows["page"] = (1, 1)
    together = score(QUESTION, after)
    after.block.rows["page"] = (2, 1)
    assert together - score(QUESTION, after) == pytest.approx((0.5 - 0.2) * OPTIONS.exchange)


def test_rare_words_of_the_question_cover_more() -> None:
    rare = score(QUESTION, candidate("a bicycle here"))
    common = score(QUESTION, candidate("to buy here"))
    assert rare - common == pytest.approx(OPTIONS.coverage * (3 - 1) / 4)


def test_what_is_said_right_beside_covers_too() -> None:
    alone = score(QUESTION, candidate("yes"))
    assert score(QUESTION, candidate("yes", beside=["no"])) == alone
    assert score(QUESTION, candidate("yes", beside=["a bicycle"])) > alone


def test_the_one_speaker_who_is_named_counts_for_more() -> None:
    by_ann, by_bob = (score(QUESTION, candidate("it was red", speaker=name)) for name in ("Ann", "Bob"))
    assert by_ann - by_bob == pytest.approx(OPTIONS.named)


def test_a_time_counts_only_where_one_is_asked_for() -> None:
    when = query_of("When was it?")
    told, verb = candidate("it was in May there"), candidate("it may be over there")
    assert score(when, told) - score(when, verb) == pytest.approx(OPTIONS.time)
    assert score(QUESTION, told) == pytest.approx(score(QUESTION, verb))


@pytest.mark.parametrize(
    ("question", "periods"),
    [
        ("Who called yesterday?", [("2023-05-30", "2023-06-02")]),
        ("Who called on 3 May 2023?", [("2023-05-03", "2023-05-06")]),
        (
            "Who called in May 2022, and in June 2022?",
            [("2022-05-01", "2022-06-03"), ("2022-06-01", "2022-07-03")],
        ),
        ("Who called last Saturday, on 3 May 2023?", [("2023-05-03", "2023-05-06")]),
        ("Who called two weeks ago?", [("2023-05-12", "2023-05-24")]),
        ("Who called last week?", [("2023-05-19", "2023-05-31")]),
        ("Who called in the past month?", [("2023-03-22", "2023-05-31")]),
        ("Who called on 9999-12-30?", [("9999-12-30", "9999-12-31")]),
        ("Who called?", []),
    ],
)
def test_what_happened_on_a_day_is_told_then_and_for_some_days_after(
    question: str, periods: list[tuple[str, str]]
) -> None:
    wednesday = datetime(2023, 5, 31, 9, tzinfo=UTC)
    found = Question(question, wednesday).periods
    assert [(str(first), str(last)) for first, last in found] == periods


def test_what_was_told_on_the_days_a_question_names_counts_for_more() -> None:
    periods = (date(2023, 5, 3), date(2023, 5, 6))
    undated = query_of("Which bicycle?")
    dated = replace(undated, periods=(periods,))

    def bonus(said_at: datetime | None) -> float:
        one = candidate("I bought a bicycle.", said_at=said_at)
        return score(dated, one) - score(undated, one)

    days = [bonus(datetime(2023, 5, day, 23, tzinfo=UTC)) for day in (2, 3, 6, 7)]
    assert days == pytest.approx([0, OPTIONS.dated, OPTIONS.dated, 0])
    assert bonus(None) == 0


def test_a_turn_that_only_asks_counts_for_less_and_one_that_says_more_for_more_up_to_a_point() -> None:
    assert score(QUESTION, candidate("mild weather?")) - score(QUESTION, candidate("mild weather.")) == (
        pytest.approx(OPTIONS.asks)
    )
    lengths = [score(QUESTION, candidate("weather " * n)) for n in (1, 5, OPTIONS.enough, 50)]
    assert lengths[0] < lengths[1] < lengths[2] == lengths[3]


def test_a_turn_the_index_has_not_seen_is_credited_by_its_words() -> None:
    said, silent = (unseen(text) for text in ("a bicycle to buy", "the weather here is"))
    seen = candidate("a bicycle to buy")
    assert score(QUESTION, said) > score(QUESTION, seen) > score(QUESTION, silent)


@given(scores=st.lists(st.floats(-20, 20), min_size=1, max_size=8), more=st.floats(-20, 20))
def test_a_page_is_better_than_its_best_turn_and_never_worse_for_another(
    scores: list[float], more: float
) -> None:
    ((_, page),) = rank_groups((1, one) for one in scores)
    ((_, fuller),) = rank_groups((1, one) for one in [*scores, more])
    assert max(scores) - 1e-9 <= page <= fuller + 1e-9


def test_two_good_turns_make_a_better_page_than_one() -> None:
    ranked = rank_groups([("one", 8.0), ("two", 7.8), ("two", 7.8), ("one", 0.0)])
    assert [page for page, _ in ranked] == ["two", "one"]


async def test_turns_are_found_where_they_stand_with_who_said_them_and_when() -> None:
    world = await World.new()
    page = await world.page("Ann: I adopted a grey cat", "Bob: the weather is mild")
    found = await world.reader().search(make_question("grey cat"), kind="turns")
    assert found[0].text == "Ann: I adopted a grey cat"
    assert page.words(found[0].spans[0]) == "I adopted a grey cat"
    assert found[0].said_at == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
    assert len(await world.reader().search(make_question("grey cat"), kind="turns", limit=1)) == 1


async def test_turns_of_open_pages_are_ranked_among_the_others() -> None:
    world = await World.new()
    await world.page("Ann: I adopted a grey dog", "Bob: Tom cooks")
    await world.say("Ann: my grey cat is called Tom", "Bob: good for you")
    for indexed in (False, True):
        found = await world.reader().search(make_question("grey cat Tom"), kind="turns")
        assert found[0].text == "Ann: my grey cat is called Tom"
        assert found[0].spans[0].page_id.startswith("o1:")
        assert (found[0].similarity is not None) is indexed
        assert any(turn.spans[0].page_id.startswith("p1:") for turn in found[1:])
        assert {item.source for item in found} == {"turn"}
        await world.project()


async def test_turns_that_the_index_found_on_an_open_page_are_found_after_it_sealed() -> None:
    world = await World.new()
    await world.say("Ann: my grey cat is called Tom")
    await world.project()
    (sealed,) = await world.ledger.seal(MAIN)
    (found,) = await world.reader().search(make_question("grey cat"), kind="turns")
    assert found.spans[0].page_id == sealed


async def test_turns_too_new_for_the_index_are_found() -> None:
    world = await World.new()
    await world.page("Ann: I adopted a grey cat")
    await world.say("Ann: a brown dog barks")
    await world.ledger.seal(MAIN)
    (first, *_) = await world.reader().search(make_question("brown dog"), kind="turns")
    assert first.text.endswith("a brown dog barks")


@pytest.mark.parametrize("failure", [IndexUnavailable("no route"), EmbedderUnavailable("no weights")])
async def test_without_index_or_vectors_turns_are_found_by_their_words(
    failure: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    world = await World.new()
    await world.page("Ann: I adopted a grey cat", "Bob: the weather is mild")
    if isinstance(failure, IndexUnavailable):
        world.index.broken = failure
    else:
        world.index.without_vectors = failure
    (first, *_) = await world.reader().search(make_question("grey cat"), kind="turns")
    assert first.text.endswith("I adopted a grey cat")
    assert str(failure) in caplog.text


async def test_hits_of_turns_that_are_not_there_are_passed_over() -> None:
    world = await World.new()
    await world.page("Ann: I adopted a grey cat")
    entries = world.index.entries[SPACE, "turns"]
    (entry,) = entries.values()
    assert entry.context is not None
    (said,) = [line.turn for line in entry.context.page.lines if line.turn]
    entries["999"] = replace(entry, id="999", context=replace(entry.context, page=page_with(said, 999, MAIN)))
    assert len(await world.reader().search(make_question("grey cat"), kind="turns")) == 1
    recalled = await world.recall("grey cat")
    assert (len(recalled.items), recalled.dropped) == (1, 1)


async def test_units_are_recalled_by_what_their_turns_say() -> None:
    world = await World.new()
    page = await world.page("Ann: I adopted a grey cat", "Bob: the weather is mild")
    cat, _ = await world.units(
        page, ("Ann has a pet", "adopted a grey cat"), ("it is mild", "weather is mild")
    )
    recalled = await world.recall("grey cat", units=1)
    assert [unit.unit_id for unit in recalled.units] == [cat.id]
