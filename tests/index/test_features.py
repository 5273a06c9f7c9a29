"""Rows of numbers: what they say of turns and units, and that they hold no text."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagestore import SessionId, Turn
from tests.text.dialogue import page_of
from tiermem.embedding.hashed import HashEmbedder
from tiermem.index import features
from tiermem.index.candidates import pack_without_vectors
from tiermem.index.encoding import turn_pieces
from tiermem.index.features import (
    Block,
    RowFeatures,
    have_values,
    join_blocks,
    pack,
    quantise,
    turn_features,
    wanted_values,
)
from tiermem.index.rows import RowFilter, Rows
from tiermem.index.values import Entry
from tiermem.model import TurnFilter, Wanted
from tiermem.text import search_stems, stems

SAID = Turn(
    speaker="Ann Lee",
    role="user",
    text="The vault of the blue house is open. Did you see it yesterday?",
    said_at=datetime(2023, 5, 8, 23, 30, tzinfo=UTC),
    metadata={"room": "cellar", "tags": ["blue", 3], "ok": True, "nested": {"a": 1}},
)
EMBEDDER = HashEmbedder(32)

texts = st.text(st.sampled_from("ab é漢🙂.?! \n\ud800"), max_size=40)
names = st.text(st.sampled_from("aAéß漢 '\ud800"), max_size=6)
values = st.one_of(st.text(max_size=3), st.integers(-2, 2), st.booleans(), st.sampled_from([0.0, 1.0, 1.5]))


def features_of(turn: Turn) -> RowFeatures:
    return turn_features(page_of([turn]), 0)


async def packed(rows: Sequence[RowFeatures]) -> Block:
    given = dict.fromkeys(text for one in rows for text in one.texts)
    vectors = dict(zip(given, await EMBEDDER.embed(list(given)), strict=True))
    return pack(rows, vectors, EMBEDDER.dimensions)


def same_blocks(one: Block, other: Block) -> bool:
    names = [name for kind in features.ITEMS.values() for name in kind]
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in ["rows", *names])


def test_the_row_of_a_turn_says_what_ranking_asks() -> None:
    row = features_of(SAID)
    assert row.day == date(2023, 5, 8).toordinal()
    assert row.flags == (
        features.ASKS | features.TELLS_TIME | features.IS_USER | features.IS_SHORT | features.HAS_WHOLE
    )
    assert (row.length, row.content) == (len(search_stems(SAID.text)), len(stems(SAID.text)))
    assert row.texts == (f"Ann Lee: {SAID.text}", *turn_pieces(SAID.text, "Ann Lee"))
    assert len(row.texts) == 3


def test_a_turn_of_one_sentence_has_one_vector_and_a_long_one_no_vector_of_the_whole() -> None:
    short, long = features_of(replace(SAID, text="Hello.")), features_of(replace(SAID, text="Hello. " * 99))
    assert short.texts == ("Ann Lee: Hello.",)
    assert short.flags & (features.IS_SHORT | features.HAS_WHOLE) == features.IS_SHORT
    assert long.texts == tuple(turn_pieces("Hello. " * 99, "Ann Lee"))
    assert not long.flags & (features.IS_SHORT | features.HAS_WHOLE)


def test_a_line_without_a_turn_has_no_row() -> None:
    page = page_of([SAID])
    erased = replace(page, lines=(replace(page.lines[0], turn=None),))
    with pytest.raises(ValueError, match="has no turn"):
        turn_features(erased, 0)


@given(text=texts, speaker=names, role=st.none() | names)
def test_every_turn_has_a_row(text: str, speaker: str, role: str | None) -> None:
    row = features_of(Turn(speaker=speaker, text=text, role=role))
    assert pack([row], {}, 4).rows["flags"][0] == row.flags
    assert bool(row.flags & features.ASKS) == text.rstrip().endswith("?")
    assert sum(row.terms.values()) == row.length


def test_the_words_of_a_name_are_labels_and_those_of_a_role_are_not() -> None:
    assert features_of(SAID).labels == tuple(map(features.name_label, ("ann", "lee")))
    assert features_of(replace(SAID, speaker="user", role="user")).labels == ()


wanted = st.builds(Wanted, key=st.sampled_from(["a", "b"]), value=values)
asked_for = st.builds(
    TurnFilter,
    speaker=st.none() | names,
    role=st.none() | names,
    where=st.lists(wanted, max_size=2).map(tuple),
)


@given(
    asked=asked_for,
    speaker=names,
    role=st.none() | names,
    metadata=st.dictionaries(st.sampled_from(["a", "b"]), values | st.lists(values, max_size=2), max_size=2),
)
def test_a_row_has_the_values_that_a_filter_asks_for_if_the_filter_keeps_its_turn(
    asked: TurnFilter, speaker: str, role: str | None, metadata: Mapping[str, object]
) -> None:
    """Equal numbers are one value, `True` and 1 are two, and names have no case."""
    turn = Turn(speaker=speaker, text="Hello", role=role, metadata=metadata)
    block = pack_without_vectors([features_of(turn)])
    assert have_values(block, wanted_values(asked)).tolist() == [asked.keeps(turn)]


@pytest.mark.parametrize("number", [10**5000, -(10**5000), 1e308, float("inf"), 2**53 + 1, -0.0], ids=hash)
def test_numbers_of_any_size_are_values(number: float) -> None:
    turn = Turn(speaker="Ann", text="Hello", metadata={"size": number})
    asked = TurnFilter(where=(Wanted(key="size", value=number),))
    assert set(wanted_values(asked)) <= set(features_of(turn).values)


def test_a_row_with_more_values_than_it_can_have_may_have_any() -> None:
    turn = Turn(speaker="Ann", text="Hello", metadata={"tags": list(range(features.MOST_VALUES + 5))})
    block = pack_without_vectors([features_of(turn), features_of(SAID)])
    assert have_values(block, wanted_values(TurnFilter(speaker="Bob"))).tolist() == [True, False]
    rows = Rows(1)
    rows.append(block)
    allowed = RowFilter(values=wanted_values(TurnFilter(where=(Wanted(key="tags", value=65_539),))))
    assert rows.visible(allowed).tolist() == [True, False]


@pytest.mark.anyio
async def test_a_block_holds_no_text() -> None:
    block = await packed([features_of(SAID)])
    held = b"".join(getattr(block, name).tobytes() for name in ("rows", *features.ITEM_TYPES)).lower()
    told = [SAID.text, SAID.speaker, "main", *SAID.text.split(), "Ann", "cellar", "vault", "yesterday"]
    assert not [word for word in told if len(word) > 2 and word.lower().encode() in held]


@pytest.mark.anyio
async def test_a_row_of_a_unit_has_its_words_its_event_and_its_id() -> None:
    days = (date(2023, 5, 7), date(2023, 5, 9))
    unit = Entry(id="u", session=SessionId("s"), text="Ann left.", scene="Ann at sea", event=days)
    row = features.unit_features(unit)
    assert row.event == tuple(day.toordinal() for day in days)
    assert sorted(row.terms.values()) == [0, 1, 1]
    block = await packed([row])
    assert (block.id.tobytes(), block.event.tolist()) == (b"u", list(row.event))
    assert block.rows["flags"].tolist() == [0]
    assert features.unit_features(replace(unit, active=False)).flags == features.IS_INACTIVE


@given(counts=st.lists(st.integers(-6, 6), min_size=4, max_size=4))
def test_vectors_of_small_counts_are_kept_exactly(counts: list[int]) -> None:
    given_vector = np.array([[*counts, 6]], np.float32)
    levels, scales = quantise(given_vector / np.linalg.norm(given_vector))
    assert np.array_equal(levels.astype(int) * 6, given_vector.astype(int) * features.LEVELS)
    again = quantise(levels * scales[:, None])
    assert np.array_equal(levels, again[0])


def test_vectors_are_near_what_was_given_and_zero_stays_zero() -> None:
    given_vectors = np.random.default_rng(1).normal(size=(50, 384)).astype(np.float32)
    given_vectors /= np.linalg.norm(given_vectors, axis=1, keepdims=True)
    levels, scales = quantise(given_vectors)
    kept = levels * scales[:, None]
    assert np.allclose(np.linalg.norm(kept, axis=1), 1, atol=1e-6)
    assert (kept * given_vectors).sum(axis=1).min() > 0.999
    assert quantise(np.zeros((1, 4), np.float32))[1].tolist() == [0]


@pytest.mark.anyio
async def test_a_row_without_one_of_its_vectors_has_none() -> None:
    one, other = features_of(SAID), features_of(replace(SAID, text="Hello."))
    vectors = dict(zip(other.texts, await EMBEDDER.embed(other.texts), strict=True))
    block = pack([one, other], vectors, EMBEDDER.dimensions)
    assert block.rows["vectors"].tolist() == [0, 1]
    assert block.vectors.shape == (1, EMBEDDER.dimensions)
    assert pack([], {}, EMBEDDER.dimensions).vectors.shape == (0, EMBEDDER.dimensions)


@pytest.mark.anyio
async def test_rows_are_selected_joined_and_emptied() -> None:
    said = [
        replace(SAID, text=text) for text in ("One two. Three four five six.", "Seven?", "", "Eight nine")
    ]
    block = await packed([features_of(turn) for turn in said])
    parts = [block.select(np.array([at])) for at in range(len(said))]
    assert same_blocks(join_blocks(parts), block)
    assert same_blocks(join_blocks([parts[2], parts[0]]), block.select(np.array([2, 0])))
    emptied = block.without([0])
    assert same_blocks(join_blocks([parts[1], parts[2], parts[3]]), emptied.select(np.array([1, 2, 3])))
    left = emptied.select(np.array([0]))
    assert left.rows["flags"].tolist() == [features.IS_EMPTY]
    assert not any(len(getattr(left, name)) for name in features.ITEM_TYPES)
    assert not left.rows["session"].any()
