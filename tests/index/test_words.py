"""An index of words alone ranks as others rank by words, and nothing in it has to do with meaning."""

import pytest

from pagestore import SpaceId
from tiermem.index.bm25 import rarity
from tiermem.index.features import RowFeatures, count_terms, hash_name
from tiermem.index.values import turn_id
from tiermem.index.words import WordIndex

pytestmark = pytest.mark.anyio

SPACE = SpaceId("home")
SAID = ("the ferry was late", "a red bicycle", "we sold the bicycle", "beans grow")


def row_of(seq: int, text: str, owner: str = "") -> RowFeatures:
    terms = count_terms(text)
    return RowFeatures(
        seq=seq, session=1, owner=hash_name(owner), line=seq, length=sum(terms.values()), terms=terms
    )


async def filled() -> WordIndex:
    index = WordIndex()
    rows = [row_of(seq, text) for seq, text in enumerate(SAID)]
    rows += [row_of(100 + seq, text, "bob") for seq, text in enumerate(SAID)]
    await index.put_rows(SPACE, "turns", [turn_id(row.seq) for row in rows], rows)
    return index


async def test_turns_are_found_by_their_words_and_have_no_meaning() -> None:
    index = await filled()
    hits = await index.search(SPACE, "turns", "red bicycle", limit=9, mode="words", owners=())
    assert [hit.id for hit in hits] == ["1", "2"]
    found = await index.turns(SPACE, "red bicycle", limit=9, owners=())
    assert {1, 2} <= set(found.seqs[: len(found)])
    assert all(found.meaning != found.meaning)  # NaN
    assert await index.search(SPACE, "turns", "red bicycle", limit=9, mode="dense") == ()


async def test_a_word_is_as_rare_as_the_turns_that_hold_it_themselves_and_may_be_seen_are_few() -> None:
    """Words around say nothing of a turn without vectors: in a short session every turn is around all."""
    index = await filled()
    assert (await index.turns(SPACE, "ferry bicycle", limit=9, owners=())).rarity == {
        "ferri": rarity(4, 1),
        "bicycl": rarity(4, 2),
    }
    assert (await index.turns(SPACE, "ferry", limit=9, owners=("bob",))).rarity == {"ferri": rarity(8, 2)}


async def test_a_row_that_is_put_again_replaces_what_it_was() -> None:
    index = await filled()
    await index.put_rows(SPACE, "turns", ["1"], [row_of(1, "a green tram")])
    assert [hit.id for hit in await index.search(SPACE, "turns", "red", limit=9, mode="words")] == ["101"]
    assert await index.count(SPACE, "turns") == 8
