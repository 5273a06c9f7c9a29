"""Values that older answers recorded, computed again from the words they came from."""

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tiermem.model import Derivation, DerivationKind, Term
from tiermem.reading.looking_back.recomputing import recompute

SAID = datetime(2023, 10, 20, 9, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("kind", "texts", "value"),
    [
        ("sum", ["$20", "$25"], "$45"),
        ("sum", ["two", "twenty-five", "1,250"], "1277"),
        ("difference", ["$25", "$20"], "$5"),
        ("difference", ["$25", "20"], "5"),
        ("difference", ["$25", "$20", "$1"], None),
        ("sum", ["$25"], None),
        ("sum", ["$25", "3 October 2023"], None),
        ("sum", ["$25", "two or three"], None),
        ("count", ["a red bike", "a blue bike"], "2"),
        ("count", [], None),
    ],
)
def test_what_version_1_computed_is_computed_again(
    kind: DerivationKind, texts: list[str], value: str | None
) -> None:
    terms = tuple(Term(text=text) for text in texts)
    assert recompute(Derivation(kind=kind, value="", terms=terms)) == value


@pytest.mark.parametrize(
    ("value", "right"), [("14 days", "14 days"), ("2 weeks", "2 weeks"), ("0 month", "0 months"), ("x", None)]
)
def test_a_duration_lies_between_two_dates_or_days_of_saying(value: str, right: str | None) -> None:
    ends = [Term(text="3 October 2023"), Term(text="", said_at=datetime(2023, 10, 17, tzinfo=UTC))]
    assert recompute(Derivation(kind="duration", value=value, terms=tuple(ends))) == right


@settings(max_examples=200)
@given(
    st.sampled_from(["date", "count", "sum", "difference", "duration"]),
    st.text(max_size=20),
    st.lists(st.text(max_size=30), max_size=3),
)
def test_no_derivation_raises(kind: str, value: str, texts: list[str]) -> None:
    terms = tuple(Term(text=text, said_at=SAID) for text in texts)
    recompute(Derivation(kind=kind, value=value, terms=terms))  # type: ignore[arg-type]


def test_one_thing_told_twice_is_one() -> None:
    once = Term(text="three cats")
    assert recompute(Derivation(kind="count", value="1", terms=(once, once))) == "1"
