import re
from datetime import UTC, date, datetime
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tiermem.text import dates, parse_iso, resolve_dates
from tiermem.text.dates import display_date
from tiermem.text.words import word_list

MONDAY = datetime(2023, 5, 8, 13, 56, tzinfo=UTC)


@pytest.mark.parametrize(
    ("said", "iso"),
    [
        ("I went to a support group yesterday.", "2023-05-07"),
        ("today", "2023-05-08"),
        ("We talked last night", "2023-05-07"),
        ("I leave tomorrow", "2023-05-09"),
        ("the day before yesterday", "2023-05-06"),
        ("three days ago", "2023-05-05"),
        ("last week", "2023-05-01/2023-05-07"),
        ("two weeks ago", "2023-04-24/2023-04-30"),
        ("last weekend", "2023-05-06/2023-05-07"),
        ("two weekends ago", "2023-04-29/2023-04-30"),
        ("this weekend", "2023-05-13/2023-05-14"),
        ("last month", "2023-04"),
        ("next month", "2023-06"),
        ("last year", "2022"),
        ("a couple of years ago", "2021"),
        ("in two years", "2025"),
        ("last Friday", "2023-05-05"),
        ("last Mon", "2023-05-01"),
        ("I saw her on Friday", "2023-05-05"),
        ("I will see her on Friday", "2023-05-12"),
        ("this Wednesday", "2023-05-10"),
        ("next Friday", "2023-05-12/2023-05-19"),
        ("in March", "2023-03"),
        ("I moved there in November", "2022-11"),
        ("I'm so excited for our trip in June.", "2023-06"),
        ("I talked to my boss. The conference is in September.", "2023-09"),
        ("I need a passport by August", "2023-08"),
        ("We're going to see the whales in January.", "2024-01"),
        ("The race is on 15 December", "2023-12-15"),
        ("The race was on 15 December", "2022-12-15"),
        ("15 December, then", "2022-12-15"),
        ("He married on 1 October", "2022-10-01"),
        ("I'm over the harbour since the end of December", "2022-12"),
        ("In December I'd have laughed at you", "2022-12"),
        ("My birthday is 3 March", "2023-03-03"),
        ("We cut the tree on Friday", "2023-05-05"),
        ("The vet is on Tuesday.", "2023-05-09"),
        ("We met. It's Tuesday morning at 9.", "2023-05-09"),
        ("She is back since Friday", "2023-05-05"),
        ("It was Friday at ten", "2023-05-05"),
        ("last October", "2022-10"),
        ("since August", "2023-08"),
        ("last summer", "2022-06-01/2022-08-31"),
        ("summer of 2021", "2021-06-01/2021-08-31"),
        ("I will pay on the 3rd", "2023-06-03"),
        ("The vet is on Friday 12th", "2023-05-12"),
        ("We met on Friday, the 5th", "2023-05-05"),
        ("in 2019", "2019"),
        ("March 2022", "2022-03"),
        ("7 May 2023", "2023-05-07"),
        ("May 7th, 2023", "2023-05-07"),
        ("7 May", "2023-05-07"),
        ("moved to Tuesday, June 13 at seven", "2023-06-13"),
        ("Thursday the 8th of June", "2023-06-08"),
        ("2023-05-07", "2023-05-07"),
        ("2023/5/7", "2023-05-07"),
        ("7.5.2023", "2023-05-07"),
        ("07.05.23", "2023-05-07"),
        ("on 21/5/2023", "2023-05-21"),
        ("on 5/21/2023", "2023-05-21"),
        ("on 5/21/23", "2023-05-21"),
        ("on 5/5/2023", "2023-05-05"),
        ("on 5/7/2023", "2023"),
        ("5-6 November 2022", "2022-11-05/2022-11-06"),
        ("between 3 and 5 May 2023", "2023-05-03/2023-05-05"),
        ("29 May 2023 to 4 June 2023", "2023-05-29/2023-06-04"),
    ],
)
def test_an_expression_means_these_days_when_said_on_monday_8_may_2023(said: str, iso: str) -> None:
    assert [mention.iso for mention in resolve_dates(said, MONDAY)] == [iso]


@pytest.mark.parametrize(
    "said",
    [
        "We leave on Friday 13 May.",
        "We met on Monday, 7 May 2023.",
        "The vet is on Friday 11th.",
        "We met on the 3rd.",
        "The 3rd was hot. We met on the 4th.",
        "The party is on Tuesday the 30th of February.",
    ],
)
def test_a_weekday_and_a_day_that_do_not_agree_and_a_day_alone_are_no_date(said: str) -> None:
    assert resolve_dates(said, MONDAY) == ()


@pytest.mark.parametrize(
    "said",
    ["May I ask you?", "I march on", "the other day", "We walk 5 miles", "31 April 2023x", "2077 dollars"],
)
def test_what_only_looks_like_a_date_is_none(said: str) -> None:
    assert resolve_dates(said, MONDAY) == ()


@pytest.mark.parametrize(
    "said",
    ["Tuesday at 10.", "His vet is Dr Brandt, Tuesday at 10.", "We met. Tuesday morning at 9."],
)
def test_a_weekday_that_may_lie_on_either_side_is_none(said: str) -> None:
    assert resolve_dates(said, MONDAY) == ()


def test_relative_dates_need_a_moment_and_absolute_ones_do_not() -> None:
    assert resolve_dates("yesterday, last week, next Friday", None) == ()
    assert [mention.iso for mention in resolve_dates("on 7 May 2023", None)] == ["2023-05-07"]


def test_durations_are_told_only_when_asked_for() -> None:
    said = "I have had them for 3 years now"
    assert resolve_dates(said, MONDAY) == ()
    assert [mention.iso for mention in resolve_dates(said, MONDAY, durations=True)] == ["2020"]


def test_a_week_holds_no_day_and_a_day_is_held_by_its_month() -> None:
    (week,) = resolve_dates("last week", MONDAY)
    assert not week.holds(date(2023, 5, 3), date(2023, 5, 3))
    (day,) = resolve_dates("yesterday", MONDAY)
    assert day.holds(date(2023, 5, 1), date(2023, 5, 31))


@settings(max_examples=200)
@given(
    st.dates(date(1990, 1, 1), date(2060, 12, 31)),
    st.sampled_from(["yesterday", "last week", "last month", "next year"]),
)
def test_what_is_shown_reads_back_as_the_same_days(said_on: date, expression: str) -> None:
    (mention,) = resolve_dates(f"It was {expression}", said_on)
    back = resolve_dates(f"It was in {mention.display}.", None)
    if mention.first.year < 2050 and mention.last.year < 2050:
        assert [(one.first, one.last) for one in back] == [(mention.first, mention.last)]
    assert parse_iso(mention.iso) == (mention.first, mention.last)


@settings(max_examples=300)
@given(
    st.text(max_size=120) | st.from_regex(r"(in|last|\d{1,6}) (weeks?|\d{4}|May|Friday|years ago)"),
    st.dates(),
)
def test_any_text_on_any_day_resolves_without_raising_and_in_place(text: str, said_on: date) -> None:
    found = resolve_dates(text, said_on, durations=True)
    assert all(text[mention.start : mention.end] == mention.text for mention in found)
    assert all(mention.first <= mention.last for mention in found)
    assert all(one.end <= two.start for one, two in pairwise(found))


_PARTS = word_list("""
    in on of the for last next this past coming and to until between ago later from now about had been
    two 3 a couple of 12 2023 5th 2023-05-08 day weekend week months years yesterday tonight tomorrow
    the day before yesterday this morning afternoon evening last night May jan sept. December mon
    Friday spring Fall already will Bob , -
""")


@given(st.lists(st.sampled_from(_PARTS), max_size=8), st.dates(date(1990, 1, 1), date(2060, 12, 31)))
def test_no_expression_is_passed_over_for_want_of_a_word_that_tells_one(parts: list[str], day: date) -> None:
    text = " ".join(parts)
    found = resolve_dates(text, day, durations=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dates, "_ANY", re.compile(""))
        assert resolve_dates(text, day, durations=True) == found


@pytest.mark.parametrize(
    ("iso", "shown"),
    [
        ("2023-05-07", "7 May 2023"),
        ("2023-05", "May 2023"),
        ("2023", "2023"),
        ("2023-05-01/2023-05-07", "1 to 7 May 2023"),
        ("2022-12-29/2023-01-04", "29 December 2022 to 4 January 2023"),
        ("some day", "some day"),
    ],
)
def test_dates_are_shown_as_people_write_them(iso: str, shown: str) -> None:
    assert display_date(iso) == shown


def test_what_is_no_date_is_not_read_as_one() -> None:
    assert [parse_iso(text) for text in ("", "x", "2023-13", "2023-02-30", "2023-05-07/2023-05-01")] == [
        None
    ] * 5


@pytest.mark.parametrize(
    "text",
    [
        "in ſeptember 2023",
        "on frıday",
        "laſt night",
        "laſt ſpring",
        "ſix days ago",
        "3 weekſ ago",
        "next mİnday",
        "auguſt",
    ],
)
def test_letters_that_are_nearly_english_break_nothing(text: str) -> None:
    for said in (date(2023, 5, 8), date.min, date.max, None):
        resolve_dates(text, said, durations=True)
    assert resolve_dates("laſt night", date(2023, 5, 8))[0].first == date(2023, 5, 7)


@pytest.mark.parametrize(
    "iso", ["9" * 30, "9" * 5_000, "2023-1-1-1", "2023-0", "2023-13", "0", "", "/", "-1"]
)
def test_what_is_no_iso_date_is_none(iso: str) -> None:
    assert parse_iso(iso) is None


@pytest.mark.parametrize("iso", ["9" * 5_000, "2023-1-1-1", "2023-0", "2023-13", "", "/", "-1", "May"])
def test_what_is_no_iso_date_is_shown_as_it_is(iso: str) -> None:
    assert display_date(iso) == iso


def test_a_date_in_numbers_is_read_as_the_others_of_its_text_are() -> None:
    days = [mention.iso for mention in resolve_dates("From 5/7/2023 to 5/21/2023.", None)]
    assert days == ["2023-05-07", "2023-05-21"]
    years = [mention.iso for mention in resolve_dates("5/7/2023, 5/21/2023 and 21/5/2023", None)]
    assert years == ["2023", "2023-05-21", "2023-05-21"]


@pytest.mark.parametrize(
    "said", ["31.02.2023", "99/99/2023", "192.168.10.23", "12-11-24-55", "version 1.10.24", "on 5/7/23"]
)
def test_numbers_that_are_no_date_are_none(said: str) -> None:
    assert resolve_dates(said, MONDAY) == ()
