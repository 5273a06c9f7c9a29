"""Which of the words that a reader points at hold at the time that a question asks for."""

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from tiermem.reasoning.learned.changes import choose_by_time
from tiermem.reasoning.learned.fitting import expected_answer
from tiermem.reasoning.learned.passage import Words
from tiermem.text.histories import SaidTurn

ALARM = (("set my alarm to 6:15 on weekdays", "6:15", 5.5), ("make the weekday one 7:45", "7:45", 2.9))
UNSURE_ALARM = (ALARM[0], (*ALARM[1][:2], -0.5))
PROJECT = (
    ("on the bridge project ask Declan", "Declan", 4.3),
    ("Bogdan took over the bridge", "Bogdan", 2.1),
    ("My sister leads the bridge club with Tom", "Tom", 2.0),
)
TUNNEL = (("Priyanka leads the tunnel", "Priyanka", 4.6), ("Bogdan took over the bridge", "Bogdan", 1.0))
RENT = (("my rent is 780", "780", 3.0), ("the landlord wants a rent of 950", "950", 1.4))
CITY = (
    ("accounting sits in Hamburg", "Hamburg", 5.5),
    ("could they move accounting to Berlin?", "Berlin", 0.8),
)
HOME = (("when I lived in Oslo it was dark", "Oslo", 3.0), ("home is nice", "nice", -3.0))
OFFICE = (("we are in Hull", "Hull", -0.5), ("now in York", "York", 1.0), ("we are in Leeds", "Leeds", 3.0))
COURSE = (("the course is 240", "240", 0.4), ("the course is 285 from May", "285", 3.0))
LOAN = (
    ("the loan is at 1.89 percent", "1.89 percent", 3.0),
    ("this time at 4.62 percent", "4.62 percent", 1.1),
)
TERM = (LOAN[0], ("this time for 5 years", "5 years", 1.1))
INSURER = (
    ("insured with Barmer", "Barmer", 1.0),
    ("from 1 June 2024 I am insured with Techniker", "Techniker", 4.0),
)


def _read(
    said: Sequence[tuple[str, str, float]], speakers: Sequence[str]
) -> tuple[list[SaidTurn], list[Words]]:
    """Turns, a month apart, and the words that a reader finds in each with their lead."""
    turns, found = [], []
    for at, ((text, words, margin), speaker) in enumerate(zip(said, speakers, strict=True)):
        turns.append(SaidTurn(speaker=speaker, text=text, said_at=datetime(2024, at + 1, 1, tzinfo=UTC)))
        start = text.index(words)
        found.append(Words(text=words, turn=at, start=start, end=start + len(words), margin=margin))
    return turns, found


@pytest.mark.parametrize(
    ("question", "said", "expected"),
    [
        ("What time is Ann's weekday alarm?", ALARM, "7:45"),
        ("What time is Ann's weekday alarm?", UNSURE_ALARM, None),
        ("What time was Ann's weekday alarm before?", ALARM, "6:15"),
        ("What time was Ann's weekday alarm at first?", ALARM, "6:15"),
        ("What time was Ann's weekday alarm?", ALARM, "6:15"),
        ("Who leads the bridge project?", PROJECT, "Bogdan"),
        ("Who leads the tunnel?", TUNNEL, "Priyanka"),
        ("How much rent does Ann pay?", RENT, None),
        ("In which city is accounting?", CITY, "Hamburg"),
        ("Where does Ann live?", HOME, None),
        ("Where did Ann use to live?", HOME, "Oslo"),
        ("Where was the office in January 2024?", OFFICE, "Hull"),
        ("Where was the office in February 2024?", OFFICE, "York"),
        ("Where was the office in March 2024?", OFFICE, "Leeds"),
        ("Where was the office in 2023?", OFFICE, "Leeds"),
        ("What did the course cost before?", COURSE, "240"),
        ("What did the course cost before?", COURSE[1:], None),
        ("What did the course cost at first?", COURSE, None),
        ("What rate does Ann pay?", LOAN, "4.62 percent"),
        ("What rate does Ann pay?", TERM, "1.89 percent"),
        ("Where was Ann insured in April 2024?", INSURER, "Barmer"),
        ("Where was Ann insured in July 2024?", INSURER, "Techniker"),
    ],
)
def test_words_that_hold_at_the_time_asked_for_are_chosen(
    question: str, said: tuple[tuple[str, str, float], ...], expected: str | None
) -> None:
    turns, found = _read(said, ["Ann"] * len(said))
    best_first = sorted(found, key=lambda words: -words.margin)
    chosen = choose_by_time(question, expected_answer(question, ["Ann"]), best_first, turns)
    assert (None if chosen is None else chosen.text) == expected


def test_what_another_says_replaces_nothing() -> None:
    turns, found = _read(ALARM, ["Ann", "Ben"])
    question = "What time is Ann's weekday alarm?"
    assert choose_by_time(question, expected_answer(question, ["Ann", "Ben"]), found, turns) is found[0]
    question = "What time was Ben's weekday alarm in January 2024?"
    best_first = found[::-1]
    assert choose_by_time(question, expected_answer(question, ["Ann", "Ben"]), best_first, turns) is found[1]
