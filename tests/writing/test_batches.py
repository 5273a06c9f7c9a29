"""Small pages are summarised together, big ones alone, and none twice."""

from dataclasses import replace
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from pagestore import PageId, PageInfo, SessionId
from tests.writing.parts import MOMENT
from tiermem.writing.batches import batches


def info(number: int, tokens: int) -> PageInfo:
    return PageInfo(
        id=PageId(f"p1:{number}"),
        session=SessionId(f"s{number}"),
        number=1,
        turns=1,
        tokens=tokens,
        sealed_at=MOMENT,
        seq=number,
    )


def sizes(*tokens: int, page_tokens: int = 1000) -> list[list[int]]:
    pages = [info(number, size) for number, size in enumerate(tokens)]
    return [[page.tokens for page in batch] for batch in batches(pages, page_tokens=page_tokens)]


def test_pages_are_packed_in_order_up_to_one_pages_size() -> None:
    assert sizes() == []
    assert sizes(400, 600, 1, 999, 5) == [[400, 600], [1, 999], [5]]


def test_a_page_above_the_size_is_alone() -> None:
    assert sizes(10, 4000, 20, 30) == [[10], [4000], [20, 30]]


def test_sixty_short_sessions_are_a_handful_of_batches() -> None:
    assert len(sizes(*[80] * 60)) == 5


@given(st.lists(st.integers(1, 3000), max_size=40), st.integers(50, 1500))
def test_every_page_is_in_one_batch_and_no_batch_could_take_the_next_page(
    tokens: list[int], page_tokens: int
) -> None:
    pages = [info(number, size) for number, size in enumerate(tokens)]
    found = batches(pages, page_tokens=page_tokens)
    assert [page for batch in found for page in batch] == pages
    for batch in found:
        assert len(batch) == 1 or sum(page.tokens for page in batch) <= page_tokens
    for batch, after in pairwise(found):
        assert sum(page.tokens for page in batch) + after[0].tokens > page_tokens


def test_pages_of_different_agents_are_never_summarised_together() -> None:
    agents = (None, None, "ann", "ann", "ben", None)
    pages = [replace(info(number, 10), agent=agent) for number, agent in enumerate(agents)]
    found = batches(pages, page_tokens=1000)
    assert [[page.agent for page in batch] for batch in found] == [[None] * 2, ["ann"] * 2, ["ben"], [None]]
