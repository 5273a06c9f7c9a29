"""No date is computed from a part of a date expression; one that is read as a whole gives its date."""

from datetime import UTC, datetime

import pytest

from pagestore import Turn
from tests.text.dialogue import page_of
from tiermem.model import Claim, LinkedFact
from tiermem.proof import grade, link
from tiermem.proof.date_parts import without_parts
from tiermem.text import Source, resolve_dates

WEDNESDAY = datetime(2024, 5, 8, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("said", "date_of_part"),
    [
        ("I fly to Rome a week from tomorrow.", "9 May 2024"),
        ("I met Ben two days before yesterday.", "7 May 2024"),
        ("I saw Ben a day earlier than last Friday.", "3 May 2024"),
        ("The party is the Friday after next week.", "13 to 19 May 2024"),
        ("I called the day after last Friday.", "3 May 2024"),
        ("I left three days after last week's meeting.", "29 April 2024 to 5 May 2024"),
        ("I'll leave a week on Friday.", "10 May 2024"),
        ("The exam is two weeks tomorrow.", "9 May 2024"),
        ("I'll be back tomorrow week.", "9 May 2024"),
        ("I saw Ben a week ago yesterday.", "7 May 2024"),
        ("I married two years ago last Saturday.", "4 May 2024"),
        ("I'll drive to Oslo in two weeks on Friday.", "10 May 2024"),
        ("I moved a year and two months ago.", "March 2024"),
        ("I'll move in a year and a half.", "2025"),
        ("I'll be back in a week or two.", "13 to 19 May 2024"),
        ("I moved twenty-five years ago.", "2019"),
        ("I moved two or three years ago.", "2021"),
        ("I moved 2-3 years ago.", "2021"),
        ("I moved 1.5 years ago.", "2019"),
        ("I moved half a year ago.", "2023"),
        ("I have lived in Oslo for half a year.", "2023"),
        ("I have lived in Oslo for twenty five years.", "2019"),
        ("I ran two weeks prior to the race.", "22 to 28 April 2024"),
        ("I got the lamp on the 15th of last month.", "15 May 2024"),
    ],
)
def test_the_date_of_a_part_is_not_computed(said: str, date_of_part: str) -> None:
    graded = grade(date_of_part, [Source(said, WEDNESDAY, "Ann")], "When was it?")
    assert (graded.support, graded.computations, graded.unsupported) == ("worded", (), (date_of_part,))


@pytest.mark.parametrize(
    ("said", "date"),
    [
        ("I met Ben yesterday.", "7 May 2024"),
        ("I met Ben the day before yesterday.", "6 May 2024"),
        ("I leave the day after tomorrow.", "10 May 2024"),
        ("I went to Rome last week.", "29 April 2024 to 5 May 2024"),
        ("I met Ben last Friday.", "3 May 2024"),
        ("I met Ben three weeks ago.", "15 to 21 April 2024"),
        ("I moved two years ago and three people came.", "2022"),
        ("I moved a year ago.", "May 2023"),
        ("I go to Rome in two months.", "July 2024"),
        ("I have lived in Oslo for three years.", "2021"),
        ("I spent three days in Rome last week.", "29 April 2024 to 5 May 2024"),
        ("It has been two weeks since last Friday.", "3 May 2024"),
        ("I work every day from tomorrow.", "9 May 2024"),
        ("It is my first week today.", "8 May 2024"),
        ("The race is at the end of next month.", "June 2024"),
        ("I went to Rome last week on Friday.", "29 April 2024 to 5 May 2024"),
        ("The exam is next week Monday.", "13 to 19 May 2024"),
        ("I met Ben at a sports bar two weeks ago to watch a match.", "22 to 28 April 2024"),
    ],
)
def test_the_date_of_a_whole_expression_is_computed(said: str, date: str) -> None:
    graded = grade(date, [Source(said, WEDNESDAY, "Ann")], "When was it?")
    assert (graded.support, graded.unsupported) == ("computed", ())


def test_dates_that_are_named_outright_are_kept() -> None:
    text = "I leave on Friday of the week after 20 May 2024, two years after 3 May 2022."
    kept = without_parts(text, resolve_dates(text, WEDNESDAY))
    assert [date.text for date in kept if date.kind == "absolute"] == ["20 May 2024", "3 May 2022"]


@pytest.mark.parametrize(
    ("said", "event_at", "is_supported"),
    [
        ("I flew to Rome yesterday.", "2024-05-07", True),
        ("I fly to Rome a week from tomorrow.", "2024-05-09", False),
        ("I flew to Rome a year and a half ago.", "2024-05-08", False),
        ("I flew to Rome the week before last.", "2024-05-08", False),
        ("I flew to Rome.", "2024-05-08", True),
    ],
)
def test_a_unit_has_no_event_date_of_a_part(said: str, event_at: str, is_supported: bool) -> None:
    page = page_of([Turn(speaker="Ann", text=said, said_at=WEDNESDAY)])
    claim = Claim(text=f"Ann: {said}", quotes=(said,), event_at=event_at)
    linked = link(claim, (page,))
    assert isinstance(linked, LinkedFact)
    assert linked.is_supported is is_supported, linked.reason
