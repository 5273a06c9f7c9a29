"""Answer scores against hand-worked cases."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.metrics.qa import exact, normalised, right_by_words, soft_match, token_f1


def test_normalising_drops_case_articles_punctuation_and_extra_spaces() -> None:
    assert normalised("  The cat,  an Owl & a dog's toy! ") == "cat owl dogs toy"


def test_exact_match_ignores_what_normalising_drops() -> None:
    assert exact("the 7 May, 2023", ["7 May 2023"])
    assert not exact("8 May 2023", ["7 May 2023"])


def test_f1_is_the_harmonic_mean_over_shared_tokens() -> None:
    assert token_f1("Caroline went in May 2023", ["7 May 2023"]) == pytest.approx(
        2 * (2 / 5) * (2 / 3) / (2 / 5 + 2 / 3)
    )


def test_f1_counts_a_repeated_token_as_often_as_both_have_it() -> None:
    assert token_f1("two two two", ["two two"]) == pytest.approx(0.8)


def test_f1_takes_the_best_of_several_gold_answers() -> None:
    assert token_f1("Bach", ["Mozart", "Bach"]) == 1.0


def test_f1_of_silence_is_nought_unless_gold_is_empty_too() -> None:
    assert token_f1("", ["Bach"]) == 0.0
    assert token_f1("the", [""]) == 1.0
    assert token_f1("anything", []) == 0.0


def test_soft_match_accepts_either_string_inside_the_other() -> None:
    assert soft_match("It was a psychology degree.", ["psychology"])
    assert soft_match("psychology", ["Psychology, counseling certification"])
    assert not soft_match("physics", ["psychology"])


def test_soft_match_does_not_reward_silence() -> None:
    assert not soft_match("", ["psychology"])
    assert not soft_match("the", ["psychology"])


@given(st.text(), st.text())
def test_an_exact_answer_also_scores_fully_by_f1_and_soft_match(answer: str, gold: str) -> None:
    if exact(answer, [gold]):
        assert token_f1(answer, [gold]) == 1.0
        assert soft_match(answer, [gold])


@given(st.text(), st.text())
def test_f1_is_symmetric_and_bounded(answer: str, gold: str) -> None:
    forward, backward = token_f1(answer, [gold]), token_f1(gold, [answer])
    assert forward == pytest.approx(backward)
    assert 0 <= forward <= 1


@pytest.mark.parametrize(
    ("answer", "gold"),
    [
        ("It was a psychology degree.", "psychology"),
        ("7 May 2023", "7 May 2023"),
        ("19 February 2024", "On 19.02.2024"),
        ("She left on 2023-05-07 for good", "7 May, 2023"),
        ("6 May 2023", "May 2023"),
        ("May 2022", "In 2022"),
        ("4 or 5 June 2023", "5 June 2023"),
        ("the week before 9 June 2023", "The week before 9 June 2023"),
    ],
)
def test_words_that_say_it_are_right(answer: str, gold: str) -> None:
    assert right_by_words(answer, ["something else", gold])


@pytest.mark.parametrize(
    ("answer", "gold"),
    [
        ("physics", "psychology"),
        ("8 May 2023", "7 May 2023"),
        ("18 February 2024", "On 19.02.2024"),
        ("June 2023", "May 2023"),
        ("May 2023", "7 May 2023"),
        ("24 to 30 July 2023", "26 July 2023"),
        ("", "7 May 2023"),
        ("  ", ""),
    ],
)
def test_words_that_do_not_say_it_are_wrong(answer: str, gold: str) -> None:
    assert not right_by_words(answer, [gold])


_days = st.dates(date(1990, 1, 1), date(2040, 12, 31))


@given(_days, _days)
def test_a_day_is_right_for_itself_alone(day: date, other: date) -> None:
    assert right_by_words(f"{day.day} {day:%B %Y}", [f"{other:%d.%m.%Y}"]) == (day == other)
