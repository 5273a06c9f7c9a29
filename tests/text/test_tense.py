"""On which side a weekday lies, by the tense of its clause."""

from datetime import date

import pytest

from tests.text.weekdays import count_outcomes, read_texts
from tiermem.text import resolve_dates

WEDNESDAY = date(2023, 5, 10)


def _days(said: str) -> list[date]:
    """The days of the weekdays of a text said on a Wednesday."""
    mentions = resolve_dates(said, WEDNESDAY)
    return [mention.first for mention in mentions if mention.text.lower().endswith("day")]


@pytest.mark.parametrize(
    "said",
    [
        "I have a dentist appointment on Tuesday",
        "My exam is on Saturday",
        "Dinner at my place Friday?",
        "I fly to Rome on Monday",
        "We start on Monday",
        "The report is due Friday",
        "The deadline is Friday",
        "I'm in Berlin from Monday to Thursday",
        "I need it by Friday",
        "They come on Sunday",
        "I booked a table for Friday",
        "He said he'd call on Friday",
        "You should call her on Friday",
        "Looking forward to Friday",
        "Good luck on Friday",
        "See you Friday",
        "How about Saturday?",
        "What are you doing on Saturday?",
        "Are you free Saturday?",
        "Do you have time on Saturday?",
        "On Sunday, we're hiking up the hill",
        "On Sunday we will hike",
        "I've invited them for Sunday",
        "I've moved the call to Friday",
        "The call was moved to Friday",
        "They postponed the launch to Monday",
        "The shop is closed on Sunday",
        "The guy we met is coming on Saturday",
        "I can't make it on Saturday",
        "Remind me on Saturday",
        "Let's meet Saturday",
        "Could we meet Saturday",
        "Would Saturday work",
        "Saturday works for me",
        "We're leaving on Friday and coming back on Sunday",
        "From Friday to Sunday we'll be in Rome",
        "I'm excited for Saturday",
        "My sister gets here Saturday",
        "My sister arrives on Saturday morning",
        "If it rains on Saturday we'll stay in",
        "We could go on Saturday",
        "You'd better come on Saturday",
        "I'd love to come on Saturday",
        "The kids have a recital Saturday",
        "Mum's coming on Saturday",
        "Mum's birthday is Saturday",
        "Watching the game Saturday?",
        "the plumber is supposed to come on Monday",
        "I agreed to meet her on Friday",
        "I can pick you up at the airport on Monday",
        "can u send it til monday",
        "Will you be at the party on Saturday?",
        "I think we should leave on Saturday",
        "I need to finish the book by Sunday",
        "The course begins Monday",
        "Monday is my first day",
        "I promise I'll do it on Monday",
        "It arrives Monday",
        "Our flight got moved to Monday",
        "Back on Monday",
        "I'm getting married on Saturday",
        "My brother has his surgery on Monday",
        "His surgery is scheduled for Monday",
        "His surgery has been rescheduled to Monday",
        "I'm meeting Tom, Anna and Ben on Monday",
    ],
)
def test_a_weekday_of_what_is_to_come_lies_ahead(said: str) -> None:
    days = _days(said)
    assert days
    assert all(day > WEDNESDAY for day in days)


@pytest.mark.parametrize(
    "said",
    [
        "I had a dentist appointment on Tuesday",
        "I got back on Monday",
        "He said on Friday that he was leaving",
        "I should have called on Friday",
        "I must have left it there on Saturday",
        "Thanks for Friday",
        "How was Saturday?",
        "What did you do on Saturday?",
        "Were you at home on Saturday?",
        "On Sunday we hiked up the hill",
        "On Sunday, we hiked up the hill",
        "I've had a cold since Monday",
        "The shop was closed on Sunday",
        "The guy we met on Saturday is a vet",
        "I can't believe what happened on Saturday",
        "I couldn't come because I worked on Saturday",
        "We left on Friday and came back on Sunday",
        "From Friday to Sunday we were in Rome",
        "The photos from Saturday came out well",
        "My sister arrived on Saturday morning",
        "I could hardly walk when I woke up on Saturday",
        "I'd been there on Saturday",
        "Mum's birthday was Saturday",
        "Watched the game Saturday, what a match",
        "Dad called on Saturday",
        "My car broke down on Monday",
        "We argued on Friday",
        "I didn't go on Monday",
        "he hasn't called since Monday",
        "I saw Anna at the party on Saturday",
        "I remember we danced on Saturday",
        "I think we left on Saturday",
        "I finished the book on Sunday",
        "Monday was my first day",
        "I told you about it on Monday",
        "I bought a bike on Monday",
        "We moved to Bern on Saturday",
        "I quit my job on Monday",
        "She put the house up for sale on Monday",
        "It arrived Monday",
        "Our flight got cancelled on Monday",
        "I wasn't there on Monday",
        "I got married on Saturday",
        "My brother had his surgery on Monday",
        "His surgery went well on Monday",
        "I met Tom, Anna and Ben on Monday",
        "I'm so happy that I met her on Monday",
    ],
)
def test_a_weekday_of_what_was_lies_back(said: str) -> None:
    days = _days(said)
    assert days
    assert all(day < WEDNESDAY for day in days)


@pytest.mark.parametrize(
    "said",
    [
        "I work from Monday to Friday",
        "I got tickets on Friday",
        "She said Friday",
        "She said the exam was on Friday",
        "I wanted to go on Friday",
        "We were going to meet on Friday",
        "I usually swim on Friday",
        "Sorry about Friday",
        "Sorry for Friday",
        "Happy Friday",
        "What did you think about Friday?",
        "Do you remember Saturday?",
        "I have been swimming Friday",
        "I couldn't sleep on Saturday",
        "It's like a Sunday",
        "Black Friday deals",
        "Friday the 13th is coming",
        "On Friday last week",
        "My Friday shift",
        "I'm tired after Friday",
        "The photos of Friday",
        "If it rained on Saturday",
        "I wish you were here on Saturday",
        "the plumber was supposed to come on Monday",
        "We agreed on Friday",
        "I was hoping to finish it by Sunday",
        "Monday",
        "on Monday",
        "I told you about Monday",
        "The usual Monday",
        "the boss who hired me on Monday mornings",
        "The gym class is every Monday",
        "His surgery on Monday",
        "I'm still laughing about Monday",
    ],
)
def test_a_weekday_whose_side_is_open_is_no_date(said: str) -> None:
    assert _days(said) == []


@pytest.mark.parametrize("said", ["I have a dentist appointment on Wednesday", "We met on Wednesday"])
def test_a_weekday_named_on_that_weekday_may_be_today_and_is_no_date(said: str) -> None:
    assert _days(said) == []


def test_days_in_a_row_keep_their_order() -> None:
    assert _days("I'll be in Rome from Tuesday to Monday") == [date(2023, 5, 16), date(2023, 5, 22)]
    assert _days("We were in Rome from Thursday to Monday") == [date(2023, 5, 4), date(2023, 5, 8)]


def test_days_in_a_row_by_their_short_names_keep_their_order() -> None:
    said = {
        "I was away from tues to thurs": ["2023-05-02", "2023-05-04"],
        "I'm away from thurs to tues": ["2023-05-11", "2023-05-16"],
        "The bins go out tues and fri": [],
    }
    for text, days in said.items():
        assert [mention.iso for mention in resolve_dates(text, WEDNESDAY)] == days


def test_few_texts_written_without_the_rules_get_a_wrong_day() -> None:
    assert len(read_texts()) == 200
    for part, right in (("open", 36), ("kept", 32), ("third", 51)):
        counts = count_outcomes(part)
        assert counts["wrong"] <= 0.02 * counts.total()
        assert counts["right"] >= right


@pytest.mark.parametrize(
    ("said", "day"),
    [
        ("I'm doing nights until fri so text", "2023-05-12"),
        ("I failed my test on thurs", "2023-05-04"),
        ("come for dinner Thurs.", "2023-05-11"),
        ("come see it tues at 6", "2023-05-16"),
        ("who's driving on sat?", "2023-05-13"),
    ],
)
def test_a_short_name_of_a_weekday_is_dated_like_the_long_one(said: str, day: str) -> None:
    assert [mention.iso for mention in resolve_dates(said, WEDNESDAY)] == [day]


@pytest.mark.parametrize(
    "said",
    [
        "I sat in the sun",
        "They wed in spring of that year",
        "I'm on the road Mon to Fri",
        "It is open mon-fri",
        "Thurs' lunch was fri-day themed",
    ],
)
def test_words_that_are_no_weekday_and_working_weeks_are_not_dated(said: str) -> None:
    assert not resolve_dates(said, WEDNESDAY)
