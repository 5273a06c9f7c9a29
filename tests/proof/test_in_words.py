"""Labels, cautions and checks as sentences."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import get_args

import pytest

import tiermem.apps.http
from pagestore import PageId, Span
from tests.ledger.building import answer
from tiermem.model import Action, Caution, CautionCode, CitedSentence, Decision, Derivation, Support, Term
from tiermem.proof.in_words import decision_in_words, support_in_words

MAY = datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
YESTERDAY = Derivation(kind="date", value="7 May 2023", terms=(Term(text="yesterday"),))


@pytest.mark.parametrize("support", get_args(Support))
def test_no_label_says_that_an_answer_is_true(support: Support) -> None:
    shown = support_in_words(replace(answer(), support=support, derivations=(YESTERDAY,)))
    assert not {"proved", "true", "correct"} & set(shown.split())
    assert ("7 May 2023" in shown) == (support == "computed")


@pytest.mark.parametrize("code", get_args(CautionCode))
def test_each_caution_has_one_line_of_its_own(code: CautionCode) -> None:
    shown = str(Caution(code=code))
    assert "\n" not in shown
    others = [str(Caution(code=each)) for each in get_args(CautionCode) if each != code]
    assert shown not in others


def test_an_answer_shows_its_sentences_its_unsupported_words_and_its_cautions() -> None:
    here, there = (Span(page_id=PageId("p1:x"), start=start, end=end) for start, end in ((40, 60), (42, 47)))
    shown = replace(
        answer(),
        text="he abandoned chicken",
        unsupported=("abandoned",),
        cautions=(Caution(code="negation", spans=(there,)), Caution(code="topic")),
        sentences=(
            CitedSentence(
                text="I never eat chicken.", speaker="Ann", said_at=MAY, span=here, marks=((12, 19),)
            ),
            CitedSentence(text="It is so.", speaker=""),
        ),
    )
    assert str(shown).splitlines() == [
        "he abandoned chicken",
        "  Ann, 2023-05-08: “I never eat «chicken».”",
        "  “It is so.”",
        "  not in the cited words: abandoned",
        "  a negation is in only one of the answer and the cited sentence: “never”",
        "  the cited sentence has no content word of the question",
    ]


@pytest.mark.parametrize("score", [None, 0.0, 0.75])
@pytest.mark.parametrize("router", ["gate", "llm", "fused", "fixed", "mine"])
@pytest.mark.parametrize("action", get_args(Action))
def test_the_words_for_a_route_hold_of_an_abstention_too_and_are_those_of_the_page(
    action: Action, router: str, score: float | None
) -> None:
    page = (Path(tiermem.apps.http.__file__).parent / "page" / "format.js").read_text(encoding="utf-8")
    shown = decision_in_words(Decision(action=action, score=score, reason="so", router=router))
    route, _, by = shown.partition(", by ")
    assert f'{action}: "{route}"' in page
    assert by == (f"{router}: so" if score is None else f"{router}, score {score:.2f}: so")


def test_the_page_says_the_same_of_a_caution() -> None:
    page = (Path(tiermem.apps.http.__file__).parent / "page" / "format.js").read_text(encoding="utf-8")
    for code in get_args(CautionCode):
        shown = str(Caution(code=code))
        assert f'  {code}: "{shown[0].upper()}{shown[1:]}",' in page


def test_a_cited_sentence_has_no_words_of_a_span_where_some_are_left_out() -> None:
    here, there = (Span(page_id=PageId("p1:x"), start=start, end=end) for start, end in ((40, 60), (42, 47)))
    whole = CitedSentence(text="I never eat chicken.", speaker="Ann", span=here)
    assert whole.words(there) == "never"
    assert replace(whole, text="… I never eat chicken.").words(there) == ""
    assert replace(whole, span=replace(here, end=58)).words(there) == ""
