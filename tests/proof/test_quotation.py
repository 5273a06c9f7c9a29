"""The words of a fact as claims that are stated by construction."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pagestore import Turn
from tests.text.dialogue import conversations, page_of
from tiermem.model import Claim, LinkedFact
from tiermem.proof import link, quotations

SAID = datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
PAGE = page_of(
    [
        Turn(speaker="Ann", text="Hi! Where do you keep the boat?", said_at=SAID),
        Turn(
            speaker="Ben",
            text="In Bergen, it isn't far. The rest is a longer story that I will tell you.",
            said_at=SAID,
        ),
        Turn(speaker="Ann", text="I'd come along any time you sail to the islands there.", said_at=SAID),
    ]
)


def fact(claim: str, *quotes: str) -> LinkedFact:
    linked = link(Claim(text=claim, quotes=quotes, importance=0.9), [PAGE])
    assert isinstance(linked, LinkedFact)
    return linked


def test_a_turn_is_quoted_in_the_words_of_its_speaker() -> None:
    (claim,) = quotations(fact("Ann fancies islands.", "any time you sail to the islands"), [PAGE])
    assert claim == Claim(
        text="Ann: any time you sail to the islands",
        quotes=("any time you sail to the islands",),
        importance=0.9,
    )


def test_a_wording_that_only_adds_words_is_searched_with_the_scene() -> None:
    adding = fact(
        "Ann would come along to remote islands.", "I'd come along any time you sail to the islands"
    )
    assert adding.reason == "not in the quoted turns: remote"
    (claim,) = quotations(replace(adding, scene="the boat in Bergen"), [PAGE])
    assert claim.scene == f"the boat in Bergen {adding.claim}"
    wrong = fact("Ann will not sail to the islands.", "any time you sail to the islands")
    assert wrong.support == "worded"
    assert [claim.scene for claim in quotations(wrong, [PAGE])] == [None]


def test_a_reply_is_quoted_with_what_was_asked_and_every_turn_by_itself() -> None:
    both = fact("Ben's boat lies in Norway.", "In Bergen, it isn't far.", "you sail to the islands there")
    assert both.support == "worded"
    assert [claim.text for claim in quotations(both, [PAGE])] == [
        'Ben, asked "Where do you keep the boat?": In Bergen, it isn\'t far.',
        "Ann: you sail to the islands there",
    ]


def test_a_page_that_is_not_given_is_not_quoted() -> None:
    assert quotations(fact("Ann fancies islands.", "any time you sail to the islands"), []) == ()


@pytest.mark.shared
def test_the_words_of_real_facts_are_stated(shared: Path) -> None:
    talk = next(conversations(shared / "data" / "locomo"))
    turns = claims = 0
    for one in talk.facts[:150]:
        pages = [talk.page_of_turn[one["dia_ids"][0]]]
        linked = link(Claim(text=one["fact"], quotes=(one["quote"],)), pages)
        assert isinstance(linked, LinkedFact)
        turns += len({pages[0].line_at(span.start).seq for span in linked.spans})
        for claim in quotations(linked, pages):
            claims += 1
            again = link(claim, pages)
            assert isinstance(again, LinkedFact)
            assert again.support == "stated"
            assert [page.words(span).strip() for page in pages for span in again.spans] == list(claim.quotes)
    assert claims == turns >= 150
