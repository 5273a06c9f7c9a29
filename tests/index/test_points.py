"""Points: what a server is sent of an entry, and over what it ranks."""

import json
import random
from array import array
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any

import pytest
from qdrant_client import models

from pagestore import SessionId, Turn
from tiermem.embedding.hashed import HashEmbedder
from tiermem.errors import IndexMismatch
from tiermem.index.entries import turn_entries
from tiermem.index.points import PointFilter
from tiermem.index.qdrant import QdrantIndex
from tiermem.index.row_index import RowIndex
from tiermem.index.testing import (
    ANN,
    MINE,
    MONDAY,
    OTHER,
    TALK,
    entry,
    page_of,
    random_entries,
    scores_by_id,
)

pytestmark = pytest.mark.anyio


async def test_the_corpus_of_a_filter_is_all_that_is_of_its_owners() -> None:
    days = ((date(2023, 5, 1), date(2023, 5, 9)),)
    allowed = PointFilter(
        space="ann",
        session="s",
        owners=("o",),
        is_active=True,
        when=(("said_at", "said_at", days),),
        among=("1",),
    )
    assert allowed.corpus == PointFilter(space="ann", owners=("o",))


async def test_a_server_is_sent_no_word_and_no_name_but_those_of_spaces_and_entries() -> None:
    index = QdrantIndex(":memory:", HashEmbedder())
    said = [
        Turn(speaker="Caroline", text="The ferry leaves at nine."),
        Turn(speaker="Bob", text="Pixel barks."),
    ]
    secret = SessionId("whatsapp-friends")
    await index.put(ANN, "turns", turn_entries(page_of(said, 7, secret), None, owner='["planner"]'))
    unit = replace(
        entry("u1", "Caroline keeps a cello", session=secret), owner='["planner"]', scene="regatta"
    )
    await index.put(ANN, "units", [unit])
    sent = json.dumps(
        [
            point.payload
            for name in ("tiermem-units", "tiermem-turns")
            for point in index._client.scroll(name, limit=99, with_payload=True)[0]
        ]
    ).lower()
    assert '"u1"' in sent
    for word in ("caroline", "bob", "ferry", "pixel", "cello", "regatta", "whatsapp", "planner"):
        assert word not in sent
    await index.close()


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"owners": (MINE,)},
        {"session": MONDAY},
        {"periods": [(date(2023, 5, 3), date(2023, 5, 9))]},
    ],
)
async def test_candidates_are_those_of_an_index_in_memory(given: dict[str, Any]) -> None:
    """The same rows, neighbours and scores; only which of many equal ones are cut off is the server's."""
    entries = random_entries(random.Random(3), 1_000, 120, ("", MINE, OTHER))
    question = "Did Ben see the cello in the drawer?"
    found = []
    for index in (QdrantIndex(":memory:", HashEmbedder()), RowIndex(HashEmbedder())):
        await index.put(ANN, "turns", entries)
        found.append(await index.turns(ANN, question, limit=200, **given))
        await index.close()
    server, memory = found
    assert len(server) > 20
    assert server.named == memory.named == {"ben"}
    assert server.rarity == pytest.approx(dict(memory.rarity), abs=1e-4)
    assert server.seqs[: len(server)] == memory.seqs[: len(memory)]
    seqs = [[one.seqs[at] if at >= 0 else -1 for at in one.before] for one in found]
    assert seqs[0] == seqs[1]
    for one, other in zip(scores_by_id(server).values(), scores_by_id(memory).values(), strict=True):
        assert one == pytest.approx(other, abs=1e-4)


@pytest.mark.parametrize("word", ["𝔠𝔢𝔩𝔩𝔬", "𠮷野家"])
async def test_words_around_that_came_as_halves_of_characters_are_those_of_an_index_in_memory(
    word: str,
) -> None:
    halves = "".join(chr(half) for half in array("H", word.encode("utf-16-le")))
    said = [Turn(speaker="Ann", text=text) for text in (f"The {halves} is here.", "Where?", "In the hall.")]
    for index in (QdrantIndex(":memory:", HashEmbedder()), RowIndex(HashEmbedder())):
        await index.put(ANN, "turns", turn_entries(page_of(said, 100, MONDAY), None))
        found = await index.turns(ANN, word, limit=9)
        assert (found.around > 0).tolist() == [True] * 3
        await index.close()


@pytest.mark.parametrize("row", ["", "AAAA", "not base64"])
async def test_a_damaged_row_asks_to_be_rebuilt(row: str) -> None:
    index = QdrantIndex(":memory:", HashEmbedder())
    await index.put(ANN, "turns", TALK)
    everything = models.Filter(must=[])
    index._client.set_payload("tiermem-turns", {"row": row}, points=everything)
    with pytest.raises(IndexMismatch, match=r"damaged.*`reindex`"):
        await index.turns(ANN, "thunderstorms", limit=3)
    await index.close()


async def test_a_turn_far_from_a_find_is_not_taken_for_the_one_beside_it() -> None:
    index = QdrantIndex(":memory:", HashEmbedder())
    texts = ["A red bicycle.", *(f"note {n}" for n in range(9)), "A red bicycle again."]
    said_at = datetime(2023, 5, 8, tzinfo=UTC)
    said = [Turn(speaker="Ann", text=text, said_at=said_at) for text in texts]
    await index.put(ANN, "turns", turn_entries(page_of(said, 100, MONDAY), None))
    found = await index.turns(ANN, "red bicycle", limit=1)
    places = {seq: place for place, seq in enumerate(found.seqs)}
    assert {100, 101} <= set(found.seqs[: len(found)]) or {109, 110} <= set(found.seqs[: len(found)])
    for seq in found.seqs[: len(found)]:
        before, after = found.before[places[seq]], found.after[places[seq]]
        assert before < 0 or found.seqs[before] == seq - 1
        assert after < 0 or found.seqs[after] == seq + 1
    await index.close()
