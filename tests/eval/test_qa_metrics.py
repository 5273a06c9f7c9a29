"""Answer scores against hand-worked cases."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.metrics.qa import exact, normalised, soft_match, token_f1


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
