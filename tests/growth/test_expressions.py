"""No regular expression takes quadratic time in the length of a text."""

import re

import pytest

from tests.growth.expressions import expressions, made_inside, texts_against, tried
from tests.growth.measure import growth
from tests.growth.texts import KINDS

EXPRESSIONS = expressions()

SIZE = 8_000
"""Characters: what grows with the square takes fifty milliseconds and more here, the rest next to nothing."""

MADE_INSIDE = {
    "eval/datasets/renamed.py:_pattern",
    "eval/research/training/data/facts.py:_exchanged",
    "tiermem/text/exact.py:_pattern",
    "tiermem/proof/cautions.py:_compile",
    "tiermem/proof/date_parts.py:_compile",
    "tiermem/text/dates.py:_rule",
    "tiermem/text/quotes.py:_ending_whole",
    "tiermem/text/secrets.py:_own_pattern",
}
"""Functions that make an expression of words at hand, no more than those words and what is around them, or
that compile one which the user wrote.
"""


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_an_expression_takes_less_than_quadratic_time(name: str) -> None:
    pattern = EXPRESSIONS[name]
    for text in texts_against(pattern):
        factor = growth(text.of, lambda given: tried(pattern, given), SIZE)
        assert factor is None, f"{name} takes {factor:.0f} times as long for ten times as much of {text}"


@pytest.mark.parametrize(
    ("slow", "size"),
    [
        (r"(?:\W+(?:and|or)\b)+\W*\Z", 5_000),
        (r"\s+\(", SIZE),
        (r"^\s*system", SIZE),
        (r"for\s+\w*\s*\d", 5_000),
        (r"\d+%", SIZE),
    ],
)
def test_an_expression_that_takes_quadratic_time_is_found(slow: str, size: int) -> None:
    pattern = re.compile(slow, re.MULTILINE)
    assert any(growth(text.of, lambda given: tried(pattern, given), size) for text in texts_against(pattern))


def test_expressions_are_made_where_they_are_looked_through() -> None:
    assert made_inside() == MADE_INSIDE


def test_a_text_is_as_long_as_it_should_be() -> None:
    assert {len(text.of(100)) for text in KINDS.values()} == {100}
