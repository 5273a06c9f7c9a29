import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tiermem.text import fold_text, normalise

any_text = st.text(st.characters(), max_size=80)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("“Don’t” — he said", '"don\'t" - HE SAID'),
        ("café", unicodedata.normalize("NFD", "café")),
        ("ﬁne", "fine"),
        ("a\u00a0 b\n\tc", "a b c"),
        ("soft\u00adhyphen", "softhyphen"),
        ("한국어", unicodedata.normalize("NFD", "한국어")),
    ],
)
def test_spellings_of_the_same_words_are_equal(one: str, other: str) -> None:
    assert normalise(one).text == normalise(other).text


def test_other_words_stay_other_words() -> None:
    assert len({normalise(text).text for text in ("resume", "résumé", "re-sume", "7 May", "8 May")}) == 5


@settings(max_examples=300)
@given(any_text)
def test_normalising_never_raises_and_changes_nothing_the_second_time(text: str) -> None:
    once = normalise(text).text
    assert normalise(once).text == once


@settings(max_examples=300)
@given(any_text, st.data())
def test_every_normalised_character_knows_where_it_came_from(text: str, data: st.DataObject) -> None:
    made = normalise(text)
    assert len(made.text) == len(made.starts) == len(made.ends)
    assert all(0 <= start < end <= len(text) for start, end in zip(made.starts, made.ends, strict=True))
    assert list(made.starts) == sorted(made.starts)
    if made.text:
        at = data.draw(st.integers(0, len(made.text) - 1))
        start, end = made.original(at, at + 1)
        assert made.text[at] in normalise(f"x{text[start:end]}x").text


@settings(max_examples=500)
@given(st.one_of(any_text, st.text(st.characters(max_codepoint=127), max_size=80)))
def test_folding_gives_the_normalised_text(text: str) -> None:
    assert fold_text(text) == normalise(text).text


def test_folding_treats_every_ascii_character_alike() -> None:
    for code in range(128):
        for text in (chr(code), f"a{chr(code)}b", f" {chr(code)}{chr(code)} A"):
            assert fold_text(text) == normalise(text).text, code
