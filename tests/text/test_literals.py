from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pagestore import Turn
from tests.text.dialogue import conversations, page_of
from tiermem.text import Source, is_negated, literals, omissions, omissions_and_count, unsupported_literals
from tiermem.text.literals import names, numbers
from tiermem.text.rare import rare_words
from tiermem.text.words import words

SAID = datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
HEARD = Source("I went to a LGBTQ support group yesterday with 3 friends from Oslo.", SAID, "Caroline")


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1,500 dollars and 3.50", ["1500", "3.5"]),
        ("twenty-three", ["23"]),
        ("two hundred and five", ["205"]),
        ("three, four and five", ["3", "4", "5"]),
        ("twelve thousand three hundred", ["12300"]),
        ("the third one", ["3"]),
        ("one of the first", []),
        ("at 10:30", ["10:30"]),
    ],
)
def test_numbers_are_compared_by_value(text: str, values: list[str]) -> None:
    assert numbers(text) == values


def test_names_are_capitalised_words_inside_a_sentence_or_unusual_ones_at_its_start() -> None:
    text = "Caroline met Amy Ellis Nutt in New York. Painting helps. The Witcher is Nate's. I was there."
    assert names(text) == ["Caroline", "Amy Ellis Nutt", "New York", "Witcher", "Nate"]


def test_the_literals_of_a_text_are_its_numbers_dates_names_and_denials() -> None:
    found = literals("Yesterday I bought 3 books in Oslo. I didn't read them.", SAID)
    assert found.numbers == {"3"}
    assert [mention.iso for mention in found.dates] == ["2023-05-07"]
    assert found.names == ("Oslo",)
    assert found.negations == ("I didn't read them.",)


@pytest.mark.parametrize(
    "text", ["I can't wait to go", "It's not only fun", "no doubt about it", "I have some"]
)
def test_idioms_with_a_negative_word_deny_nothing(text: str) -> None:
    assert not is_negated(text)


@pytest.mark.parametrize(
    "answer",
    [
        "7 May 2023",
        "Caroline, in May 2023, with three friends",
        "Oslo",
        "on 8 May 2023",
        "2023",
        "She went.",
        "",
    ],
)
def test_what_the_sources_hold_or_imply_is_supported(answer: str) -> None:
    assert unsupported_literals(answer, [HEARD]) == ()


@pytest.mark.parametrize(
    ("answer", "missing"),
    [
        ("6 May 2023", ("6 May 2023",)),
        ("June 2023", ("June 2023",)),
        ("with 4 friends", ("4",)),
        ("She went to Bergen", ("Bergen",)),
        ("Melanie went on 7 May 2022", ("7 May 2022", "Melanie")),
        ("7 May", ()),
        ("9 May", ("9 May",)),
    ],
)
def test_what_they_do_not_hold_is_named(answer: str, missing: tuple[str, ...]) -> None:
    assert unsupported_literals(answer, [HEARD]) == missing


@settings(max_examples=150)
@given(st.text(max_size=60), st.text(max_size=60))
def test_a_text_supports_itself_and_nothing_raises(text: str, other: str) -> None:
    assert unsupported_literals(text, [Source(text, SAID), other]) == ()
    unsupported_literals(text, [other])
    literals(text, SAID)


def test_omissions_name_the_literals_no_unit_keeps() -> None:
    page = page_of(
        [
            Turn(speaker="Ann", text="I moved to Oslo yesterday with 3 cats.", said_at=SAID),
            Turn(speaker="Ben", text="I don't like moving house.", said_at=SAID),
        ]
    )
    assert omissions(page, []) == (
        "number: 3",
        "date: yesterday",
        "name: Oslo",
        "negation: I don't like moving house.",
    )
    units = ["Ann moved to Oslo on 7 May 2023 with three cats.", "Ben does not like moving house."]
    assert omissions(page, units) == ()
    assert omissions(page, ["Ben likes moving house."])[-1].startswith("negation")


def test_common_words_with_a_capital_are_no_names() -> None:
    page = page_of([Turn(speaker="Ann", text="See you at the Meeting. Plus, Gustav comes from New York.")])
    assert omissions(page, []) == ("name: Gustav", "name: New York")


def test_of_a_german_page_no_noun_is_a_name() -> None:
    text = "Unser Hund mag den Käse nicht. Ich fahre am Freitag mit 3 Freunden nach Rostock."
    assert omissions(page_of([Turn(speaker="Ann", text=text)]), []) == ("number: 3",)


@pytest.mark.parametrize("said", ["I saw it on Friday, I hope.", "It is in March.", "We go on 2023-05-03."])
def test_a_date_whose_words_a_unit_holds_is_kept(said: str) -> None:
    page = page_of([Turn(speaker="Ann", text=said, said_at=SAID)])
    (lost,) = omissions(page, [])
    assert lost.startswith("date: ")
    assert not lost.endswith(".")
    assert omissions(page, [f"Ann: {said}"]) == ()


def test_rare_words_of_what_is_said_of_somebody_are_omissions_too() -> None:
    page = page_of(
        [
            Turn(speaker="Ann", text="My son has a peanut allergy. It's a lovely marigold, isn't it?"),
            Turn(speaker="Ben", text="Does she carry an inhaler? You are a superstar!"),
            Turn(speaker="Ann", text="She really loved the Zugspitze and two harmonicas."),
        ]
    )
    held = ["word: son", "word: peanut", "word: allergy", "word: harmonicas"]
    assert [lost for lost in omissions(page, []) if lost.startswith("word")] == held
    assert omissions_and_count(page, []) == (omissions(page, []), len(omissions(page, [])))
    assert "name: Zugspitze" in omissions(page, [])
    kept = ["Ann's son is ill: allergies to every peanut.", "She plays the harmonica."]
    assert [lost for lost in omissions(page, kept) if lost.startswith("word")] == []


@given(st.text(max_size=80))
def test_a_text_keeps_its_own_rare_words(text: str) -> None:
    page = page_of([Turn(speaker="Ann", text=f"My {text}")])
    assert [lost for lost in omissions(page, [text]) if lost.startswith("word")] == []
    assert set(rare_words(text)) <= set(words(text))


@pytest.mark.shared
def test_a_model_keeps_most_rare_words_of_real_dialogue(shared: Path) -> None:
    talk = next(talk for talk in conversations(shared / "data" / "locomo") if talk.facts)
    told: dict[str, list[str]] = {page.id: [] for page in talk.pages}
    for fact in talk.facts:
        told[talk.page_of_turn[fact["dia_ids"][0]].id].append(fact["fact"])
    every = [lost for page in talk.pages for lost in omissions(page, ()) if lost.startswith("word")]
    lost = [lost for page in talk.pages for lost in omissions(page, told[page.id]) if lost.startswith("word")]
    assert len(every) / len(talk.pages) > 5
    assert 0.65 < 1 - len(lost) / len(every) < 0.9


LONG = "9" * 5_000
"""More digits than `int` reads."""


@pytest.mark.parametrize(
    ("written", "value"),
    [
        (LONG, LONG),
        (f"000{LONG}", LONG),
        (f"{LONG}.500", f"{LONG}.5"),
        (f"{LONG}.000", LONG),
        (",".join(["999"] * 2_000), "999" * 2_000),
        ("٣", "3"),
        ("٠٠٣٫", "3"),
        ("７.５０", "7.5"),
        ("000", "0"),
        ("0.50", "0.5"),
        ("10:30", "10:30"),
        ("1.2.3", "1.2.3"),
    ],
)
def test_a_number_of_any_length_and_script_is_compared_as_its_digits(written: str, value: str) -> None:
    assert numbers(f"it is {written} of them") == [value]


@pytest.mark.parametrize(
    "word", ["hundred", "five hundred", "hundred and", "billion", "five hundred thousand"]
)
def test_number_words_said_without_end_are_numbers_of_a_length_that_can_be_written(word: str) -> None:
    assert max(map(len, numbers(f"{word} " * 5_000))) < 40


def test_a_source_holds_a_long_number_and_no_other() -> None:
    assert not unsupported_literals(f"There were {LONG}.", [f"We counted 0{LONG} of them."])
    assert unsupported_literals(f"There were {LONG}.", [f"We counted {LONG}9 of them."]) == (LONG,)
