"""What is near is told from what is the same, and no unit is in two merges."""

from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagestore import SessionId
from tests.ledger.building import unit
from tiermem.model import SummaryUnit, UnitId
from tiermem.salience.propose import NEAR, NEAR_ELSEWHERE, Pair, difference, near_for, propose
from tiermem.text import normalise


def told(text: str, name: str = "u1", **how: Any) -> SummaryUnit:
    return replace(unit(name, text=text), **how)


def pairs(*units: SummaryUnit) -> list[Pair]:
    return [Pair(one=one, other=other, similarity=0.99) for one, other in combinations(units, 2)]


def never(one: UnitId, other: UnitId) -> bool:
    return False


@pytest.mark.parametrize(
    "other",
    [
        "Ann loves the old mill.",
        "ann loves  the old mill",
        "Ann really loves an old mill!",
        "Ann also loves the old mill.",
    ],
)
def test_what_differs_in_light_words_alone_tells_the_same(other: str) -> None:
    assert difference(told("Ann loves the old mill."), told(other)) == ""


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ann gave Bob a book.", "Bob gave Ann a book."),
        ("Ann moved from Rome to Oslo.", "Ann moved to Rome from Oslo."),
        ("Ann will visit Rome.", "Ann visited Rome."),
        ("Ann stopped drinking tea.", "Ann drinks tea."),
        ("Ann's sister lives in Oslo.", "Ann lives with her sister in Oslo."),
        ("Ann sold the car before the trip.", "Ann sold the car after the trip."),
        ("Ann likes tea.", "Ann likes tea?"),
        ("Ann likes tea.", "Ann never likes tea."),
        ("Ann has 12 hens.", "Ann has 13 hens."),
        ("Ann likes tea.", "Ann likes tea with Marco."),
        ("Melanie finds pottery relaxing.", "Melanie finds pottery relaxing and creative."),
    ],
)
def test_what_a_vector_takes_for_the_same_and_is_not_stays_apart(one: str, other: str) -> None:
    assert difference(told(one), told(other))
    assert difference(told(other), told(one))


@pytest.mark.parametrize(
    "how",
    [
        {"kind": "stated"},
        {"session": SessionId("s2")},
        {"trust": "tool"},
        {"event_at": "2024-03"},
    ],
)
def test_the_same_words_of_another_session_trust_or_time_stay_apart(how: dict[str, Any]) -> None:
    assert difference(told("Ann likes tea."), told("Ann likes tea.", **how))


def test_yesterday_is_another_day_on_another_day() -> None:
    monday = told("Ann went to the gym yesterday.")
    assert monday.said_at is not None
    friday = replace(monday, said_at=monday.said_at.replace(day=5))
    assert difference(monday, friday) == "they tell of different times"
    assert difference(monday, replace(monday, id=UnitId("u2"))) == ""


def test_all_that_tell_the_same_are_one_merge_in_the_oldest_wording() -> None:
    units = [told("Ann likes the tea.", f"u{n}") for n in range(1, 5)]
    (merge,) = propose(pairs(*units), parted=never).merges
    assert merge.units == tuple(units)


def test_what_somebody_took_apart_is_not_merged_again_and_the_rest_is() -> None:
    one, two, three = (told("Ann likes tea.", f"u{n}") for n in (1, 2, 3))

    def parted(left: UnitId, right: UnitId) -> bool:
        return {left, right} == {one.id, two.id}

    found = propose(pairs(one, two, three), parted=parted)
    assert [merge.units for merge in found.merges] == [(one, three)]
    assert [near.reason for near in found.apart] == ["they were merged once, and taken apart"]


WORDS = st.lists(
    st.sampled_from(["Ann", "Bob", "likes", "the", "tea", "not", "12", "in", "Rome"]), min_size=1, max_size=5
)


@given(texts=st.lists(WORDS.map(" ".join), min_size=2, max_size=6))
def test_no_unit_is_in_two_merges_and_no_merge_loses_a_word_that_tells(texts: list[str]) -> None:
    units = [told(text, f"u{number}") for number, text in enumerate(texts)]
    found = propose(pairs(*units), parted=never)
    merged = [one.id for merge in found.merges for one in merge.units]
    assert len(merged) == len(set(merged))
    for merge in found.merges:
        tellings = {tuple(w for w in normalise(one.text).text.split() if w != "the") for one in merge.units}
        assert len(tellings) == 1


def test_how_near_is_near_is_said_by_the_embedder() -> None:
    assert near_for("all-MiniLM-L6-v2") == NEAR["all-MiniLM-L6-v2"]
    assert near_for("text-embedding-3-small") == NEAR_ELSEWHERE
