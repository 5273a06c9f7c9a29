from itertools import pairwise

import pytest

from pagestore import SessionId
from tiermem.index import bm25
from tiermem.index.bm25 import query_stems, rarity, weigh_terms
from tiermem.index.features import unit_features
from tiermem.index.values import Entry


def test_names_of_speakers_are_not_looked_for_unless_nothing_else_is() -> None:
    assert query_stems("What did Ann say of Bob's bicycle?", without=["ann", "bob's"]) == ["say", "bicycl"]
    assert query_stems("Ann?", without=["ann"]) == ["ann"]


def test_a_query_has_each_different_stem_once() -> None:
    assert query_stems("the bicycles, a bicycle and the Bicycle!") == ["bicycl"]
    assert query_stems("What is it? And how?") == []


def weights(text: str, scene: str = "") -> dict[str, float]:
    """The weights of the stems of a unit."""
    row = unit_features(Entry(id="u", session=SessionId("s"), text=text, scene=scene))
    stems = {bm25.dimension(stem): stem for stem in query_stems(f"{text} {scene}")}
    return {stems[term]: weight for term, weight in weigh_terms(row.terms, 13).items()}


def test_a_term_weighs_more_when_it_is_repeated_and_less_in_a_longer_text() -> None:
    once = weights("bicycle shop")["bicycl"]
    assert weights("bicycle bicycle")["bicycl"] > once
    assert weights("bicycle shop " + "word " * 40)["bicycl"] < once
    assert max(weights("bicycle " * 1000).values()) < bm25.SATURATION + 1


def test_what_only_the_scene_holds_weighs_little() -> None:
    found = weights("a red bicycle", scene="garden party, red")
    assert found["red"] == found["bicycl"]
    for word in ("garden", "parti"):
        assert found[word] == pytest.approx(0.1 * found["red"])


def test_a_term_that_fewer_hold_is_rarer_and_never_worth_nothing() -> None:
    worth = [rarity(100, holders) for holders in range(101)]
    assert all(rarer > commoner for rarer, commoner in pairwise(worth))
    assert worth[-1] > 0
