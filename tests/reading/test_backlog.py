"""What the index lacks is found by its words: all of it, at once, with no pass over it a question."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagestore import KeepsPages, Page, PageId, SessionId
from pagestore.errors import Corrupt
from tests.reading.world import MAIN, SPACE, World, make_question
from tiermem.ledger import Ledger
from tiermem.ledger.ledger import Unread
from tiermem.model import Degradation
from tiermem.reading import Scope
from tiermem.reading.backlog import Backlog, ColdUnits, Waiting

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
        turns = await lookup.turns(make_question(question), limit=3)
        pages = await lookup.pages(make_question(question), limit=3, mode="words")
        read = await lookup.read(pages.pages, limit=3)
        assert turns.turns[0].evidence().text == f"Ann: I saw a {animal} today"
        assert any(animal in page.text for _, page in read.read)
        assert turns.degradations == pages.degradations == told
        assert (
            f"I saw a {animal} today"
            in (await world.reader().context(make_question(question), max_tokens=60)).text
        )


async def test_what_is_said_later_is_added_and_what_was_counted_is_not_read_again() -> None:
    world = await World.new()
    ledger = await _counting(world)
    for number in range(40):
        await world.say(f"Ann: we met in room {number}", session=SessionId(f"s{number}"))
    await world.ledger.seal()
    backlog = Backlog(ledger)
    assert await (await backlog.after(-1)).count("turns") == 40
    ledger.read_pages.clear()
    await world.say("Bob: the piano is out of tune", session=MAIN)
    waiting = await backlog.after(-1)
    assert (await waiting.count("turns"), await waiting.count("turns", MAIN)) == (41, 1)
    (line,) = (await ledger.open_pages(MAIN))[0].lines
    assert [hit.id for hit in await waiting.find("turns", "piano", limit=3)] == [str(line.seq)]
    assert len(ledger.read_pages) == 1


async def test_an_index_that_caught_up_leaves_nothing_and_takes_nothing_from_a_question_under_way() -> None:
    world = await World.new()
    await world.say("Ann: I saw a heron")
    backlog = Backlog(world.ledger)
    before = await backlog.after(-1)
    await world.project()
    mark = await world.index.mark(world.ledger.indexed_as)
    after = await backlog.after(mark.seq)
    assert (await after.count("turns"), await after.in_words()) == (0, "")
    assert await before.count("turns") == 1


async def test_turns_of_a_page_that_sealed_since_are_not_counted_twice() -> None:
    world = await World.new()
    await world.say("Ann: I saw a heron")
    backlog = Backlog(world.ledger)
    await backlog.after(-1)
    await world.say("Ann: I saw a stork")
    await world.ledger.seal()
    assert await (await backlog.after(-1)).in_words() == "2 turns"


async def test_turns_of_a_page_that_seals_while_pages_are_listed_are_not_counted_twice() -> None:
    world = await World.new()
    await world.say("Ann: I saw a heron", "Ann: I saw a stork")
    (opened,) = await world.ledger.open_pages()
    (page_id,) = await world.ledger.seal()
    waiting = Waiting(SPACE, -1, ColdUnits(SPACE, world.ledger.tier1))
    await waiting.put_pages({opened.id: opened, page_id: await world.ledger.page(page_id)}, ())
    assert await waiting.count("turns") == 2
    assert len(await waiting.find("turns", "saw", limit=9)) == 2


async def test_a_page_that_sealed_after_the_index_took_in_its_turns_lacks_none() -> None:
    world = await World.new()
    await world.say("Ann: I saw a heron")
    await world.project()
    await world.ledger.seal()
    found = await (await world.look_up()).turns(make_question("heron"), limit=9)
    assert found.degradations == ()
    assert len(found.turns) == 1


async def test_only_what_waits_of_the_session_that_is_asked_about_is_told() -> None:
    world = await World.new()
    await world.say("Ann: I saw a heron")
    await world.project()
    await world.say("Ann: I saw a stork", session=SessionId("other"))
    assert (
        await (await world.look_up(Scope(session=MAIN))).turns(make_question("heron"), limit=9)
    ).degradations == ()
    assert (await (await world.look_up()).turns(make_question("heron"), limit=9)).degradations == _behind(
        "1 turn"
    )


async def test_the_speakers_of_what_waits_are_known_by_name_and_its_words_by_how_rare_they_are() -> None:
    world = await World.new()
    for number in range(12):
        await world.say(f"Ann: we walked the dog to gate {number}", "Bob: Ann is out")
    await world.say("Ann: the ferry was late")
    (first, *_) = (
        await (await world.look_up()).turns(make_question("What did Ann say about the ferry?"), limit=9)
    ).turns
    assert first.evidence().text == "Ann: the ferry was late"
    found = await (await Backlog(world.ledger).after(-1)).candidates(make_question("Ann: ferry dog"), limit=9)
    assert found.named == {"ann"}
    assert found.rarity["ferri"] > found.rarity["dog"]


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
    found = await (await world.look_up()).turns(make_question("Who saw a stork?"), limit=9)
    assert [turn.evidence().text for turn in found.turns] == ["Bob: I saw a stork"]
    assert [told.fallback for told in found.degradations] == ["their words alone", f"without page {bad}"]


async def test_turns_and_units_of_others_have_no_part_in_what_is_found_or_in_scores() -> None:
    """The commonest leak is a count: how rare a word is tells whether others said it."""
    mixed, alone = await World.new(), await World.new()
    for world, agents in ((mixed, (None, "ann", "bob")), (alone, (None, "ann"))):
        for agent in agents:
            for animal in ANIMALS[:4]:
                await world.say(f"Ann: I saw a {animal} today", agent=agent)
            await world.say("Ann: the heron and the stork", agent=agent)
    sees = mixed.ledger.tier1.sees("ann")
    found = []
    for world in (mixed, alone):
        waiting = await Backlog(world.ledger).after(-1)
        texts = {
            line.seq: line.turn.text
            for page in await world.ledger.open_pages()
            for line in page.lines
            if line.turn
        }
        hits = await waiting.find("turns", "heron stork", limit=50, sees=sees)
        candidates = await waiting.candidates(make_question("heron stork"), limit=50, sees=sees)
        found.append(
            (
                [(texts[int(hit.id)], hit.score) for hit in hits],
                [texts[seq] for seq in candidates.seqs],
                candidates.rarity,
                await waiting.count("turns", sees=sees),
                await waiting.in_words(sees=sees),
            )
        )
    assert found[0] == found[1]
    assert found[0][3] == 10


async def test_a_unit_that_waits_is_found_by_who_may_see_it_now() -> None:
    world = await World.new()
    await world.say("Ann: I saw a heron", agent="bob")
    (page_id,) = await world.ledger.seal()
    (unit,) = await world.units(await world.ledger.page(page_id), ("one heron", "heron"))
    unit = replace(unit, agents=("bob",))
    backlog = Backlog(world.ledger)
    waiting = await backlog.after(-1)
    for agents, count in (("ann", 0), ("bob", 1)):
        sees = world.ledger.tier1.sees(agents)
        await waiting.put_units([unit], shared=())
        assert len(await waiting.find("units", "heron", limit=9, sees=sees)) == count
        assert await waiting.count("units", sees=sees) == count
        await waiting.put_units([unit], shared={unit.id})
        assert len(await waiting.find("units", "heron", limit=9, sees=sees)) == 1


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
    assert await (await backlog.after(-1)).count("turns") == len(ANIMALS)


async def test_a_page_that_could_not_be_read_once_is_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    world = await World.new()
    await said_in_order(world, projected=0, sealed=frozenset())
    backlog = Backlog(world.ledger)

    async def unreadable(_: Ledger, ids: Sequence[PageId], *, kept: bool) -> tuple[Page | Unread, ...]:
        return tuple(Corrupt("for now") for _ in ids)

    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "read", unreadable)
        waiting = await backlog.after(-1)
        assert (await waiting.count("turns"), len(waiting.unread)) == (0, 2)
    waiting = await backlog.after(-1)
    assert (await waiting.count("turns"), waiting.unread) == (len(ANIMALS), {})
