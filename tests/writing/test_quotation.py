"""The sentences of a fact's speakers as facts that are quoted by construction."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pagestore import Turn
from tests.text.dialogue import conversations, page_of
from tiermem.model import Claim, LinkedFact
from tiermem.proof import link
from tiermem.writing.quotation import quotations

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
    fancies = replace(fact("Ann fancies islands.", "any time you sail to the islands"), scene="the boat")
    (quotation,) = quotations(fancies, [PAGE])
    assert quotation.claim == "Ann: I'd come along any time you sail to the islands there."
    assert [PAGE.words(span) for span in quotation.spans] == list(quotation.quotes)
    assert (quotation.support, quotation.is_supported) == ("quoted", True)
    assert (quotation.scene, quotation.importance) == ("the boat", 0.9)


def test_a_turn_that_only_asks_is_not_quoted() -> None:
    page = page_of([Turn(speaker="Ann", text="Where do you keep the boat?", said_at=SAID)])
    linked = link(Claim(text="Ann asked.", quotes=("Where do you keep the boat?",)), [page])
    assert isinstance(linked, LinkedFact)
    assert quotations(linked, [page]) == ()


def test_a_speaker_with_a_colon_in_the_name_is_not_quoted() -> None:
    page = page_of([Turn(speaker="Ann: Lee", text="I keep the boat.", said_at=SAID)])
    linked = link(Claim(text="She is at sea.", quotes=("I keep the boat.",)), [page])
    assert isinstance(linked, LinkedFact)
    assert quotations(linked, [page]) == ()


def test_a_reply_is_quoted_with_what_was_asked_and_every_turn_by_itself() -> None:
    both = fact("Ben's boat lies in Norway.", "In Bergen, it isn't far.", "you sail to the islands there")
    assert not both.is_supported
    assert [quotation.claim for quotation in quotations(both, [PAGE])] == [
        'Ben, asked "Where do you keep the boat?": In Bergen, it isn\'t far.',
        "Ann: I'd come along any time you sail to the islands there.",
    ]


def test_a_page_that_is_not_given_is_not_quoted() -> None:
    assert quotations(fact("Ann fancies islands.", "any time you sail to the islands"), []) == ()


@pytest.mark.shared
def test_the_words_of_real_facts_are_quoted(shared: Path) -> None:
    talk = next(conversations(shared / "data" / "locomo"))
    turns = made = 0
    for one in talk.facts[:150]:
        pages = [talk.page_of_turn[one["dia_ids"][0]]]
        linked = link(Claim(text=one["fact"], quotes=(one["quote"],)), pages)
        assert isinstance(linked, LinkedFact)
        turns += len({pages[0].line_at(span.start).seq for span in linked.spans})
        for quotation in quotations(linked, pages):
            made += 1
            again = link(Claim(text=quotation.claim, quotes=quotation.quotes), pages)
            assert isinstance(again, LinkedFact)
            assert again.support == "quoted", again.reason
    assert turns >= 150
    assert turns - made <= 1  # a turn that only asks
