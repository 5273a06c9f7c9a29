"""Labels, cautions and checks as sentences."""

from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

import tiermem.apps.http
from tests.ledger.building import answer
from tiermem.model import Caution, CautionCode, Derivation, Support, Term
from tiermem.proof.in_words import caution_in_words, support_in_words

YESTERDAY = Derivation(kind="date", value="7 May 2023", terms=(Term(text="yesterday"),))


@pytest.mark.parametrize("support", get_args(Support))
def test_no_label_says_that_an_answer_is_true(support: Support) -> None:
    shown = support_in_words(replace(answer(), support=support, derivations=(YESTERDAY,)))
    assert not {"proved", "true", "correct"} & set(shown.split())
    assert ("7 May 2023" in shown) == (support in ("computed", "derived"))


@pytest.mark.parametrize("code", get_args(CautionCode))
def test_each_caution_has_one_line_of_its_own(code: CautionCode) -> None:
    shown = caution_in_words(Caution(code=code))
    assert "\n" not in shown
    others = [caution_in_words(Caution(code=each)) for each in get_args(CautionCode) if each != code]
    assert shown not in others


def test_the_words_of_a_caution_are_shown() -> None:
    assert caution_in_words(Caution(code="negation"), ["never", "not"]).endswith("sentence: “never”, “not”")


def test_the_page_says_the_same_of_a_caution() -> None:
    page = (Path(tiermem.apps.http.__file__).parent / "page" / "format.js").read_text(encoding="utf-8")
    for code in get_args(CautionCode):
        shown = caution_in_words(Caution(code=code))
        assert f'  {code}: "{shown[0].upper()}{shown[1:]}.",' in page
