"""What an answer is graded, from its cited turns alone."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagestore import PageId, Span
from tiermem.proof.grade import grade
from tiermem.proof.match import LONGEST_ANSWER
from tiermem.text import Source

MAY = datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
DOG = Source("We got home late. My dog Biscuit is allergic to chicken.", MAY, "Ann")
BEACH = Source("I went to the beach yesterday.", MAY, "Ann")


def test_a_quoted_answer_names_the_sentence_that_holds_it() -> None:
    found = grade("chicken", [DOG], "What is Biscuit allergic to?")
    assert (found.support, found.is_unmarked) == ("quoted", True)
    assert [each.text for each in found.sentences] == ["My dog Biscuit is allergic to chicken."]


def test_a_computed_answer_has_its_computation() -> None:
    found = grade("7 May 2023", [BEACH], "When did Ann go to the beach?")
    assert (found.support, found.is_unmarked) == ("computed", True)
    assert [(each.kind, each.value) for each in found.computations] == [("date", "7 May 2023")]


def test_a_worded_answer_has_its_unsupported_words() -> None:
    found = grade("Ann abandoned Biscuit", [DOG], "What did Ann do?")
    assert (found.support, found.is_unmarked, found.unsupported) == ("worded", False, ("abandoned",))


def test_the_topic_is_a_caution_of_an_unmarked_answer() -> None:
    found = grade("chicken", [DOG], "What is the food?")
    assert [caution.code for caution in found.cautions] == ["topic"]
    assert found.is_unmarked


def test_an_answer_with_another_caution_is_not_unmarked() -> None:
    found = grade("chicken", [Source("I never eat chicken.", MAY, "Ann")], "What does Ann eat?")
    assert (found.support, found.is_unmarked) == ("quoted", False)


@pytest.mark.parametrize("cited", [[], [DOG]])
@pytest.mark.parametrize("answer", ["", "chicken " * LONGEST_ANSWER])
def test_what_was_not_checked_is_not_unmarked(answer: str, cited: list[Source]) -> None:
    found = grade(answer, cited, "What is Biscuit allergic to?")
    assert (found.support, found.sentences, found.is_unmarked) == ("worded", (), False)


def test_the_text_of_a_unit_is_no_evidence_where_a_turn_is_cited() -> None:
    span = Span(page_id=PageId("p1:x"), start=0, end=len(DOG.text))
    turn = Source(DOG.text, MAY, "Ann", (span,))
    unit = Source("Ann's dog Biscuit cannot eat beef.", MAY)
    assert grade("beef", [unit, turn], "What can Biscuit not eat?").unsupported == ("beef",)
    assert grade("beef", [unit], "What can Biscuit not eat?").unsupported == ()


def test_the_words_of_the_answer_are_marked_in_the_sentences() -> None:
    text = "Hello there. I keep two small dogs and a cat at home."
    span = Span(page_id=PageId("p1:x"), start=100, end=100 + len(text))
    found = grade("two dogs, a cat", [Source(text, MAY, "Ann", (span,))], "Which pets does Ann keep?")
    (sentence,) = found.sentences
    assert str(sentence) == "Ann, 2023-05-08: “I keep «two» small «dogs» and a «cat» at home.”"
    assert sentence.span == Span(page_id=span.page_id, start=113, end=span.end)


@given(said=st.text(max_size=80), answer=st.text(max_size=40))
def test_marks_are_in_order_and_within_their_sentence(said: str, answer: str) -> None:
    for sentence in grade(answer, [Source(said, MAY, "Ann")]).sentences:
        assert sentence.text in said
        edges = [edge for mark in sentence.marks for edge in mark]
        assert edges == sorted(edges)
        assert all(0 <= start < end <= len(sentence.text) for start, end in sentence.marks)
