"""What is looked for first, to read less, never hides anything."""

import re

from hypothesis import given
from hypothesis import strategies as st

from tiermem.text.fingerprints import fingerprints, fingerprints_of

word = st.sampled_from(["the", "a", "cat", "concatenate", "Straße", "STRASSE", "42", "é", "cats"])
blank = st.sampled_from([" ", "\n", ", ", "\0", '"', " " * 300])
texts = st.lists(st.tuples(word, blank), max_size=40).map(lambda parts: "".join(map("".join, parts)))
phrases = st.lists(st.lists(word, min_size=1, max_size=5).map(" ".join), max_size=6)


def plainly(phrase: str, text: str) -> bool:
    looked_for, said = ([*re.findall(r"\w+", one.casefold())] for one in (phrase, text))
    size = len(looked_for)
    return any(said[at : at + size] == looked_for for at in range(len(said) - size + 1))


@given(phrases=phrases, text=texts)
def test_every_phrase_of_a_text_is_found_in_it_and_no_other(phrases: list[str], text: str) -> None:
    found = set(fingerprints_of(phrases).found_in(text))
    assert found == {" ".join(one.casefold().split()) for one in phrases if plainly(one, text)}


@given(gone=texts, stays=st.lists(texts, max_size=3))
def test_what_somebody_else_also_said_tells_nothing(gone: str, stays: list[str]) -> None:
    known = fingerprints([gone], stays)
    assert all(plainly(phrase, gone) for phrase in known.phrases)
    assert not any(plainly(phrase, text) for phrase in known.phrases for text in stays)


@given(gone=texts, text=texts, sample=texts)
def test_a_sample_changes_what_is_looked_for_first_and_not_what_is_found(
    gone: str, text: str, sample: str
) -> None:
    plain, sampled = fingerprints([gone], []), fingerprints([gone], [], sample=sample)
    assert set(sampled.found_in(text)) == set(plain.found_in(text))
    assert {frozenset(group) for group in sampled.groups} == {frozenset(one.split()) for one in plain.phrases}


def test_words_that_are_rare_in_the_sample_are_looked_for_first() -> None:
    said = "I think that would probably be Skye"
    known = fingerprints([said], [], sample="Probably. I think it would be good. Think of it! " * 9)
    assert known.required_words <= {"skye", "that"}
    assert fingerprints([said], []).required_words == {"probably", "skye"}
