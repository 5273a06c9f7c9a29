"""What a claim of several turns and pages is supported by when some of them are withheld."""

from dataclasses import replace
from datetime import UTC, datetime

from pagestore import Page, Turn
from tests.text.dialogue import page_of
from tiermem.model import Claim, LinkedFact
from tiermem.proof import is_still_supported, link, proof_rank
from tiermem.text.withheld import at_least

SAID = datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
RANKS = {"web": 1, "person": 3}


def rank(turn: Turn) -> int:
    return RANKS[turn.role or "person"]


def said(speaker: str, text: str, role: str = "person") -> Turn:
    return Turn(speaker=speaker, text=text, said_at=SAID, role=role)


BIKE = page_of(
    [said("Ann", "I bought a red bike in Oslo."), said("Ann", "It cost 90 euros.")], page_id="p1:one"
)
HELMET = page_of(
    [said("Ann", "I bought a helmet in Bergen, with a lamp.", "web"), said("Ann", "It is raining.")],
    page_id="p1:two",
)
BOTH = Claim(
    text="Ann bought a bike in Oslo and a helmet in Bergen.",
    quotes=("I bought a red bike in Oslo", "I bought a helmet in Bergen"),
)


def spans(claim: Claim, pages: tuple[Page, ...]) -> LinkedFact:
    linked = link(claim, pages)
    assert isinstance(linked, LinkedFact)
    return linked


def test_a_claim_with_words_of_two_turns_is_not_supported() -> None:
    assert not is_still_supported(BOTH, (BIKE, HELMET))
    one = Claim(text="Ann bought a bike in Oslo.", quotes=BOTH.quotes)
    assert is_still_supported(replace(one, quotes=BOTH.quotes[:1]), (BIKE, HELMET))
    assert not is_still_supported(one, (BIKE, at_least(HELMET, 3, rank)))
    assert not is_still_supported(one, (HELMET,))


def test_its_rank_is_that_of_the_lowest_turn_it_needs() -> None:
    found = spans(BOTH, (BIKE, HELMET))
    assert {span.page_id for span in found.spans} == {BIKE.id, HELMET.id}
    assert proof_rank(BOTH, found.spans, (BIKE, HELMET), rank) == 1
    alone = Claim(text="Ann bought a red bike in Oslo.", quotes=("I bought a red bike in Oslo",))
    assert proof_rank(alone, spans(alone, (BIKE, HELMET)).spans, (BIKE, HELMET), rank) == 3


def test_a_count_of_turns_is_not_supported_and_has_their_lowest_rank() -> None:
    pages = (
        page_of([said("Ann", "I bought a red bike.")], page_id="p1:a"),
        page_of([said("Ann", "I bought a blue bike.", "web")], page_id="p1:b"),
    )
    claim = Claim(text="Ann bought 2 bikes.", quotes=("I bought a red bike.", "I bought a blue bike."))
    assert not is_still_supported(claim, pages)
    assert proof_rank(claim, spans(claim, pages).spans, pages, rank) == 1
