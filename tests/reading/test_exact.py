"""What a query asks for letter by letter is found: identifiers, phrases, and the query as it is typed."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tiermem
from pagestore import SessionId
from tests.engines import quoting_engine
from tests.reading.world import World, make_question
from tiermem.embedding.hashed import HashEmbedder
from tiermem.reading.options import ReadingOptions
from tiermem.reading.search import LookUp, Strategy
from tiermem.reading.view import EVERYTHING, View
from tiermem.text.exact import ExactText

SETTINGS: dict[str, Any] = {"engine": quoting_engine(), "index": "memory", "distil": "inline"}


@pytest.fixture
def memory(address: Path | str) -> Iterator[tiermem.Memory]:
    with tiermem.open(address, embedder=HashEmbedder(), **SETTINGS) as opened:
        yield opened


@pytest.mark.parametrize(
    ("query", "identifiers"),
    [
        ("Who took over ORD-20417?", ["ORD-20417"]),
        ("What does error E0382 mean here?", ["E0382"]),
        ("What broke in 3.11.4 and v2.0.1-rc2?", ["3.11.4", "v2.0.1-rc2"]),
        ("Whose number is +49 151 23456789?", ["+49", "151", "23456789"]),
        ("Where is quarterly_plan.xlsx, and where notes.txt?", ["quarterly_plan.xlsx", "notes.txt"]),
        ("What did you say of (https://example.org/a?b=1)?", ["https://example.org/a?b=1"]),
        ("Did @lena see commit 9fceb02, or #random?", ["@lena", "9fceb02", "#random"]),
        ("What is in /etc/hosts/ and C:\\temp?", ["/etc/hosts/", "C:\\temp"]),
        ("Who lives in room 1408 of 40,000?", ["1408", "40,000"]),
        # neither dates, nor times, nor amounts, nor words with a hyphen
        ("What did Ann do in 2023, on 3 May 2024 or 2024-05-03?", []),
        ("Who came 3rd at 10:30, or at 5pm, after 12 km and 2.5 kg?", []),
        ("Did the $10 or €12.50 coupon, 1,250.75€ or £7k come first?", []),
        ("Is her 5-star, well-known mother-in-law's U.S. visa valid, e.g. his/her one?", []),
    ],
)
def test_identifiers_are_words_that_name_one_thing(query: str, identifiers: list[str]) -> None:
    assert [one.text for one in make_question(query).identifiers] == identifiers


@pytest.mark.parametrize(
    ("query", "phrases"),
    [
        ('who said "the blue gate"?', ["the blue gate"]),
        ("“one thing” and «two  things», „drei“", ["one thing", "two  things", "drei"]),
        ('an open " quote, and ""', []),
    ],
)
def test_phrases_are_what_is_in_quotation_marks(query: str, phrases: list[str]) -> None:
    assert [one.text for one in make_question(query).phrases] == phrases


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("See ord-20417.", True),
        ("(ORD‑20417): done", True),  # another hyphen
        ("ORD-204170", False),
        ("ORD-20417-B", False),
        ("XORD-20417", False),
        ("2-ORD-20417", False),
        ("ORD 20417", False),
    ],
)
def test_an_identifier_is_not_found_within_a_longer_one(text: str, found: bool) -> None:
    assert ExactText("ORD-20417", is_identifier=True).is_in(text) is found


def test_the_only_turn_with_an_identifier_is_first_among_neighbouring_numbers(memory: tiermem.Memory) -> None:
    drawn = random.Random(4)
    things = ("the printer", "a broken login", "the slow network", "a lost badge")
    numbers = list(range(70310, 70350))
    drawn.shuffle(numbers)
    for number in numbers:
        memory.add(
            f"I closed ticket HD-{number} about {drawn.choice(things)}.", speaker="Ann", session="support"
        )
    memory.flush()
    for number in drawn.sample(numbers, 6):
        asked, said = f"What was ticket HD-{number} about?", f"ticket HD-{number} about"
        for kind in ("any", "turns", "units", "pages"):
            assert said in memory.search(asked, kind=kind)[0].text, kind
        assert said in memory.recall(asked).items[0].text
        assert said in memory.context(asked, max_tokens=60).text


def test_a_search_finds_the_words_of_turns_that_are_no_units(memory: tiermem.Memory) -> None:
    for n in range(30):
        memory.add(f"We talked about the garden again, for the {n}th time.", speaker="Ann")
    memory.add("Hm, is that the Marzipan from Lübeck?", speaker="Bob")
    memory.flush()
    assert not [unit for unit in memory.units() if "Marzipan" in unit.text]
    assert "Marzipan" in memory.search("marzipan")[0].text


def test_a_phrase_in_quotation_marks_is_in_everything_found(memory: tiermem.Memory) -> None:
    memory.add("The blue gate sticks when it rains.", speaker="Ann")
    memory.add("The gate is blue, and it sticks.", speaker="Bob")
    memory.flush()
    for kind in ("any", "turns", "units"):
        assert len({one.spans for one in memory.search("blue gate", kind=kind)}) == 2
        (found,) = memory.search('"Blue  gate"', kind=kind)
        assert "The blue gate sticks" in found.text
    assert memory.search('"gate blue"') == ()
    assert not memory.search('"gate blue"', kind="pages")


@pytest.mark.parametrize(
    "question",
    [
        'When did Ann read "Nothing is Impossible"?',
        "Which page of “nothing is impossible” did Ann like?",
        'Did "Xenoblade Chronicals" come up when Ann talked about games?',
        'Who said "the garden again" and "nothing is impossible"?',
        'What does Ann think of "Becoming Nicole" and games? ',
    ],
)
def test_a_phrase_of_a_question_goes_first_and_is_not_required(memory: tiermem.Memory, question: str) -> None:
    memory.add("I finished the book you lent me, page 300 was lovely, and so are games.", speaker="Ann")
    memory.add("Nothing is impossible is what they say about the garden.", speaker="Bob")
    memory.flush()
    found = memory.search(question, kind="turns")
    assert any("the book you lent me" in one.text for one in found)
    if "mpossible" in question:
        assert "Nothing is impossible" in found[0].text


def test_results_of_any_kind_are_sorted_by_one_score(memory: tiermem.Memory) -> None:
    for n in range(12):
        memory.add(f"I saw a heron near the lake on walk {n}. It was cold.", speaker="Ann")
    memory.add("The heron is my favourite bird.", speaker="Bob")
    memory.flush()
    found = memory.search("Whose favourite bird is the heron?", limit=20)
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    assert {one.source for one in found} == {"unit", "turn"}
    assert len({one.text.removeprefix("Ann: ") for one in found}) == len(found)


@pytest.mark.parametrize(
    ("topic", "asked"),
    [
        ("violin", "When is the violin lesson after the holidays?"),
        ("ferry", "Which ferry leaves the harbour before noon?"),
        ("invoice", "Who paid the invoice of the printer?"),
        ("garden", "What grows in the garden behind the school?"),
        ("piano", "Where did we buy the old piano?"),
    ],
)
@pytest.mark.anyio
@pytest.mark.parametrize("strategy", ["hybrid", "fulltext"])
@pytest.mark.usefixtures("logs")
async def test_turns_that_only_share_words_with_the_query_do_not_raise_their_page(
    strategy: Strategy, topic: str, asked: str
) -> None:
    world = await World.new(page_tokens=100_000)
    await world.page(
        *(f"Ann: Remark {n} is about the {topic}." for n in range(120)), session=SessionId("remarks")
    )
    await world.page(f"Ann: {asked.rstrip('?')}, I wonder.", session=SessionId("plans"))
    view = await View.open(world.ledger, world.index, EVERYTHING)
    query = f"{asked} Please"  # no turn contains it
    plain, typed = (
        LookUp(view, ReadingOptions(), strategy=strategy, as_typed=as_typed) for as_typed in (False, True)
    )
    assert (await typed.rank(make_question(query))).turns == (await plain.rank(make_question(query))).turns
    assert await typed.pages(make_question(query), limit=5, mode="hybrid") == await plain.pages(
        make_question(query), limit=5, mode="hybrid"
    )


def test_a_limit_above_what_is_stored_finds_all_of_it(memory: tiermem.Memory) -> None:
    memory.add([{"speaker": "Ann", "text": f"Entry {n} of the lighthouse log."} for n in range(150)])
    memory.flush()
    for limit in (60, 149, 400):
        for kind in ("any", "turns"):
            assert len(memory.search("lighthouse log", kind=kind, limit=limit)) == min(limit, 150)


@pytest.mark.parametrize("seed", range(3))
def test_a_larger_limit_lists_the_same_turns_first(memory: tiermem.Memory, seed: int) -> None:
    chosen = random.Random(seed)
    topics = ["harbour", "lantern", "violin", "orchard", "meadow", "bicycle", "kettle", "museum", "ferry"]
    memory.add(
        [
            {
                "speaker": chosen.choice(("Ann", "Bob")),
                "text": f"We saw the {' and the '.join(chosen.sample(topics, chosen.randint(1, 4)))}.",
            }
            for _ in range(400)
        ]
    )
    memory.flush()
    few, more = (memory.search("harbour violin ferry", kind="turns", limit=limit) for limit in (20, 60))
    assert [one.spans for one in few] == [one.spans for one in more][:20]


WORDS = ("amber", "birch", "cedar", "dune", "ember", "fjord", "grove", "heath")


@settings(max_examples=30, deadline=None)
@given(
    turns=st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=9), min_size=1, max_size=25),
    data=st.data(),
)
def test_one_of_the_first_five_results_contains_the_query_as_typed(
    turns: list[list[str]], data: st.DataObject
) -> None:
    chosen = data.draw(st.sampled_from(turns))
    start = data.draw(st.integers(0, len(chosen) - 1))
    query = " ".join(chosen[start : data.draw(st.integers(start + 1, len(chosen)))]).upper()
    with tiermem.open(":memory:", embedder=HashEmbedder(), engine="local") as memory:
        memory.add([{"speaker": "Ann", "text": " ".join(turn)} for turn in turns])
        memory.flush()
        for kind in ("any", "turns"):
            best = memory.search(query, kind=kind)[:5]
            assert any(ExactText(query).is_in(one.text) for one in best), kind
