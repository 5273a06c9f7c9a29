"""What is said of tokens: nothing is saved where more was read than the pages hold, and then that is said."""

from dataclasses import replace

from rich.console import Console

from pagestore import SpaceId
from tests.ledger.building import answered
from tests.ledger.test_tier1 import folded
from tiermem.api import Stats
from tiermem.api.stats import stats
from tiermem.apps.cli.stats import stats_view
from tiermem.apps.present.answers import tokens
from tiermem.apps.present.reading_cost import ReadingCost
from tiermem.model import Budget, Usage


def stats_of(*, read: int, linked: int) -> Stats:
    """A space that gave one answer from what was recalled."""
    given = answered().answer
    trace = replace(given.trace, read_tokens=read, raw_tokens=linked)
    tier1 = folded(replace(answered(), answer=replace(given, route="ANSWER", trace=trace)))
    return stats(
        tier1,
        tuple(tier1.answers.values()),
        space=SpaceId("ann"),
        engine="local",
        embedder="words",
        sessions=1,
        sealed=(),
        filling=(),
        index_pending=0,
        usage=(),
        spent_today=Usage(),
        daily=Budget(),
        problems=(),
    )


def shown(figures: Stats) -> str:
    console = Console(width=200)
    with console.capture() as printed:
        console.print(stats_view(figures))
    return " ".join(printed.get().split())


def test_tokens_saved_below_zero_say_why() -> None:
    figures = stats_of(read=50, linked=40)
    assert figures.tokens_saved == -10
    assert "longer than the pages it links to" in figures.tokens_saved_note
    assert "nothing: 10 tokens more than the linked pages (what was recalled was longer" in shown(figures)


def test_an_unknown_cost_is_shown_as_unknown() -> None:
    figures = stats_of(read=10, linked=40)
    assert "0 calls, 0 tokens, 0.0000 cost" in shown(figures)
    paid = replace(figures, spent_today=Usage(calls=1))
    assert "1 call, 0 tokens, unknown cost" in shown(paid)
    assert "0.5000 cost" in shown(replace(figures, spent_today=Usage(calls=1, cost=0.5)))


def test_tokens_saved_need_no_word_where_some_were() -> None:
    figures = stats_of(read=10, linked=40)
    assert (figures.tokens_saved, figures.tokens_saved_note) == (30, "")
    assert "30 tokens of linked pages" in shown(figures)


def test_evidence_beside_the_pages_that_were_read_is_not_said_to_come_of_them() -> None:
    cost = ReadingCost(evidence=38, pages=1, page_tokens=23, linked_tokens=23)
    assert tokens(cost) == "1 page of 23 tokens; worded from 38 tokens of evidence"


def test_one_of_a_thing_is_not_told_as_many() -> None:
    figures = replace(stats_of(read=10, linked=40), units=1, claims_worded=1, pages_pending=1)
    told = shown(figures)
    assert "1 unit; 1 claim kept" in told
    assert "1 page to summarise, 0 findings to write back" in told
