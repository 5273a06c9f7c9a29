"""Which days words name: of a text that is to name them, and of a sentence that may."""

from datetime import date

import pytest

from tiermem.text.date_ranges import date_ranges, date_ranges_in

ASKED = date(2024, 6, 12)
"""A Wednesday."""

NAMED = (
    ("since May 2024", "2024-05-01", ""),
    ("since the end of May 2024", "2024-05-01", ""),
    ("from 3 May 2024", "2024-05-03", ""),
    ("from 3 May 2024 on", "2024-05-03", ""),
    ("May 2023 onwards", "2023-05-01", ""),
    ("before June 2023", "", "2023-05-31"),
    ("before the end of June 2023", "", "2023-06-30"),
    ("prior to 9 June 2023", "", "2023-06-08"),
    ("after June 2023", "2023-07-01", ""),
    ("after 2022", "2023-01-01", ""),
    ("until May 2024", "", "2024-05-31"),
    ("by 10 July 2022", "", "2022-07-10"),
    ("as of December 2023", "", "2023-12-31"),
    ("between March and May 2024", "2024-03-01", "2024-05-31"),
    ("between November and January 2024", "2023-11-01", "2024-01-31"),
    ("between May 3 and May 9, 2023", "2023-05-03", "2023-05-09"),
    ("between 3 and 9 May 2023", "2023-05-03", "2023-05-09"),
    ("between December 2023 and March", "2023-12-01", "2024-03-31"),
    ("from March to May 2024", "2024-03-01", "2024-05-31"),
    ("from 3 to 9 May 2024", "2024-05-03", "2024-05-09"),
    ("March – May 2024", "2024-03-01", "2024-05-31"),
    ("2021-2023", "2021-01-01", "2023-12-31"),
    ("between 2021 and 2023", "2021-01-01", "2023-12-31"),
    ("2024-03 to 2024-05", "2024-03-01", "2024-05-31"),
    ("since 2024-03", "2024-03-01", ""),
    ("since last week", "2024-06-03", ""),
    ("before last Friday", "", "2024-06-06"),
    ("since yesterday", "2024-06-11", ""),
    ("Friday", "2024-06-07", "2024-06-07"),
    ("since Monday", "2024-06-10", ""),
    ("from Friday to Monday", "2024-06-07", "2024-06-10"),
    ("the last two weeks", "2024-05-29", "2024-06-12"),
    ("during the past 3 months", "2024-03-12", "2024-06-12"),
    ("the past week", "2024-06-05", "2024-06-12"),
    ("the last month", "2024-05-01", "2024-06-12"),
    ("last month", "2024-05-01", "2024-05-31"),
    ("May", "2024-05-01", "2024-05-31"),
    ("in August", "2023-08-01", "2023-08-31"),
    ("on Aug 15th", "2023-08-15", "2023-08-15"),
    ("before August", "", "2023-07-31"),
    ("the week before 9 June 2023", "2023-06-02", "2023-06-08"),
    ("two weeks before 9 June 2023", "2023-05-26", "2023-06-08"),
    ("the month before June 2023", "2023-05-01", "2023-05-31"),
    ("the Sunday before October 25, 2022", "2022-10-23", "2022-10-23"),
    ("last weekend before April 10, 2023", "2023-04-08", "2023-04-09"),
    ("the weekend after April 10, 2023", "2023-04-15", "2023-04-16"),
    ("three days after 3 May 2023", "2023-05-04", "2023-05-06"),
    ("the last week of October 2023", "2023-10-01", "2023-10-31"),
    ("December 1,2023", "2023-12-01", "2023-12-01"),
)


def days(text: str) -> list[tuple[str, str]]:
    return [(str(one.first or ""), str(one.last or "")) for one in date_ranges(text, ASKED)]


@pytest.mark.parametrize(("text", "first", "last"), NAMED, ids=[text for text, *_ in NAMED])
def test_words_name_the_days_that_they_say(text: str, first: str, last: str) -> None:
    assert days(text) == [(first, last)]


def test_several_times_are_several() -> None:
    assert days("March and May 2024") == [("2024-03-01", "2024-03-31"), ("2024-05-01", "2024-05-31")]
    assert days("yesterday and today") == [("2024-06-11", "2024-06-11"), ("2024-06-12", "2024-06-12")]


@pytest.mark.parametrize(
    "text",
    [
        "2024-13",
        "since 2024-13",
        "2024-00",
        "31 June 2023",
        "13/13/2024",
        "12",
        "99",
        "May '24",
        "before",
        "soon",
        "not in May 2024",
        "before and after 2023",
        "between May 2024 and the race",
        "between May and March 2023 BC 7",
        "May 2024 until March 2024",
        "every day but Sunday",
        "9999 days after 3 May 9000",
        "am 6. März 2024",
        "März 2024",
        "vor 2024",
        "à partir de mars 2024",
    ],
)
def test_what_cannot_be_read_as_a_whole_names_no_time(text: str) -> None:
    assert days(text) == []


IN_SENTENCES = (
    ("Where was John between August 11 and August 15 2023?", "2023-08-11", "2023-08-15"),
    ("Did they meet in Boston between August and November 2023? Say yes or no.", "2023-08-01", "2023-11-30"),
    ("How many tournaments has Nate won by July 10, 2022?", "", "2022-07-10"),
    ("What has Ann painted since May 2024?", "2024-05-01", ""),
    ("What did Ann say before June?", "", "2024-05-31"),
    ("What did she sell after 2022?", "2023-01-01", ""),
    ("Which city was he in from March to May?", "2024-03-01", "2024-05-31"),
    ("What did she take a picture of last summer?", "2023-06-01", "2023-08-31"),
    ("Who called on Friday?", "2024-06-07", "2024-06-07"),
    ("Where did she travel to in July?", "2023-07-01", "2023-07-31"),
    ("Who visited him in the last year?", "2023-01-01", "2024-06-12"),
    ("Which photos from May 2024 did she like?", "2024-05-01", "2024-05-31"),
    ("What was said last Friday before 23 January 2022?", "2022-01-21", "2022-01-21"),
)


@pytest.mark.parametrize(("text", "first", "last"), IN_SENTENCES, ids=[text for text, *_ in IN_SENTENCES])
def test_a_sentence_names_the_same_days(text: str, first: str, last: str) -> None:
    found = [(str(one.first or ""), str(one.last or "")) for one in date_ranges_in(text, ASKED)]
    assert found == [(first, last)]


@pytest.mark.parametrize(
    "text",
    [
        "What did June say about the cake?",
        "What did Ann give to April?",
        "Who may come?",
        "May Ann come?",
        "How may 5 people fit?",
        "Who led the march on Rome?",
        "Why do you think this may rain?",
        "Who last sat there?",
        "Who wrote 1984?",
        "Has Ann read Brave New World and 1984?",
        "Which room is 2023?",
        "What is in ISO-2022?",
        "What is order 2024-13?",
        "Who lives on the 5th floor?",
        "What was said on the 5th?",
        "What did she do on the last day of the trip?",
        "What did she do the next day?",
        "What came three weeks later?",
        "How far does he walk in a day?",
        "What does Ann do every Friday?",
        "Who sings Blue Monday?",
        "What does each Sunday cost?",
        "How many of 24/7 shops are there?",
        "What is the size of the march?",
        "Who painted it, April or June?",
    ],
)
def test_a_word_that_is_no_date_is_not_taken_for_one(text: str) -> None:
    assert date_ranges_in(text, ASKED) == ()


def test_what_happens_may_be_to_come() -> None:
    (found,) = date_ranges_in("What is planned in August?", ASKED, past=False)
    assert (found.first, found.last) == (date(2024, 8, 1), date(2024, 8, 31))
