"""What a claim of several turns and pages is proved by when some of them are withheld."""

from datetime import UTC, datetime

from pagestore import Page, Turn
from tests.text.dialogue import page_of
from tiermem.model import Claim, LinkedFact
from tiermem.proof import at_least, link, proof_rank, still_proved

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


def test_a_claim_of_two_pages_is_proved_by_both_together_only() -> None:
    assert still_proved(BOTH, (BIKE, HELMET))
    assert not still_proved(BOTH, (BIKE,))
    assert not still_proved(BOTH, (BIKE, at_least(HELMET, 3, rank)))


def test_its_rank_is_that_of_the_lowest_turn_it_needs() -> None:
    found = spans(BOTH, (BIKE, HELMET))
    assert {span.page_id for span in found.spans} == {BIKE.id, HELMET.id}
    assert proof_rank(BOTH, found.spans, (BIKE, HELMET), rank) == 1
    alone = Claim(text="Ann bought a red bike in Oslo.", quotes=("I bought a red bike in Oslo",))
    assert proof_rank(alone, spans(alone, (BIKE, HELMET)).spans, (BIKE, HELMET), rank) == 3


def test_a_count_needs_every_turn_it_counts() -> None:
    twice = Claim(text="Ann bought 2 things.", quotes=BOTH.quotes)
    assert not still_proved(twice, (BIKE, HELMET))
    pages = (
        page_of([said("Ann", "I bought a red bike.")], page_id="p1:a"),
        page_of([said("Ann", "I bought a blue bike.", "web")], page_id="p1:b"),
    )
    claim = Claim(text="Ann bought 2 bikes.", quotes=("I bought a red bike.", "I bought a blue bike."))
    linked = link(claim, pages)
    assert isinstance(linked, LinkedFact)
    assert proof_rank(claim, linked.spans, pages, rank) == 1
    assert not still_proved(claim, pages[:1])
