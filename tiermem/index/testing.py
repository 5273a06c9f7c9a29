"""What every index must do, as tests to inherit.

    class TestMyIndex(IndexContract):
        async def new_index(self, where: Path) -> Index:
            return MyIndex(where, HashEmbedder())

`new_index` with the same directory again must find what the one before it stored.
"""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import AsyncIterator, Awaitable, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, timezone
from itertools import product
from pathlib import Path
from typing import Any

import anyio
import pytest

from pagestore import History, Page, PageId, SessionId, SpaceId, Turn
from pagestore.rendering import TurnPart, render_page
from tiermem.errors import MemoryClosed
from tiermem.index.candidates import Candidates, pack_without_vectors
from tiermem.index.entries import turn_entries
from tiermem.index.features import turn_features
from tiermem.index.interface import Index
from tiermem.index.values import (
    ALL_TIME,
    COLLECTIONS,
    Collection,
    Entry,
    Hit,
    Mode,
    Period,
    Timeframe,
    TurnContext,
    turn_id,
)

ANN = SpaceId("ann")
BOB = SpaceId("bob")
MONDAY = SessionId("monday")
TUESDAY = SessionId("tuesday")


def entry(id_: str, text: str, *, session: SessionId = MONDAY, active: bool = True) -> Entry:
    """A unit with these words."""
    said_at = datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
    return Entry(id=id_, session=session, text=text, said_at=said_at, active=active)


def upto(seq: int) -> History:
    """Some log up to this record."""
    return History(seq=seq, digest=hashlib.sha256(str(seq).encode()).hexdigest())


def ids(hits: Sequence[Hit]) -> list[str]:
    """The ids of hits, in order."""
    return [hit.id for hit in hits]


def same(left: Sequence[Hit], right: Sequence[Hit]) -> None:
    """Both give the same scores but for rounding, and the same ids.

    Equal ones may be in any order, and any of those that tie with the last may be there.
    """
    assert [hit.score for hit in left] == pytest.approx([hit.score for hit in right], abs=1e-4)
    least = min((hit.score for hit in left), default=0.0) + 1e-3
    assert {hit.id for hit in left if hit.score > least} == {hit.id for hit in right if hit.score > least}


def turn_ids(found: Candidates) -> list[str]:
    """The ids of candidates, in the order in which they were said."""
    return list(map(turn_id, found.seqs[: len(found)]))


def scores_by_id(found: Candidates) -> dict[str, tuple[float, ...]]:
    """Meaning, exchange and around of each candidate."""
    scores = zip(found.meaning.tolist(), found.exchange.tolist(), found.around.tolist(), strict=True)
    return dict(zip(turn_ids(found), scores, strict=True))


GARDEN = (
    entry("u1", "Ann planted tomatoes in her garden"),
    entry("u2", "Ann bought a red bicycle for the commute"),
    entry("u3", "The garden of the neighbour grows tomatoes, tomatoes and beans", session=TUESDAY),
    entry("u4", "Bob is afraid of thunderstorms", session=TUESDAY),
)


def turn(
    id_: str,
    text: str,
    *,
    around: str = "",
    near: tuple[str, ...] = (),
    session: SessionId = MONDAY,
    said_at: datetime | None = None,
) -> Entry:
    """A turn of Ann's with these words; the id is its number in the log."""
    said = Turn(speaker="Ann", text=text, said_at=said_at)
    context = TurnContext(
        page=page_with(said, int(id_), session),
        line=0,
        around=around or text,
        near=near,
    )
    return Entry(id=id_, session=session, text=text, context=context, said_at=said_at)


def page_with(said: Turn, seq: int, session: SessionId) -> Page:
    """A page with this turn alone, which follows no other and is followed by none."""
    return page_of([said], seq, session, number=2 * seq)


def page_of(said: Sequence[Turn], seq: int, session: SessionId, *, number: int = 1) -> Page:
    """A page with these turns, whose numbers in the log follow each other."""
    text, lines = render_page([TurnPart(seq=seq + at, turn=turn) for at, turn in enumerate(said)])
    return Page(
        id=PageId(f"p1:{seq}"),
        space=ANN,
        session=session,
        number=number,
        text=text,
        lines=lines,
        tokens=len(text),
        token_counter="characters",  # noqa: S106  # it counts tokens
        sealed_at=None,
    )


MINE = '["mine"]'
GRANTED = '["granted"]'
OTHER = '["other"]'
VOCABULARY = (
    "tomatoes",
    "garden",
    "bicycle",
    "harbour",
    "thunder",
    "cello",
    "neighbour",
    "passport",
    "drawer",
)


def random_entries(chance: random.Random, first: int, count: int, owners: Sequence[str]) -> list[Entry]:
    """Entries of some words each, of these owners; fit for both collections. Some from 5,000 are Zora's."""
    names = ("Ann", "Zora") if first >= 5_000 else ("Ann", "Ben")
    threads: dict[tuple[SessionId, str], list[Turn]] = {}
    for at in range(count):
        said_at = datetime(2023, 5, 1 + at % 28, tzinfo=UTC) if chance.random() < 0.8 else None
        text = " ".join(chance.choices(VOCABULARY, k=chance.randrange(1, 12)))
        thread = threads.setdefault((chance.choice((MONDAY, TUESDAY)), chance.choice(owners)), [])
        thread.append(Turn(speaker=chance.choice(names), text=text, said_at=said_at))
    entries: list[Entry] = []
    for (session, owner), said in threads.items():
        page = page_of(said, first + len(entries), session)
        entries += turn_entries(page, None, owner=owner)
    return entries


def talk(session: SessionId, first: int, *texts: str) -> list[Entry]:
    """What Ann said in a session, as turns with numbers from `first` on."""
    return turn_entries(page_of([Turn(speaker="Ann", text=text) for text in texts], first, session), None)


TALK = (
    *talk(
        MONDAY,
        100,
        "Good morning, what is new?",
        "I planted the tomatoes. The weather was mild.",
        "And then?",
        "I bought a red bicycle.",
        "My neighbour plays the cello every evening.",
    ),
    *talk(TUESDAY, 105, "Bob is afraid of thunderstorms."),
)


@pytest.mark.anyio
class IndexContract:
    """Inherit, say how to open one, and the index is specified."""

    modes: tuple[Mode, ...] = ("hybrid", "dense", "words")
    rounding = 0.0
    """By how much scores may differ where an engine adds up numbers of all entries together."""

    async def new_index(self, where: Path) -> Index:
        raise NotImplementedError

    @pytest.fixture
    def anyio_backend(self) -> str:
        """The event loop in which a test and its index run."""
        return "asyncio"

    @pytest.fixture
    async def index(self, tmp_path: Path, anyio_backend: str) -> AsyncIterator[Index]:
        """A new one, closed after the test."""
        index = await self.new_index(tmp_path)
        try:
            yield index
        finally:
            await index.close()

    async def test_entries_are_found_by_meaning_by_words_and_by_both(self, index: Index) -> None:
        await index.put(ANN, "units", GARDEN)
        for mode in self.modes:
            hits = await index.search(ANN, "units", "a red bicycle", limit=3, mode=mode)
            assert hits[0].id == "u2"
            assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)

    async def test_similarity_is_the_cosine_where_meaning_took_part(self, index: Index) -> None:
        await index.put(ANN, "units", GARDEN)
        same = GARDEN[1].text
        for mode in self.modes:
            first = (await index.search(ANN, "units", same, limit=4, mode=mode))[0]
            expected = None if mode == "words" else pytest.approx(1.0, abs=1e-4)
            assert (first.id, first.similarity) == ("u2", expected)
        fused = await index.search(ANN, "units", same, limit=4)
        assert all(hit.similarity is not None for hit in fused)
        assert fused[0].score == pytest.approx(1.0)

    async def test_a_hit_by_words_has_a_similarity_however_low_it_ranks_by_meaning(
        self, index: Index
    ) -> None:
        crowd = [entry(f"c{n}", f"the blue harbour at dawn {n}") for n in range(120)]
        odd = "harbours " + " ".join(f"word{n}" for n in range(60)) + " zanzibar"
        await index.put(ANN, "units", [*crowd, entry("odd", odd)])
        hits = await index.search(ANN, "units", "the blue harbour at dawn near zanzibar", limit=120)
        found = {hit.id: hit for hit in hits}
        assert found["odd"].similarity is not None
        assert found["odd"].similarity < found["c0"].similarity  # type: ignore[operator]  # both are known

    async def test_a_long_entry_is_found_by_what_stands_at_its_end(self, index: Index) -> None:
        filler = "\n".join(f"[2023-05-08T13:{n:02}:00] Ann: the weather is mild again" for n in range(60))
        await index.put(
            ANN,
            "units",
            [entry("p1", filler + "\nBob: the passport lies in the drawer"), entry("p2", filler)],
        )
        hits = await index.search(ANN, "units", "the passport lies in the drawer", limit=2, mode="dense")
        assert hits[0].id == "p1"
        assert hits[0].score > hits[1].score + 0.2

    async def test_a_word_that_only_the_scene_holds_finds_a_unit_after_those_that_say_it(
        self, index: Index
    ) -> None:
        at_sea = replace(entry("u1", "Ann lost her hat"), scene="regatta in the harbour")
        said = entry("u2", "Bob won the regatta in the end, against all that his uncle had foretold him")
        await index.put(ANN, "units", [at_sea, said, *GARDEN[2:]])
        hits = await index.search(ANN, "units", "regatta", limit=9, mode="words")
        assert ids(hits) == ["u2", "u1"]
        assert ids(await index.search(ANN, "units", "harbour", limit=9, mode="words")) == ["u1"]

    async def test_only_what_is_of_the_owners_or_of_nobody_is_found_however_many_others_are_nearer(
        self, index: Index
    ) -> None:
        crowd = [replace(turn(str(n), "the blue harbour at dawn"), owner="other") for n in range(150)]
        mine = replace(turn("201", "a harbour seen from the blue hills"), owner='["mine"]')
        shared = turn("202", "the harbour of the blue people")
        for collection in COLLECTIONS:
            await index.put(ANN, collection, [*crowd, mine, shared])
            for mode, (owners, expected) in product(
                self.modes,
                (
                    (['["mine"]'], {"201", "202"}),
                    (['["mine"]', "nobody"], {"201", "202"}),
                    ([], {"202"}),
                    (["nobody"], {"202"}),
                ),
            ):
                found = await index.search(
                    ANN, collection, "the blue harbour at dawn", limit=5, mode=mode, owners=owners
                )
                assert set(ids(found)) == expected
            everything = await index.search(ANN, collection, "the blue harbour at dawn", limit=999)
            assert {"0", "201", "202"}.issubset(ids(everything))
        turns = await index.turns(ANN, "the blue harbour at dawn", limit=5, owners=['["mine"]'])
        assert set(turn_ids(turns)) == {"201", "202"}
        assert await index.undated(ANN, "units", about="event", owners=['["mine"]']) == 2
        assert await index.undated(ANN, "units", about="event") == 152

    async def test_whose_an_entry_is_follows_the_last_put(self, index: Index) -> None:
        await index.put(ANN, "units", [replace(GARDEN[1], owner="ann"), GARDEN[0]])
        for owner in ("", "bob", "ann"):
            await index.put(ANN, "units", [replace(GARDEN[1], owner=owner)])
            found = await index.search(ANN, "units", "a red bicycle", limit=9, owners=["bob"])
            assert ("u2" in ids(found)) == (owner in ("", "bob"))

    @pytest.mark.parametrize("seed", range(4))
    async def test_what_may_not_be_seen_has_no_part_in_what_is_found(self, index: Index, seed: int) -> None:
        chance = random.Random(seed)
        visible = random_entries(chance, 1_000, 40, ("", MINE, GRANTED))
        hidden = random_entries(chance, 5_000, 160, (OTHER, '["mine", "other"]'))
        both = chance.sample([*visible, *hidden], 200)
        for collection in COLLECTIONS:
            await index.put(ANN, collection, visible)
            await index.put(BOB, collection, both)
            await index.remove(BOB, collection, [one.id for one in hidden[:30]])
        for _ in range(3):
            query = " ".join(("Zora", *chance.sample(VOCABULARY, 3)))
            limit, session = chance.choice((2, 60)), chance.choice((None, MONDAY))
            alone, mixed = [await self._ask_all(index, space, query, limit, session) for space in (ANN, BOB)]
            assert alone[0] == mixed[0]
            assert alone[1] == pytest.approx(mixed[1], rel=0, abs=self.rounding)

    async def _ask_all(
        self, index: Index, space: SpaceId, query: str, limit: int, session: SessionId | None
    ) -> tuple[list[str], list[float]]:
        """Ask in every way as the owners `MINE` and `GRANTED`; return all ids, and all numbers."""
        owners = (MINE, GRANTED)
        hits: list[Hit] = []
        numbers: list[float] = []
        for collection, mode in product(COLLECTIONS, self.modes):
            hits += await index.search(
                space, collection, query, limit=limit, mode=mode, session=session, owners=owners
            )
        for collection in COLLECTIONS:
            numbers.append(await index.undated(space, collection, session=session, owners=owners))
            numbers.append(await index.count(space, collection, owners=owners))
        named = ids(hits)
        numbers += [number for hit in hits for number in (hit.score, hit.similarity or 0.0)]
        may = ((date(2023, 5, 3), date(2023, 5, 9)),)
        for found in (
            await index.turns(space, query, limit=limit, session=session, owners=owners),
            await index.turns(space, query, limit=limit, periods=may, owners=owners),
        ):
            named += [*turn_ids(found), *sorted(found.named)]
            numbers += [one for scores in scores_by_id(found).values() for one in scores]
            places = (found.before, found.after)
            numbers += [found.seqs[at] if at >= 0 else -1 for one in places for at in one.tolist()]
            numbers += [found.total, *found.rarity.values()]
        return named, numbers

    async def test_owners_who_may_see_everything_find_what_is_found_without_owners(
        self, index: Index
    ) -> None:
        chance = random.Random(0)
        for collection in COLLECTIONS:
            await index.put(ANN, collection, random_entries(chance, 1_000, 60, ("", MINE)))
        for mode in self.modes:
            query = " ".join(chance.sample(VOCABULARY, 3))
            confined = await index.search(ANN, "units", query, limit=9, mode=mode, owners=[MINE])
            same(confined, await index.search(ANN, "units", query, limit=9, mode=mode))

    async def test_a_turn_is_found_by_its_sentences_by_the_exchange_and_by_what_was_said_around(
        self, index: Index
    ) -> None:
        await index.put(ANN, "turns", TALK)
        found = await index.turns(ANN, "Ann: I planted the tomatoes.", limit=9)
        meaning, exchange, around = [
            {id_: scores[at] for id_, scores in scores_by_id(found).items()} for at in range(3)
        ]
        assert meaning["101"] == pytest.approx(1.0, abs=1e-4)
        assert exchange["101"] < meaning["101"]
        assert exchange["100"] == meaning["100"]  # nothing was said before
        assert all(around[turn] > 0 for turn in ("100", "102", "103", "104"))
        assert around["105"] == 0
        assert found.rarity.keys() == {"plant", "tomato"}
        assert found.named == {"ann"}
        assert (await index.turns(ANN, "Ann's tomatoes", limit=9)).named == {"ann"}

    async def test_candidates_have_the_rows_of_their_turns_and_of_those_beside_them(
        self, index: Index
    ) -> None:
        await index.put(ANN, "turns", TALK)
        found = await index.turns(ANN, "bicycle", limit=1)
        places = {seq: place for place, seq in enumerate(found.seqs)}
        assert found.after[places[103]] == places[104]
        assert found.before[places[104]] == places[103]
        assert found.seqs[: len(found)] == sorted(found.seqs[: len(found)])
        for rows in (found.block, await index.rows(ANN, ["103", "104", "999"])):
            held = {int(row["seq"]): row for row in rows.rows}
            for one in TALK[3:5]:
                assert one.context is not None
                features = turn_features(one.context.page, one.context.line)
                (expected,) = pack_without_vectors([features]).rows
                assert held[int(one.id)] == expected
        assert len((await index.rows(BOB, ["104"])).rows) == 0

    async def test_a_speaker_whose_turns_were_removed_is_known_no_more(self, index: Index) -> None:
        await index.put(ANN, "turns", TALK)
        await index.remove(ANN, "turns", [one.id for one in TALK[:-1]])
        assert (await index.turns(ANN, "Ann's tomatoes", limit=9)).named == {"ann"}
        await index.remove(ANN, "turns", [TALK[-1].id])
        assert (await index.turns(ANN, "Ann's tomatoes", limit=9)).named == frozenset()

    async def test_turns_beside_a_find_are_candidates_as_well(self, index: Index) -> None:
        await index.put(ANN, "turns", TALK)
        found = await index.turns(ANN, "bicycle", limit=1)
        assert set(turn_ids(found)) >= {"102", "103", "104"}
        assert not turn_ids(await index.turns(ANN, " ", limit=1))
        assert not turn_ids(await index.turns(ANN, "thunderstorms", limit=0))

    async def test_turns_told_in_a_period_are_candidates_whatever_else_is_nearer(self, index: Index) -> None:
        late_in_may = datetime(2023, 5, 24, 23, 30, tzinfo=timezone(-timedelta(hours=8)))
        red_bicycle = turn("200", "I bought a red bicycle.", said_at=late_in_may)
        june = [datetime(2023, 6, day, tzinfo=UTC) for day in range(1, 10)]
        crowd = [turn(f"30{n}", "We went to a concert.", said_at=day) for n, day in enumerate(june)]

        await index.put(ANN, "turns", [red_bicycle, *crowd, *TALK])

        async def found(first: date, last: date, session: SessionId | None = None) -> set[str]:
            periods = [(date(1, 1, 1), date(1, 1, 2)), (first, last)]
            hits = await index.turns(ANN, "Which concert?", limit=1, periods=periods, session=session)
            return set(turn_ids(hits)) - {"300", "301"}  # equal ones

        assert await found(date(2023, 5, 24), date(2023, 5, 24)) == {"200"}
        assert await found(date(2023, 6, 9), date(9999, 12, 31)) == {"308"}
        assert await found(date(2023, 5, 25), date(2023, 5, 31)) == set()
        assert await found(date(2023, 5, 20), date(2023, 5, 23)) == set()
        assert await found(date(2023, 5, 24), date(2023, 5, 24), session=TUESDAY) == {"105"}

    @pytest.mark.parametrize("collection", COLLECTIONS)
    async def test_a_timeframe_leaves_out_what_was_said_at_another_time_however_near_it_is(
        self, index: Index, collection: Collection
    ) -> None:
        west = timezone(-timedelta(hours=8))
        words = "I bought a red bicycle."
        may, june = datetime(2023, 5, 24, 23, 30, tzinfo=west), datetime(2023, 6, 9, 0, 30, tzinfo=UTC)
        entries = [
            turn("501", words, said_at=may),
            turn("502", words, said_at=june),
            turn("504", words),
            *(
                turn(f"60{n}", f"{words} {words}", said_at=datetime(2024, 1, 1 + n, tzinfo=UTC))
                for n in range(9)
            ),
        ]

        await index.put(ANN, collection, entries)

        async def found(*periods: Period, limit: int = 3) -> set[str]:
            within = Timeframe(periods=periods)
            hits = [
                await index.search(ANN, collection, "a red bicycle", limit=limit, mode=mode, within=within)
                for mode in self.modes
            ]
            each = [set(ids(one)) for one in hits]
            if collection == "turns":
                wider = [(date(2024, 1, 1), date(2024, 1, 31))]  # lets through what it finds, and more
                turns = await index.turns(ANN, "a red bicycle", limit=limit, periods=wider, within=within)
                each.append(set(turn_ids(turns)))
            assert all(one == each[0] for one in each)
            return each[0]

        assert await found((date(2023, 5, 24), date(2023, 5, 24))) == {"501"}
        assert await found((date(2023, 5, 25), date(2023, 5, 31))) == set()
        assert await found((date(2023, 6, 9), date(2023, 7, 1))) == {"502"}
        assert await found((date(2023, 5, 1), date(2023, 5, 31)), (date(2023, 6, 1), date(2023, 6, 30))) == {
            "501",
            "502",
        }
        assert await found((date(2025, 1, 1), date.max)) == set()
        assert await found() == set()
        assert await found(ALL_TIME, limit=99) == {entry.id for entry in entries} - {"504"}
        assert await index.undated(ANN, collection) == 1
        assert await index.undated(ANN, collection, session=TUESDAY) == 0
        assert await index.undated(BOB, collection) == 0

    async def test_a_timeframe_may_be_about_when_something_happened(self, index: Index) -> None:
        def unit(id_: str, *happened: date, active: bool = True) -> Entry:
            period = (happened[0], happened[-1]) if happened else None
            return replace(entry(id_, "Ann bought a red bicycle", active=active), event=period)

        entries = [
            unit("day", date(2023, 5, 7)),
            unit("year", date(2022, 1, 1), date(2022, 12, 31)),
            unit("unknown"),
            unit("old", active=False),
        ]

        await index.put(ANN, "units", entries)

        async def found(first: date, last: date) -> set[str]:
            within = Timeframe(periods=((first, last),), about="event")
            hits = [
                await index.search(ANN, "units", "red bicycle", limit=9, mode=mode, within=within)
                for mode in self.modes
            ]
            assert all(set(ids(one)) == set(ids(hits[0])) for one in hits)
            return set(ids(hits[0]))

        assert await found(date(2023, 5, 1), date(2023, 5, 31)) == {"day"}
        assert await found(date(2022, 6, 1), date(2022, 6, 2)) == {"year"}
        assert await found(date(2022, 12, 31), date(2023, 5, 7)) == {"day", "year"}
        assert await found(date(2023, 5, 8), date(2023, 5, 9)) == set()
        assert await index.undated(ANN, "units", about="event") == 1
        assert await index.undated(ANN, "units") == 0

    async def test_a_word_said_less_often_is_rarer_and_one_never_said_is_rarest(self, index: Index) -> None:
        await index.put(ANN, "turns", TALK)
        await index.put(BOB, "turns", [turn(f"40{n}", "a harbour at dawn") for n in range(30)])
        found = await index.turns(ANN, "planted thunderstorms harbour", limit=3)
        rarity = found.rarity
        assert 0 < rarity["plant"] < rarity["thunderstorm"] < rarity["harbour"]
        inside = await index.turns(ANN, "planted thunderstorms harbour", limit=3, session=TUESDAY)
        assert inside.rarity == pytest.approx(rarity)
        assert found.total == inside.total == len(TALK)
        assert turn_ids(inside) == ["105"]

    async def test_turns_of_others_and_turns_removed_are_no_candidates(self, index: Index) -> None:
        await index.put(ANN, "turns", TALK)
        nothing = await index.turns(BOB, "Ann planted", limit=9)
        assert (turn_ids(nothing), nothing.named) == ([], frozenset())
        assert nothing.rarity == pytest.approx({"ann": math.log(2), "plant": math.log(2)})
        await index.remove(ANN, "turns", ["101"])
        left = await index.turns(ANN, "tomatoes", limit=9)
        assert set(turn_ids(left)) == {"100", "102", "103", "104", "105"}
        await index.drop(ANN)
        assert not turn_ids(await index.turns(ANN, "tomatoes", limit=9))

    async def test_putting_again_replaces(self, index: Index) -> None:
        await index.put(ANN, "units", [entry("u1", "Ann plays the cello"), *GARDEN])
        await index.put(ANN, "units", [entry("u2", "Ann sold the piano")])
        assert await index.count(ANN, "units") == len(GARDEN)
        assert ids(await index.search(ANN, "units", "piano", limit=5, mode="words")) == ["u2"]
        for erased in ("bicycle", "cello"):
            assert await index.search(ANN, "units", erased, limit=5, mode="words") == ()

    async def test_a_session_confines_the_search(self, index: Index) -> None:
        await index.put(ANN, "units", GARDEN)
        for mode in self.modes:
            hits = await index.search(ANN, "units", "tomatoes garden", limit=9, mode=mode, session=TUESDAY)
            assert hits[0].id == "u3"
            assert set(ids(hits)) <= {"u3", "u4"}

    async def test_inactive_entries_are_found_only_when_asked_for(self, index: Index) -> None:
        await index.put(ANN, "units", [*GARDEN, entry("old", "Ann planted roses", active=False)])
        for mode in self.modes:
            seen = await index.search(ANN, "units", "planted roses", limit=9, mode=mode)
            assert "old" not in ids(seen)
            all_of_it = await index.search(ANN, "units", "planted roses", limit=9, mode=mode, inactive=True)
            assert all_of_it[0].id == "old"
        await index.put(ANN, "units", [entry("old", "Ann planted roses")])
        assert "old" in ids(await index.search(ANN, "units", "roses", limit=9, mode="words"))

    async def test_spaces_and_collections_do_not_see_each_other(self, index: Index) -> None:
        await index.put(ANN, "units", GARDEN)
        await index.put(BOB, "units", [entry("u1", GARDEN[0].text)])
        await index.put(ANN, "turns", [turn("101", "a turn on thunderstorms")])
        assert ids(await index.search(BOB, "units", "tomatoes in the garden", limit=9)) == ["u1"]
        assert await index.search(BOB, "turns", "thunderstorms", limit=9) == ()
        assert ids(await index.search(ANN, "turns", "thunderstorms", limit=9)) == ["101"]
        assert (await index.count(ANN, "units"), await index.count(BOB, "units")) == (4, 1)
        await index.remove(BOB, "units", ["u1", "u2"])
        assert (await index.count(ANN, "units"), await index.count(BOB, "units")) == (4, 0)

    async def test_what_others_store_moves_no_score(self, index: Index) -> None:
        await index.put(ANN, "units", GARDEN)
        before = await index.search(ANN, "units", "tomatoes of the bicycle", limit=4)
        by_words = await index.search(ANN, "units", "tomatoes bicycle", limit=4, mode="words")
        await index.put(BOB, "units", [entry(f"b{n}", f"tomatoes {n}") for n in range(30)])
        same(await index.search(ANN, "units", "tomatoes of the bicycle", limit=4), before)
        after = await index.search(ANN, "units", "tomatoes bicycle", limit=4, mode="words")
        same(after, by_words)

    async def test_the_order_of_putting_does_not_matter(self, index: Index) -> None:
        entries = [*GARDEN, *(entry(f"t{n}", "Ann planted tomatoes in her garden") for n in range(9))]

        await index.put(ANN, "units", entries)
        await index.put(BOB, "units", entries[::-1])
        for mode in self.modes:
            left = await index.search(ANN, "units", "garden tomatoes of Ann", limit=6, mode=mode)
            right = await index.search(BOB, "units", "garden tomatoes of Ann", limit=6, mode=mode)
            assert ids(left) == ids(right)
            assert ids(left)[:6] == sorted(ids(left)[:6])

    async def test_a_query_without_words_finds_nothing(self, index: Index) -> None:
        await index.put(ANN, "units", GARDEN)
        for mode in self.modes:
            assert await index.search(ANN, "units", "", limit=5, mode=mode) == ()
            assert await index.search(ANN, "units", " \n\t ", limit=5, mode=mode) == ()
            assert await index.search(ANN, "units", "tomatoes", limit=0, mode=mode) == ()
        assert await index.search(ANN, "units", "what is it? …", limit=5, mode="words") == ()
        assert await index.search(ANN, "units", "what is it?", limit=5) != ()

    async def test_an_empty_space_is_empty(self, index: Index) -> None:
        assert await index.search(ANN, "units", "tomatoes", limit=5) == ()
        assert await index.count(ANN, "turns") == 0
        assert await index.mark(ANN) == History()
        await index.put(ANN, "units", [])
        await index.remove(ANN, "units", [])
        await index.remove(ANN, "units", ["never put"])
        await index.drop(ANN)

    async def test_marks_are_kept_for_each_space_and_go_with_it(self, index: Index) -> None:
        await index.put(ANN, "units", GARDEN)
        await index.put(ANN, "turns", TALK)
        await index.put(BOB, "units", GARDEN)
        await index.set_mark(ANN, upto(7))
        await index.set_mark(BOB, upto(3))
        await index.set_mark(ANN, upto(12))
        assert (await index.mark(ANN), await index.mark(BOB)) == (upto(12), upto(3))
        assert await index.count(ANN, "units") == len(GARDEN)
        await index.drop(ANN)
        assert (await index.mark(ANN), await index.mark(BOB)) == (History(), upto(3))
        assert await index.count(ANN, "units") == await index.count(ANN, "turns") == 0
        assert await index.count(BOB, "units") == len(GARDEN)

    async def test_what_was_stored_is_there_after_reopening(self, tmp_path: Path) -> None:
        index = await self.new_index(tmp_path)
        await index.put(ANN, "units", GARDEN)
        await index.set_mark(ANN, upto(41))
        before = await index.search(ANN, "units", "tomatoes", limit=5)
        await index.close()
        again = await self.new_index(tmp_path)
        assert await again.mark(ANN) == upto(41)
        same(await again.search(ANN, "units", "tomatoes", limit=5), before)
        await again.close()

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "   ",
            "a\x00b nul",
            "\ud800 lone \udfff surrogates",
            "日本語のテキスト",
            "🍅" * 300,
            "x" * 5000,
            "word " * 200_000,
        ],
        ids=["empty", "blank", "nul", "surrogates", "japanese", "emoji", "one-long-word", "a-megabyte"],
    )
    async def test_odd_text_is_stored_and_searched(self, index: Index, text: str) -> None:
        await index.put(ANN, "units", [entry("odd", text), entry("plain", "a plain red bicycle")])
        assert await index.count(ANN, "units") == 2
        for mode in self.modes:
            await index.search(ANN, "units", text, limit=3, mode=mode)
            assert ids(await index.search(ANN, "units", "bicycle", limit=3, mode=mode))[0] == "plain"

    @pytest.mark.parametrize(
        "name",
        ["", "../../etc", "a\x00b", "\ud800", '"; {"$ne": 1}', "*", "100%", "%31", "x" * 4000, "ёж 🦔"],
    )
    async def test_hostile_names_are_only_names(self, index: Index, name: str) -> None:
        space, session = SpaceId(name), SessionId(name)

        await index.put(ANN, "units", GARDEN)
        await index.put(space, "units", [entry(name, "tomatoes", session=session), entry("v", "tomatoes")])
        await index.set_mark(space, upto(5))
        found = await index.search(space, "units", "tomatoes", limit=9, session=session)
        assert ids(found) == [name]
        assert set(ids(await index.search(space, "units", "tomatoes", limit=9))) == {name, "v"}
        await index.remove(space, "units", [name])
        assert await index.count(space, "units") == 1
        await index.drop(space)
        assert (await index.count(space, "units"), await index.mark(space)) == (0, History())
        assert await index.count(ANN, "units") == len(GARDEN)

    async def test_concurrent_calls_do_not_disturb_each_other(self, index: Index) -> None:
        async def write(space: SpaceId) -> None:
            for start in range(0, 40, 8):
                await index.put(
                    space, "units", [entry(f"u{n}", f"number {n}") for n in range(start, start + 8)]
                )
            await index.set_mark(space, upto(1))

        async def read() -> None:
            for _ in range(20):
                await index.search(ANN, "units", "number 7", limit=3)

        async with anyio.create_task_group() as tasks:
            for call in (write, write):
                tasks.start_soon(call, ANN)
            tasks.start_soon(write, BOB)
            tasks.start_soon(read)
            tasks.start_soon(read)
        assert (await index.count(ANN, "units"), await index.count(BOB, "units")) == (40, 40)

    async def test_a_closed_index_says_so(self, index: Index) -> None:
        await index.close()
        await index.close()
        calls: list[Awaitable[Any]] = [
            index.search(ANN, "units", "tomatoes", limit=1),
            index.put(ANN, "units", GARDEN),
            index.mark(ANN),
            index.flush(),
        ]
        for call in calls:
            with pytest.raises(MemoryClosed):
                await call
