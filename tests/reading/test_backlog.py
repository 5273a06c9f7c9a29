"""What the index lacks is found by its words: all of it, at once, with no pass over it a question."""

from collections import Counter
from collections.abc import Sequence

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagestore import KeepsPages, Page, PageId, SessionId
from pagestore.errors import Corrupt
from tests.reading.world import MAIN, World
from tiermem.ledger import Ledger
from tiermem.ledger.ledger import Unread
from tiermem.model import Degradation
from tiermem.reading import Scope
from tiermem.reading.backlog import Backlog
from tiermem.reading.keywords import Keywords

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("logs")]

ANIMALS = ("heron", "stork", "swift", "raven", "plover", "dunlin", "curlew", "siskin", "linnet", "merlin")


async def said_in_order(world: World, *, projected: int, sealed: frozenset[int]) -> None:
    """A turn a bird, in two sessions; the index has the first `projected` of them."""
    for number, animal in enumerate(ANIMALS):
        if number == projected:
            await world.project()
        await world.say(f"Ann: I saw a {animal} today", session=SessionId(f"s{number % 2}"))
        if number in sealed:
            await world.ledger.seal()
    if projected == len(ANIMALS):
        await world.project()


@given(
    projected=st.integers(0, len(ANIMALS)),
    sealed=st.frozensets(st.integers(0, len(ANIMALS) - 1)),
)
def test_whatever_the_index_lacks_is_found_in_every_way_and_counted(
    projected: int, sealed: frozenset[int]
) -> None:
    anyio.run(_found_in_every_way, projected, sealed)


async def _found_in_every_way(projected: int, sealed: frozenset[int]) -> None:
    world = await World.new()
    await said_in_order(world, projected=projected, sealed=sealed)
    lacking = len(ANIMALS) - projected
    told = _behind(f"{lacking} turn{'s' * (lacking != 1)}") if lacking else ()
    for animal in ANIMALS:
        question = f"Any {animal}?"
        lookup = await world.look_up()
        turns = await lookup.turns(question, limit=3)
        pages = await lookup.pages(question, limit=3, mode="words")
        read = await lookup.read(pages.pages, limit=3)
        assert turns.turns[0].evidence().text == f"Ann: I saw a {animal} today"
        assert any(animal in page.text for _, page in read.read)
        assert turns.degradations == pages.degradations == told
        assert f"I saw a {animal} today" in (await world.reader().context(question, max_tokens=60)).text


async def test_what_is_said_later_is_added_and_what_was_counted_is_not_read_again() -> None:
    world = await World.new()
    ledger = await _counting(world)
    for number in range(40):
        await world.say(f"Ann: we met in room {number}", session=SessionId(f"s{number}"))
    await world.ledger.seal()
    backlog = Backlog(ledger)
    assert (await backlog.after(-1)).turns() == 40
    ledger.read_pages.clear()
    await world.say("Bob: the piano is out of tune", session=MAIN)
    waiting = await backlog.after(-1)
    assert (waiting.turns(), waiting.turns(MAIN)) == (41, 1)
    (line,) = (await ledger.open_pages(MAIN))[0].lines
    assert waiting.best_turns(["piano"], None, limit=3) == [str(line.seq)]
    assert len(ledger.read_pages) == 1


async def test_an_index_that_caught_up_leaves_nothing_and_takes_nothing_from_a_question_under_way() -> None:
    world = await World.new()
    await world.say("Ann: I saw a heron")
    backlog = Backlog(world.ledger)
    before = await backlog.after(-1)
    await world.project()
    mark = await world.index.mark(world.ledger.indexed_as)
    after = await backlog.after(mark.seq)
    assert (after.turns(), after.in_words()) == (0, "")
    assert before.turns() == 1


async def test_turns_of_a_page_that_sealed_since_are_not_counted_twice() -> None:
    world = await World.new()
    await world.say("Ann: I saw a heron")
    backlog = Backlog(world.ledger)
    await backlog.after(-1)
    await world.say("Ann: I saw a stork")
    await world.ledger.seal()
    assert (await backlog.after(-1)).in_words() == "2 turns"


async def test_a_page_that_sealed_after_the_index_took_in_its_turns_lacks_none() -> None:
    world = await World.new()
    await world.say("Ann: I saw a heron")
    await world.project()
    await world.ledger.seal()
    found = await (await world.look_up()).turns("heron", limit=9)
    assert found.degradations == ()
    assert len(found.turns) == 1


async def test_only_what_waits_of_the_session_that_is_asked_about_is_told() -> None:
    world = await World.new()
    await world.say("Ann: I saw a heron")
    await world.project()
    await world.say("Ann: I saw a stork", session=SessionId("other"))
    assert (await (await world.look_up(Scope(session=MAIN))).turns("heron", limit=9)).degradations == ()
    assert (await (await world.look_up()).turns("heron", limit=9)).degradations == _behind("1 turn")


async def test_the_speakers_of_what_waits_are_known_by_name_and_its_words_by_how_rare_they_are() -> None:
    world = await World.new()
    for number in range(12):
        await world.say(f"Ann: we walked the dog to gate {number}", "Bob: Ann is out")
    await world.say("Ann: the ferry was late")
    (first, *_) = (await (await world.look_up()).turns("What did Ann say about the ferry?", limit=9)).turns
    assert first.evidence().text == "Ann: the ferry was late"
    waiting = await Backlog(world.ledger).after(-1)
    assert waiting.speakers() == {"ann", "bob"}
    assert waiting.rarity("ferri", indexed=0, known=None) > waiting.rarity("dog", indexed=0, known=None)
    assert waiting.rarity("ferri", indexed=1000, known=6.0) > waiting.rarity("ferri", indexed=0, known=None)


async def test_a_page_that_waits_and_cannot_be_read_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    world = await World.new()
    await world.say("Ann: I saw a heron")
    (bad,) = await world.ledger.seal()
    await world.say("Bob: I saw a stork")
    log = world.ledger._log
    assert isinstance(log, KeepsPages)
    whole = log.kept_page

    def damaged(page_id: PageId) -> Page:
        if page_id == bad:
            raise Corrupt("a line is damaged")
        return whole(page_id)

    monkeypatch.setattr(log, "kept_page", damaged)
    found = await (await world.look_up()).turns("Who saw a stork?", limit=9)
    assert [turn.evidence().text for turn in found.turns] == ["Bob: I saw a stork"]
    assert [told.fallback for told in found.degradations] == ["their words alone", f"without page {bad}"]


@given(
    texts=st.lists(st.lists(st.sampled_from(ANIMALS), max_size=5), max_size=12),
    asked=st.sets(st.sampled_from(ANIMALS)),
)
def test_texts_added_one_by_one_rank_as_those_given_at_once(texts: list[list[str]], asked: set[str]) -> None:
    joined = [" ".join(text) for text in texts]
    grown = Keywords()
    for text in joined:
        grown.add(text)
        grown.rank(asked)
    assert grown.rank(sorted(asked)) == Keywords(joined).rank(sorted(asked))


@given(
    texts=st.lists(
        st.tuples(st.booleans(), st.lists(st.sampled_from(ANIMALS), max_size=5)), min_size=1, max_size=20
    ),
    also=st.booleans(),
)
def test_texts_that_may_not_be_seen_have_no_part_in_a_score(
    texts: list[tuple[bool, list[str]]], also: bool
) -> None:
    mixed, alone, shared = Keywords(), Keywords(), {number for number in range(0, len(texts), 3) if also}
    there = []
    for number, (hidden, text) in enumerate(texts):
        mixed.add(" ".join(text), "other" if hidden else "mine")
        if not hidden or number in shared:
            alone.add(" ".join(text))
            there.append(number)
    shared = {number for number in shared if texts[number][0]}
    ranked = mixed.rank(ANIMALS, "mine".__eq__, shared)
    assert [(there.index(number), score) for number, score in ranked] == alone.rank(ANIMALS)
    if not shared:
        for animal in ANIMALS:
            assert mixed.count_holders(animal, "mine".__eq__) == alone.count_holders(animal)
        assert mixed.count_texts("mine".__eq__) == alone.count_texts()


class _Reading(Ledger):
    """Notes which pages are read of it."""

    read_pages: Counter[PageId]

    async def read(self, page_ids: Sequence[PageId], *, kept: bool = False) -> tuple[Page | Unread, ...]:
        self.read_pages.update(page_ids)
        return await super().read(page_ids, kept=kept)


async def _counting(world: World) -> _Reading:
    ledger = await _Reading.open(world.ledger._log)
    assert isinstance(ledger, _Reading)
    ledger.read_pages = Counter()
    world.ledger = ledger
    return ledger


def _behind(lacking: str) -> tuple[Degradation, ...]:
    reason = f"the index has yet to take in {lacking}"
    return (Degradation(stage="search", reason=reason, fallback="their words alone"),)


async def test_a_first_pass_that_was_cut_short_begins_anew() -> None:
    world = await World.new()
    await said_in_order(world, projected=0, sealed=frozenset())
    backlog, changes = Backlog(world.ledger), world.ledger.changes

    async def never(*_: object, **__: object) -> None:
        scope.cancel()
        await anyio.sleep_forever()

    world.ledger.changes = never  # type: ignore[method-assign, assignment]
    with anyio.CancelScope() as scope:
        await backlog.after(-1)
    assert scope.cancelled_caught
    world.ledger.changes = changes  # type: ignore[method-assign]
    assert (await backlog.after(-1)).turns() == len(ANIMALS)


async def test_a_page_that_could_not_be_read_once_is_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    world = await World.new()
    await said_in_order(world, projected=0, sealed=frozenset())
    backlog = Backlog(world.ledger)

    async def unreadable(_: Ledger, ids: Sequence[PageId], *, kept: bool) -> tuple[Page | Unread, ...]:
        return tuple(Corrupt("for now") for _ in ids)

    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "read", unreadable)
        waiting = await backlog.after(-1)
        assert (waiting.turns(), len(waiting.unread)) == (0, 2)
    waiting = await backlog.after(-1)
    assert (waiting.turns(), waiting.unread) == (len(ANIMALS), {})
