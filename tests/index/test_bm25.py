from itertools import pairwise

import pytest

from pagestore import SessionId
from tiermem.index import bm25
from tiermem.index.bm25 import document_terms, query_stems, query_terms, rarity
from tiermem.index.values import Entry


def test_names_of_speakers_are_not_looked_for_unless_nothing_else_is() -> None:
    assert query_stems("What did Ann say of Bob's bicycle?", without=["ann", "bob's"]) == ["say", "bicycl"]
    assert query_stems("Ann?", without=["ann"]) == ["ann"]


def test_a_query_weighs_each_different_stem_once() -> None:
    assert query_terms("the bicycles, a bicycle and the Bicycle!") == query_terms("bicycle")
    assert list(query_terms("bicycle").values()) == [1.0]
    assert query_terms("What is it? And how?") == {}


def test_a_term_weighs_more_when_it_is_repeated_and_less_in_a_longer_text() -> None:
    (bicycle,) = query_terms("bicycle")
    once = document_terms("bicycle shop", "units")[bicycle]
    assert document_terms("bicycle bicycle", "units")[bicycle] > once
    assert document_terms("bicycle shop " * 1 + "word " * 40, "units")[bicycle] < once
    assert max(document_terms("bicycle " * 1000, "units").values()) < bm25.SATURATION + 1


def test_what_only_the_scene_holds_weighs_little() -> None:
    unit = Entry(id="u", session=SessionId("s"), text="a red bicycle", scene="garden party")
    weights = bm25.unit_terms(unit)
    alone = bm25.document_terms("garden party", "units")
    for word in ("garden", "party"):
        (stem,) = bm25.query_stems(word)
        at = bm25.dimension(stem)
        assert weights[at] == pytest.approx(0.1 * alone[at])


def test_a_term_that_fewer_hold_is_rarer_and_never_worth_nothing() -> None:
    worth = [rarity(100, holders) for holders in range(101)]
    assert all(rarer > commoner for rarer, commoner in pairwise(worth))
    assert worth[-1] > 0
