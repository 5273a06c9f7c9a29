"""Context for somebody else's prompt: within its limit, numbered, and unable to pose as anything but data."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reading.world import Words, World
from tiermem.model import Evidence
from tiermem.reading.context import HEADING, assemble

pytestmark = pytest.mark.anyio


async def test_units_come_first_with_their_words_then_the_tail() -> None:
    world = await World.new()
    await world.linked_page("Ann: I adopted three grey cats")
    await world.say("Bob: what are the cats called?")
    context = await world.reader().context("cats")
    assert context.text.splitlines() == [
        HEADING,
        "[1] said 2023-05-08",
        "| Ann says I adopted three grey cats",
        '| Ann: "I adopted three grey cats"',
        "[2] said 2023-05-08",
        "| [2023-05-08T13:57:00+00:00] Bob: what are the cats called?",
    ]
    assert [item.source for item in context.sources] == ["unit", "open"]
    assert context.tokens == Words().count(context.text)
    assert str(context) == context.text


async def test_where_nothing_fits_the_context_is_empty() -> None:
    world = await World.new()
    await world.linked_page("Ann: I adopted three grey cats")
    context = await world.reader().context("cats", max_tokens=5)
    assert (context.text, context.tokens, context.sources) == ("", 0, ())


_unit = st.builds(
    Evidence,
    text=st.text("ab |[1]\n\r\v\f\x1c\x85\u2028", max_size=60),
    spans=st.just(()),
    score=st.just(0.0),
    source=st.just("unit"),
)
_items = st.lists(_unit, max_size=6)


@given(items=_items, limit=st.integers(0, 400))
def test_a_context_never_exceeds_its_limit_and_every_word_of_memory_stands_behind_a_bar(
    items: list[Evidence], limit: int
) -> None:
    context = assemble(items, {}, max_tokens=limit, count=len)
    assert context.tokens == len(context.text) <= limit
    remaining = iter(items)
    assert all(source in remaining for source in context.sources)
    rows = context.text.splitlines()
    assert all(row.startswith(("| ", "[", HEADING[:4])) for row in rows)
    assert sum(row.startswith("[") for row in rows) == len(context.sources)
