"""What is computed from stated words, and computed again from the words of pages."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pagestore import Page, Span, Turn
from tests.text.dialogue import page_of
from tiermem.model import Derivation, Term
from tiermem.proof import recomputed
from tiermem.proof.derive import (
    amounts,
    count_of,
    counted_date,
    reckoned,
    term,
)
from tiermem.text import Source, resolve_dates

SAID = datetime(2023, 10, 20, 9, 0, tzinfo=UTC)
PAGE = page_of(
    [
        Turn(
            speaker="Ann", text="I moved to Oslo a year ago and will sell the boat on Monday.", said_at=SAID
        ),
        Turn(speaker="Ben", text="I paid $20 for lamps and $25 for a rug; I have two dogs.", said_at=SAID),
        Turn(speaker="Ann", text="My run was on 3 October 2023, the race on 17 October 2023.", said_at=SAID),
        Turn(speaker="Ann", text="I'm 32 and my aunt had her 75th birthday.", said_at=SAID),
        Turn(speaker="Ben", text="I have three cats, twenty-five hens and 1,250 bees.", said_at=SAID),
    ]
)


def source(index: int, page: Page = PAGE) -> Source:
    line = page.lines[index]
    assert line.turn is not None
    spans = (Span(page_id=page.id, start=line.body, end=line.end),)
    return Source(page.text[line.body : line.end], line.turn.said_at, line.turn.speaker, spans)


def made(derivation: Derivation | None) -> tuple[str, str, list[str]]:
    """Kind, value and the words of the terms, once it has been computed again from the page."""
    assert derivation is not None
    assert recomputed(derivation) == derivation.value
    for item in derivation.terms:
        if item.text:
            assert " ".join(PAGE.words(span) for span in item.spans) == item.text
    return derivation.kind, derivation.value, [item.text for item in derivation.terms]


@pytest.mark.parametrize(
    ("wanted", "value", "words"),
    [
        ("October 2022", "October 2022", "a year ago"),
        ("2022", "2022", "a year ago"),
        ("23 October 2023", "23 October 2023", "will sell the boat on Monday"),
    ],
)
def test_a_date_is_counted_from_when_the_words_were_said(wanted: str, value: str, words: str) -> None:
    mention = resolve_dates(wanted, None)[0]
    assert made(counted_date(mention, [source(1), source(0)])) == ("date", value, [words])


def test_a_date_that_nothing_counts_to_or_that_is_named_outright_is_not_counted() -> None:
    for text in ("November 2022", "3 October 2023", "2021"):
        assert counted_date(resolve_dates(text, None)[0], [source(0), source(2)]) is None


def test_amounts_are_numbers_outside_of_dates_with_what_they_count() -> None:
    found = [(each.value, each.sign, each.unit) for each in amounts(source(1))]
    assert found == [(Decimal(20), "$", "lamp"), (Decimal(25), "$", "rug"), (Decimal(2), "", "dog")]
    assert [each.value for each in amounts(source(4))] == [Decimal(3), Decimal(25), Decimal(1250)]
    assert amounts(source(2)) == ()


def test_sums_and_differences_are_of_one_kind() -> None:
    assert made(reckoned(Decimal(45), [source(1)], sign="$")) == ("sum", "$45", ["$20", "$25"])
    assert made(reckoned(Decimal(5), [source(1)])) == ("difference", "$5", ["$25", "$20"])
    animals = reckoned(Decimal(5), [source(1), source(4)], units={"dog", "cat"})
    assert made(animals) == ("sum", "5", ["two", "three"])
    assert reckoned(Decimal(22), [source(1)]) is None  # dollars and dogs
    assert reckoned(Decimal(46), [source(1)], sign="$") is None


def test_a_count_is_of_different_terms() -> None:
    whole = [term(source(index), 0, len(source(index).text)) for index in (0, 1, 1)]
    assert made(count_of(whole))[:2] == ("count", "2")
    assert count_of([]) is None


@pytest.mark.parametrize(
    ("value", "right"), [("14 days", "14 days"), ("2 weeks", "2 weeks"), ("0 month", "0 months"), ("x", None)]
)
def test_a_duration_lies_between_two_dates_or_days_of_saying(value: str, right: str | None) -> None:
    ends = [Term(text="3 October 2023"), Term(text="", said_at=datetime(2023, 10, 17, tzinfo=UTC))]
    assert recomputed(Derivation(kind="duration", value=value, terms=tuple(ends))) == right


@settings(max_examples=200)
@given(
    st.sampled_from(["date", "count", "sum", "difference", "duration"]),
    st.text(max_size=20),
    st.lists(st.text(max_size=30), max_size=3),
)
def test_no_derivation_raises(kind: str, value: str, texts: list[str]) -> None:
    terms = tuple(Term(text=text, said_at=SAID) for text in texts)
    recomputed(Derivation(kind=kind, value=value, terms=terms))  # type: ignore[arg-type]


def test_one_thing_told_twice_is_one() -> None:
    once = term(source(4), 7, 17)
    assert recomputed(Derivation(kind="count", value="1", terms=(once, once))) == "1"


@pytest.mark.parametrize("mark", [". ", "! ", "? ", "; ", "\n"])
def test_a_number_counts_nothing_beyond_the_end_of_its_sentence(mark: str) -> None:
    (amount,) = amounts(Source(f"I have 3{mark}Dogs are great."))
    assert (int(amount.value), amount.unit) == (3, "")
