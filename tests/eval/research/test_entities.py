"""Entities are the names, numbers and dates of a text; what holds them is known by words, values and days."""

from datetime import UTC, datetime

import pytest

from eval.research.entities import entities, entities_missing
from tiermem.text.literals import Source

SAID = datetime(2023, 5, 8, tzinfo=UTC)


def test_entities_are_names_numbers_and_dates_each_once() -> None:
    told = entities("Yesterday Caroline paid 3 euros in Oslo, and Caroline paid three euros more.", SAID)
    assert told == ("Caroline", "Oslo", "3", "Yesterday")
    assert entities("what did she like?") == ()


@pytest.mark.parametrize(
    ("asked", "held", "missing"),
    [
        ("What did Caroline buy?", "caroline bought tea", ()),
        ("What did Caroline buy?", "Ann bought tea", ("Caroline",)),
        ("Who are the 3 Japanese friends?", "three friends from Japan", ()),
        ("Who are the 4 Japanese friends?", "three friends from Japan", ("4",)),
        ("What happened on 7 May 2023?", "I met Ann yesterday", ()),
        ("What happened in May 2023?", "I met Ann", ()),
        ("What happened on 9 June 2023?", "I met Ann yesterday", ("9 June 2023",)),
        ("what happened?", "nothing", ()),
    ],
)
def test_what_is_missing_is_what_no_source_holds(asked: str, held: str, missing: tuple[str, ...]) -> None:
    assert entities_missing(asked, [Source(held, SAID)]) == missing


def test_a_name_is_held_by_whoever_speaks_and_everything_is_missing_where_there_is_nothing() -> None:
    assert entities_missing("What did Caroline buy?", [Source("tea", SAID, "Caroline")]) == ()
    asked = "What did Ann pay for 3 loaves on 7 May 2023?"
    assert entities_missing(asked, []) == entities(asked)
