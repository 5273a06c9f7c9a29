"""No function over text takes quadratic time in the length of its text, or fails on it."""

import pytest

from tests.growth.functions import TAKES_NO_TEXT, arguments, functions, measure_growth
from tests.growth.measure import growth
from tests.growth.texts import KINDS

FUNCTIONS = functions()

SIZE = 1_500
"""Characters in the default run; `hostile-text` of the torture rows goes to 100,000."""


def test_every_public_function_has_an_example_of_arguments() -> None:
    for name, function in FUNCTIONS.items():
        assert arguments(name, function, "Ann has 3 dogs.") is not None


def test_a_function_that_nothing_is_known_to_give_is_named() -> None:
    def heard(sound: bytes) -> None:
        """Takes what no other function takes."""
        del sound

    heard.__annotations__["sound"] = "bytes"
    with pytest.raises(KeyError, match="heard needs an example of arguments"):
        arguments("heard", heard, "x")


def test_what_is_left_out_is_there() -> None:
    assert not TAKES_NO_TEXT.keys() & FUNCTIONS.keys()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_takes_less_than_quadratic_time(name: str) -> None:
    for kind in KINDS:
        factor = measure_growth(name, FUNCTIONS[name], kind, SIZE)
        assert factor is None, f"{name} takes {factor:.0f} times as long for ten times as much of {kind}"


def test_a_function_that_takes_quadratic_time_is_found() -> None:
    def pairs(text: str) -> int:
        return sum(one == other for one in text for other in text)

    assert growth(KINDS["letters"].of, pairs, SIZE) is not None


def test_a_function_that_is_quadratic_at_one_size_only_is_not_reported() -> None:
    def pairs(text: str) -> int:
        return sum(one == other for one in text[:SIZE] for other in text[:SIZE])

    assert growth(KINDS["letters"].of, pairs, SIZE) is None
