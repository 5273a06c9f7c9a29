"""Recall: units by rank, the open tail verbatim, a past moment, and searching that does not fail."""

import math
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rank_bm25 import BM25Plus
from tiermem.reading.lookup import fuse

from pagestore import SessionId
from tests.reading.world import MAIN, SPACE, START, Judge, Words, World, make_unit
from tiermem.errors import EmbedderUnavailable, IndexUnavailable, InvalidInput, ModelUnavailable
from tiermem.index.interface import Entry, Hit
from tiermem.ledger import Distilled, WroteBack, finding_unit_id
from tiermem.model import FindingId, SummaryUnit, Usage, WriteBack
from tiermem.reading.keywords import Keywords

pytestmark = pytest.mark.anyio
OTHER = SessionId("other")


async def test_units_come_by_rank_and_no_more_than_asked_for() -> None:
    world = await World.new()
    await world.linked_page("Ann: I adopted a grey cat", "Ann: My cat likes fish", "Bob: I bought a red car")
    recalled = await world.reader(units=2).recall("What does the grey cat like?")
    assert [item.text for item in recalled.units] == [
        "Ann says I adopted a grey cat",
        "Ann says My cat likes fish",
    ]
    assert all(item.source == "unit" and item.spans and item.similarity for item in recalled.units)
    assert recalled.tail == ()


async def test_a_hit_that_names_no_unit_of_this_log_is_dropped_and_counted() -> None:
    world = await World.new()
    await world.linked_page("Ann: I adopted a grey cat")
    await world.index.put(
        SPACE, "units", [Entry(id="u1:stranger", session=MAIN, text="grey cat", kind="summary")]
    )
    recalled = await world.reader().recall("grey cat")
    assert [item.text for item in recalled.units] == ["Ann says I adopted a grey cat"]
    assert recalled.dropped == 1


async def test_a_session_sees_its_own_units_and_its_own_tail() -> None:
    world = await World.new()
    await world.linked_page("Ann: I adopted a grey cat")
    await world.linked_page("Bob: I saw a grey cat", session=OTHER)
    await world.say("Ann: the cat sleeps")
    await world.say("Bob: the cat ran away", session=OTHER)
    recalled = await world.reader().recall("cat", session=OTHER)
    assert [item.text for item in recalled.units] == ["Bob says I saw a grey cat"]
    assert ["ran away" in item.text for item in recalled.tail] == [True]
    assert len((await world.reader().recall("cat")).tail) == 2


async def test_the_tail_is_the_last_turns_verbatim_with_their_spans() -> None:
    world = await World.new()
    await world.say("Ann: one two three", "Bob: four five six", "Ann: seven eight\nnine")
    tail = (await world.reader(tail_tokens=11).recall("anything")).tail
    (page,) = await world.ledger.open_pages()
    assert [item.text for item in tail] == [
        "[2023-05-08T13:57:00+00:00] Bob: four five six",
        "[2023-05-08T13:58:00+00:00] Ann: seven eight\n\tnine",
    ]
    assert page.words(tail[0].spans[0]) == "four five six"
    assert tail[0].source == "open"
    assert tail[0].spans[0].page_id.startswith("o1:")
    assert tail[0].said_at == START + timedelta(minutes=1)


async def test_a_turn_longer_than_the_whole_tail_is_passed_over() -> None:
    world = await World.new(page_tokens=10_000)
    await world.say("Ann: short", "Ann: " + "long " * 600)
    assert ["short" in item.text for item in (await world.reader().recall("x")).tail] == [True]


@settings(max_examples=25)
@given(lengths=st.lists(st.integers(1, 12), max_size=12), limit=st.integers(1, 40))
def test_the_tail_never_exceeds_its_limit_and_keeps_the_order_of_the_log(
    lengths: list[int], limit: int
) -> None:
    async def main() -> None:
        world = await World.new(page_tokens=100_000)
        for number, length in enumerate(lengths):
            await world.say(f"Ann: {number} " + "w " * (length - 1), session=SessionId(f"s{number % 3}"))
        tail = (await world.reader(tail_tokens=limit).recall("x")).tail
        assert sum(Words().count(item.text) for item in tail) <= limit
        numbers = [int(item.text.split()[2]) for item in tail]
        assert numbers == sorted(numbers)

    anyio.run(main)


async def test_a_broken_index_is_answered_by_keywords_and_said() -> None:
    world = await World.new()
    await world.linked_page("Ann: I adopted a grey cat", "Bob: I bought a red car")
    world.index.broken = IndexUnavailable("no route to index")
    recalled = await world.reader().recall("Who has a grey cat?")
    assert [item.text for item in recalled.units] == ["Ann says I adopted a grey cat"]
    (degraded,) = recalled.degradations
    assert degraded.reason == "IndexUnavailable: no route to index"
    assert degraded.fallback == "keywords in the log"


async def test_without_index_and_without_a_fitting_unit_whole_pages_are_recalled() -> None:
    world = await World.new()
    page = await world.page("Ann: I adopted a grey cat", "Bob: how nice")
    await world.page("Bob: I bought a red car")
    world.index.broken = IndexUnavailable("gone")
    (item,) = (await world.reader().recall("grey cat")).units
    assert item.source == "page"
    assert item.text == page.text
    assert item.spans[0].page_id == page.id


@pytest.mark.parametrize(
    "error", [ModelUnavailable("embedding endpoint down"), EmbedderUnavailable("no weights")]
)
async def test_without_vectors_the_words_of_the_index_answer(error: Exception) -> None:
    world = await World.new()
    await world.linked_page("Ann: I adopted a grey cat")
    world.index.without_vectors = error
    recalled = await world.reader().recall("grey cat")
    assert len(recalled.units) == 1
    assert [d.fallback for d in recalled.degradations] == ["keywords in the index"]
    assert world.index.queries[-1][1] == "words"


async def test_search_on_a_broken_index_finds_by_keywords_and_warns(caplog: pytest.LogCaptureFixture) -> None:
    world = await World.new()
    page, (unit,) = await world.linked_page("Ann: I adopted a grey cat")
    world.index.broken = IndexUnavailable("no route to index")
    assert [item.unit_id for item in await world.reader().search("cat")] == [unit.id]
    (found,) = await world.reader().search("cat", kind="pages")
    assert found.spans[0].page_id == page.id
    assert [record.levelname for record in caplog.records] == ["WARNING", "WARNING"]
    assert "no route to index" in caplog.text


async def test_an_emptied_index_loses_no_unit() -> None:
    world = await World.new()
    await world.linked_page("Ann: I adopted a grey cat")
    await world.index.drop(SPACE)
    assert [item.text for item in (await world.reader().recall("cat")).units] == [
        "Ann says I adopted a grey cat"
    ]


async def test_a_unit_the_index_does_not_hold_yet_is_found_by_its_words() -> None:
    world = await World.new()
    page = await world.page("Ann: I adopted a grey cat")
    unit = make_unit(page, "Ann has a grey cat", "I adopted a grey cat")
    await world.ledger.write(
        Distilled(
            page_id=page.id, units=(unit,), rejected=(), omissions=(), made_by="t", prompts=(), usage=Usage()
        )
    )
    assert [item.unit_id for item in (await world.reader().recall("cat")).units] == [unit.id]


async def _supersede(world: World, older: SummaryUnit, text: str, quote: str) -> SummaryUnit:
    page = await world.page(f"Ann: {quote}")
    newer = replace(
        make_unit(page, text, quote), id=finding_unit_id(SPACE, FindingId("f1:x")), supersedes=(older.id,)
    )
    decision = WriteBack(finding_id=FindingId("f1:x"), op="ADD", reason="newer", unit_id=newer.id)
    await world.ledger.write(WroteBack(write_back=decision, unit=newer))
    await world.project()
    return newer


async def test_a_past_moment_is_answered_from_what_was_active_then() -> None:
    world = await World.new()
    _, (older,) = await world.linked_page("Ann: I live in Boston")
    moment = [r.at for r in world.ledger._log.records()][-1]
    newer = await _supersede(world, older, "Ann lives in Denver", "I live in Denver now")
    await world.say("Ann: I still live in Denver")
    now = await world.reader().recall("Where does Ann live?")
    assert [item.unit_id for item in now.units] == [newer.id]
    assert len(now.tail) == 1
    then = await world.reader().recall("Where does Ann live?", as_of=moment)
    assert [item.unit_id for item in then.units] == [older.id]
    assert then.tail == ()
    assert then.as_of == moment
    assert then.dropped == 0


async def test_a_superseded_unit_is_not_recalled_even_while_the_index_still_shows_it() -> None:
    world = await World.new()
    _, (older,) = await world.linked_page("Ann: I live in Boston")
    stale = {key: dict(entries) for key, entries in world.index.entries.items()}
    newer = await _supersede(world, older, "Ann lives in Denver", "I live in Denver now")
    world.index.entries[SPACE, "units"] |= stale[SPACE, "units"]
    recalled = await world.reader().recall("Where does Ann live?")
    assert [item.unit_id for item in recalled.units] == [newer.id]
    assert recalled.dropped == 1


async def test_better_hits_of_another_session_crowd_nothing_out() -> None:
    world = await World.new()
    await world.linked_page("Ann: a grey animal sleeps here")
    await world.linked_page("Bob: the grey cat sleeps", "Bob: a grey cat", session=OTHER)
    recalled = await world.reader(units=1).recall("grey cat", session=MAIN)
    assert [item.text for item in recalled.units] == ["Ann says a grey animal sleeps here"]
    assert recalled.dropped == 0


async def test_a_moment_to_come_is_now() -> None:
    world = await World.new()
    await world.say("Ann: I live in Denver")
    recalled = await world.reader().recall("x", as_of=datetime.now(UTC) + timedelta(days=1))
    assert recalled.as_of is None
    assert len(recalled.tail) == 1


async def test_search_brings_units_or_pages_with_the_open_ones() -> None:
    world = await World.new()
    page, (unit,) = await world.linked_page("Ann: I adopted a grey cat")
    await world.say("Bob: my cat is black")
    (opened,) = await world.ledger.open_pages()
    reader = world.reader()
    assert [item.unit_id for item in await reader.search("cat")] == [unit.id]
    pages = await reader.search("cat", kind="pages")
    assert {item.spans[0].page_id for item in pages} == {page.id, opened.id}
    assert len(await reader.search("cat", kind="pages", limit=1)) == 1
    with pytest.raises(InvalidInput, match="at least 1"):
        await reader.search("cat", limit=0)


def test_bm25_ranks_like_the_reference() -> None:
    texts = ["cat cat dog", "cat fish bird tree", "dog bird", "tree house garden cat cat cat", "stone"]
    tokens = [text.split() for text in texts]
    # BM25Plus with delta 0 uses log((N+1)/df); ours log(1+(N-df+.5)/(df+.5)): the order of one word agrees.
    reference = BM25Plus(tokens, k1=1.5, b=0.75, delta=0).get_scores(["cat"])
    ours = dict(Keywords(texts).rank("cat"))
    order = sorted(ours, key=lambda i: -ours[i])
    assert order == sorted(ours, key=lambda i: -reference[i])
    df = Counter(word for words in tokens for word in set(words))["cat"]
    ratio = math.log(1 + (5 - df + 0.5) / (df + 0.5)) / math.log(6 / df)
    assert ours[0] == pytest.approx(reference[0] * ratio)


@given(texts=st.lists(st.text(max_size=40), max_size=6), query=st.text(max_size=40))
def test_keywords_find_only_texts_that_share_a_word(texts: list[str], query: str) -> None:
    scores = Keywords(texts).rank(query)
    assert all(score > 0 for _, score in scores)
    assert len({i for i, _ in scores}) == len(scores)


_hits = st.lists(st.builds(Hit, id=st.sampled_from("abcdef"), score=st.floats(0, 1)), max_size=6)


@given(rankings=st.lists(_hits, max_size=4))
def test_fusing_keeps_every_id_once(rankings: list[list[Hit]]) -> None:
    fused = [hit.id for hit in fuse(*rankings)]
    assert sorted(fused) == sorted({hit.id for ranking in rankings for hit in ranking})


def test_what_two_rankings_agree_on_comes_first() -> None:
    a, b, c = (Hit(id=i, score=0.5) for i in "abc")
    assert next(hit.id for hit in fuse([a, b], [c, b])) == "b"


def test_equal_scores_share_a_rank_so_that_no_id_decides() -> None:
    a, b, c = Hit(id="a", score=0.5), Hit(id="b", score=0.5), Hit(id="c", score=0.1)
    scores = {hit.id: hit.score for hit in fuse([a, b, c], [b, a])}
    assert scores["a"] == scores["b"] > scores["c"]
    assert scores == {hit.id: hit.score for hit in fuse([b, a, c], [a, b])}


async def test_a_judge_is_never_asked_by_recall() -> None:
    world = await World.new()
    await world.linked_page("Ann: I adopted a grey cat")
    await world.reader().recall("cat")
    assert world.judge == Judge()
