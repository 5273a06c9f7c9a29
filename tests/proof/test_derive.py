"""Dates that are counted from when words were said, and computed again from the words of pages."""

from datetime import UTC, datetime

import pytest

from pagestore import Page, Span, Turn
from tests.text.dialogue import page_of
from tiermem.model import Derivation
from tiermem.proof.derive import counted_date
from tiermem.reading.looking_back.recomputing import recompute
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
    assert recompute(derivation) == derivation.value
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
