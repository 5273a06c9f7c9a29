"""Rows of one space: what they find, and that turns rank as they did without rows."""

import json
import math
import random
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pagestore import Page, SpaceId, Turn
from tests.index.dialogues import (
    EMBEDDER,
    Ranked,
    RankedByIndex,
    RoundedEmbedder,
    Said,
    blocks_of,
    differences,
    features_of,
    owner_name,
    pages_of,
    query_of,
    ranked_by_rows,
    rows_of,
)
from tests.index.plain_rows import PlainCandidate, PlainCandidates, PlainRows
from tiermem.dialogue.locomo import parse_locomo
from tiermem.embedding.hashed import HashEmbedder
from tiermem.embedding.words import WordPieces
from tiermem.index.candidates import Candidates
from tiermem.index.features import (
    IS_EMPTY,
    RowFeatures,
    join_blocks,
    pack,
    quantise,
    wanted_values,
)
from tiermem.index.rows import ALL_ROWS, TIES, RowFilter, RowQuery, Rows, multiply
from tiermem.index.segment_file import SegmentFile
from tiermem.model import TurnFilter
from tiermem.reading.ranking import cover_by_pieces
from tiermem.text.question import Question

WORDS = ("ann", "bob", "garden", "ferry", "beans", "red", "bicycle", "yesterday", "May", "lost", "?", ".")
ASKED = datetime(2023, 6, 1, tzinfo=UTC)
QUESTIONS = (
    "When did Ann lose the red bicycle?",
    "What did I say of the garden on 8 May 2023?",
    "Does Bob grow beans?",
    "ferry",
)

turns = st.builds(
    Turn,
    speaker=st.sampled_from(["Ann", "Bob", "user"]),
    role=st.sampled_from(["user", "assistant", None]),
    text=st.lists(st.sampled_from(WORDS), min_size=1, max_size=14).map(" ".join),
    said_at=st.sampled_from([None, *(datetime(2023, 5, day) for day in (1, 8, 9, 20))]),  # noqa: DTZ001
    agent=st.sampled_from([None, None, None, "cook", "guide"]),
    trust=st.sampled_from([None, "tool", "web"]),
    metadata=st.sampled_from([{}, {"topic": "trip"}, {"topic": ["trip", 2]}]),
)
dialogues = st.lists(
    st.builds(Said, turn=turns, session=st.sampled_from(["s1", "s1", "s2"])), min_size=1, max_size=40
)
filters = st.builds(
    RowFilter,
    session=st.sampled_from([None, "s1"]),
    owners=st.sampled_from([None, (), (owner_name("cook"),), (owner_name("cook"), owner_name("guide"))]),
    said=st.sampled_from([None, (), ((date(2023, 5, 2), date(2023, 5, 9)),)]),
    values=st.sampled_from(
        [
            (),
            wanted_values(TurnFilter(speaker="ann")),
            wanted_values(TurnFilter(speaker="Bob", role="user")),
        ]
    ),
)


def without_turns(pages: Iterable[Page], allowed: RowFilter) -> list[Page]:
    """The pages of what a filter allows by session and owner."""
    return [
        page
        for page in pages
        if allowed.session in (None, page.session)
        and (allowed.owners is None or owner_name(page.agent) in ("", *allowed.owners))
    ]


def plain_of(found: Candidates) -> PlainCandidates:
    seqs = found.block.rows["seq"].tolist()

    def number(value: float) -> float | None:
        return None if math.isnan(value) else round(value, 6)

    by_seq = {
        seqs[at]: PlainCandidate(
            meaning=number(found.meaning[at]),
            exchange=number(found.exchange[at]),
            around=round(float(found.around[at]), 6),
            before=None if found.before[at] < 0 else seqs[found.before[at]],
            after=None if found.after[at] < 0 else seqs[found.after[at]],
        )
        for at in range(len(found))
    }
    return PlainCandidates(by_seq, found.named, found.rarity, found.total)


def rounded(found: PlainCandidates) -> PlainCandidates:
    by_seq = {
        seq: replace(
            one,
            meaning=None if one.meaning is None else round(one.meaning, 6),
            exchange=None if one.exchange is None else round(one.exchange, 6),
            around=round(one.around, 6),
        )
        for seq, one in found.by_seq.items()
    }
    return replace(found, by_seq=by_seq)


def assert_same(now: PlainCandidates, then: PlainCandidates) -> None:
    now, then = rounded(now), rounded(then)
    assert now.named == then.named
    assert now.rarity == pytest.approx(then.rarity)
    assert now.by_seq.keys() == then.by_seq.keys()
    for seq, one in now.by_seq.items():
        other = then.by_seq[seq]
        assert (one.before, one.after) == (other.before, other.after), seq
        for name in ("meaning", "exchange", "around"):
            assert getattr(one, name) == pytest.approx(getattr(other, name), abs=1e-5), (seq, name)


async def vectors_of(features: Iterable[RowFeatures]) -> dict[str, list[float]]:
    texts = list(dict.fromkeys(text for row in features for text in row.texts))
    return dict(zip(texts, await EMBEDDER.embed(texts), strict=True))


def noise(text: str) -> list[float]:
    """A vector that has nothing to do with the words, near others and far from them alike."""
    vector = np.random.default_rng(crc32(text.encode())).normal(size=(1, 8)).astype(np.float32)
    levels, scales = quantise(vector)
    found: list[float] = (levels[0] * scales[0].astype(np.float64)).tolist()
    return found


@pytest.mark.anyio
@settings(max_examples=150, deadline=None)
@given(
    said=dialogues,
    question=st.sampled_from(QUESTIONS),
    allowed=filters,
    limit=st.sampled_from([1, 2, 30]),
    size=st.integers(1, 4),
    data=st.data(),
)
async def test_candidates_are_those_of_a_plain_implementation(
    *, said: list[Said], question: str, allowed: RowFilter, limit: int, size: int, data: st.DataObject
) -> None:
    """Whatever is filtered, emptied, without a vector, and appended in which order."""
    features = features_of(pages_of(said, turns=size))
    some = st.sets(st.sampled_from([row.seq for row in features]), max_size=5)
    emptied, unembedded = data.draw(some), data.draw(some)
    lacking = {text for row in features if row.seq in unembedded for text in row.texts}
    vectors = {text: noise(text) for row in features for text in row.texts if text not in lacking}
    rows = Rows(8)
    # Which of many that tie are taken depends on the order of appending: at this limit all are.
    for row in data.draw(st.permutations(features)) if limit == 30 else features:
        rows.append(pack([row], vectors, 8))
    rows.empty([rows.ids()[str(seq)] for seq in emptied])
    live = [row for row in features if row.seq not in emptied]
    vector = noise(question) if data.draw(st.booleans()) else None
    query = RowQuery(text=question, vector=vector, periods=Question(question, ASKED).periods)
    then = PlainRows(live, vectors).candidates(query, allowed, limit=limit)
    now = rows.candidates(query, allowed, limit=limit)
    assert_same(plain_of(now), then)


@pytest.mark.anyio
@settings(max_examples=60, deadline=None)
@given(
    said=dialogues,
    question=st.sampled_from(QUESTIONS),
    allowed=filters,
    limit=st.sampled_from([2, 30]),
    size=st.integers(1, 4),
)
async def test_turns_rank_as_by_another_index(
    *, said: list[Said], question: str, allowed: RowFilter, limit: int, size: int
) -> None:
    allowed = RowFilter(session=allowed.session, owners=allowed.owners)
    pages = pages_of(said, turns=size)
    before = await RankedByIndex.open(pages)
    owners = None if allowed.owners is None else list(allowed.owners)
    then = await before.rank(question, limit=limit, session=allowed.session, owners=owners)
    now = await ranked_by_rows(await rows_of(pages), question, allowed, limit=limit)
    assert not differences(then, now)


def cut(text: str) -> list[int]:
    """Pieces of at most three letters."""
    words = text.lower().split()
    return [
        PIECES.index(word[at : at + 3]) for word in words for at in range(0, len(word), 3) if word in KNOWN
    ]


KNOWN = [word.lower() for word in WORDS]
PIECES = sorted({word[at : at + 3] for word in KNOWN for at in range(0, len(word), 3)})


class KnowsPieces(RoundedEmbedder):
    """The embedder with a vocabulary of pieces."""

    def __init__(self, pieces: WordPieces) -> None:
        super().__init__(EMBEDDER.dimensions)
        self._pieces = pieces

    async def lexicon(self) -> WordPieces:
        return self._pieces


@pytest.mark.anyio
@settings(max_examples=30, deadline=None)
@given(said=dialogues, question=st.sampled_from(QUESTIONS), size=st.integers(1, 4))
async def test_words_are_compared_by_their_pieces_as_in_another_index(
    said: list[Said], question: str, size: int
) -> None:
    said = [*said, Said(Turn(speaker="Bob", text="🚲 漢字"))]
    vectors = np.random.default_rng(2).normal(size=(len(PIECES), 4)).astype(np.float32)
    lexicon, pages = WordPieces(cut, vectors), pages_of(said, turns=size)
    index = await RankedByIndex.open(pages, KnowsPieces(lexicon))
    then = await index.rank(f"{question} 🚲 漢字", lexicon=lexicon)
    rows = await rows_of(pages, cut=lexicon.pieces)
    now = await ranked_by_rows(rows, f"{question} 🚲 漢字", cover=cover_by_pieces(lexicon))
    assert not differences(then, now)


def ten_sessions() -> list[list[Said]]:
    """Ten sessions, each of three agents that speak of the same things."""
    chance = random.Random(7)
    return [
        [
            Said(
                Turn(
                    speaker=chance.choice(["Ann", "Bob"]),
                    text=" ".join(chance.choices(WORDS, k=8)),
                    said_at=datetime(2023, 5, chance.randint(1, 28)),  # noqa: DTZ001
                    agent=agent,
                ),
                f"s{session}",
            )
            for _ in range(25)
        ]
        for session in range(10)
        for agent in (None, "cook", "guide")
    ]


@pytest.mark.anyio
async def test_interleaved_threads_rank_as_one_after_another() -> None:
    threads, chance = ten_sessions(), random.Random(3)
    turns = [thread for thread, said in enumerate(threads) for _ in said]
    chance.shuffle(turns)
    waiting = [iter(said) for said in threads]
    mixed = [next(waiting[thread]) for thread in turns]

    async def places(said: Sequence[Said], question: str, *, blocks: int) -> dict[tuple[object, ...], float]:
        pages = pages_of(said, turns=6)
        named = {
            line.seq: (page.session, page.agent, page.number, number)
            for page in pages
            for number, line in enumerate(page.lines)
        }
        ranked = await ranked_by_rows(await rows_of(pages, blocks=blocks), question, limit=1_000)
        return {named[seq]: score for seq, score in ranked}

    one_after_another = [one for said in threads for one in said]
    for question in QUESTIONS:
        apart = await places(one_after_another, question, blocks=0)
        assert len(apart) > 300
        assert await places(mixed, question, blocks=7) == pytest.approx(apart)


@pytest.mark.anyio
async def test_emptied_rows_leave_no_trace_and_other_numbers_stay() -> None:
    said = ten_sessions()[0]
    features = features_of(pages_of(said))
    rows = await rows_of(pages_of(said))
    gone = [3, 4, 24]
    rows.empty(gone)
    rows.empty(gone)
    assert rows.ids().keys() == {str(row.seq) for row in features if row.seq not in gone}
    left = rows.select(np.array(gone))
    assert left.rows["flags"].tolist() == [IS_EMPTY] * 3
    assert left.rows["seq"].tolist() == gone
    assert not len(left.terms)
    held = b"".join(column.values.tobytes() for column in rows._items.values())
    for one in (await blocks_of(features))[3:5]:
        assert one.vectors[0].tobytes() not in held
        assert one.terms.tobytes() not in held
    rows.append(pack([replace(features[0], seq=77, page=99)], {}, EMBEDDER.dimensions))
    assert rows.ids(25) == {"77": 25}


@pytest.mark.anyio
async def test_neighbours_are_the_nearest_rows_that_may_be_seen_as_far_as_the_next_page() -> None:
    days = [1, 2, 2, 1, 2, 2, 2, 2, 1]
    said = [Turn(speaker="Ann", text="The ferry.", said_at=datetime(2023, 5, day)) for day in days]  # noqa: DTZ001
    pages = pages_of(map(Said, said), turns=2)
    allowed = RowFilter(said=((date(2023, 5, 1), date(2023, 5, 1)),))
    query = await query_of(Question("ferry", ASKED))
    found = (await rows_of(pages)).candidates(query, allowed, limit=30)
    by_seq = plain_of(found).by_seq
    assert [(seq, one.before, one.after) for seq, one in by_seq.items()] == [
        (0, None, 3),
        (3, 0, None),
        (8, None, None),
    ]


def test_the_vectors_of_an_emptied_row_do_not_count_for_the_one_before() -> None:
    said = [
        Said(Turn(speaker="Ann", text=text)) for text in ("The ferry left.", "It came back. It left again.")
    ]
    features = features_of(pages_of(said))
    rows = Rows(8)
    rows.append(pack(features, {text: noise(text) for row in features for text in row.texts}, 8))
    rows.empty([1])
    far = [-number for number in noise(features[0].texts[0])]
    found = rows.candidates(RowQuery(text="ferry", vector=far), limit=30)
    assert found.meaning.tolist() == pytest.approx([-1.0])


@pytest.mark.anyio
async def test_a_row_without_vectors_is_found_by_its_words() -> None:
    features = features_of(pages_of(ten_sessions()[0]))
    rows = Rows(EMBEDDER.dimensions)
    rows.append(pack(features, {}, EMBEDDER.dimensions))
    query = await query_of(Question("ferry", ASKED))
    found = rows.candidates(query, limit=30)
    assert len(found)
    assert np.isnan(found.meaning).all()


@pytest.mark.anyio
async def test_rows_of_a_file_find_what_appended_rows_find(tmp_path: Path) -> None:
    said = [one for thread in ten_sessions()[:6] for one in thread]
    blocks, space = await blocks_of(features_of(pages_of(said))), SpaceId("one")
    rows, loaded = Rows(EMBEDDER.dimensions), Rows(EMBEDDER.dimensions)
    file, reader = (SegmentFile(tmp_path / "rows.sqlite", EMBEDDER.dimensions) for _ in range(2))
    state = None
    for start in range(0, len(blocks), 20):
        block = join_blocks(blocks[start : start + 20])
        rows.append(block)
        file.append(space, block)
        read = reader.load(space, state)
        state = read.state
        assert read.block is not None
        loaded.append(read.block)
    rows.empty([7, 9])
    file.empty(space, [7, 9])
    again = Rows(EMBEDDER.dimensions)
    whole = reader.load(space, state).block
    assert whole is not None
    again.append(whole)
    loaded.empty([7, 9])
    for question in QUESTIONS:
        query = await query_of(Question(question, ASKED))
        expected = plain_of(rows.candidates(query, limit=30))
        assert_same(plain_of(loaded.candidates(query, limit=30)), expected)
        assert_same(plain_of(again.candidates(query, limit=30)), expected)
    file.close()
    reader.close()


@pytest.mark.anyio
async def test_all_that_tie_with_the_last_are_candidates_up_to_a_limit() -> None:
    async def count(turns: int) -> int:
        said = [Said(Turn(speaker="Ann", text="The ferry."), f"s{at}") for at in range(turns)]
        rows = await rows_of(pages_of(said), blocks=0)
        return len(rows.candidates(await query_of(Question("ferry", ASKED)), limit=10))

    assert await count(15) == 15
    assert await count(50) == TIES * 10


def test_nothing_is_found_without_rows() -> None:
    found = Rows(4).candidates(RowQuery(text="ferry", vector=[1.0, 0, 0, 0]), ALL_ROWS, limit=30)
    assert not len(found)
    assert not found.named


@pytest.mark.parametrize("dimensions", [64, 1024, 1536])
def test_products_are_exact(dimensions: int) -> None:
    chance = np.random.default_rng(1)
    vectors = chance.integers(-120, 121, (700, dimensions)).astype(np.int8)
    vectors[0] = 120
    for asked in (vectors[1], vectors[0]):
        products = vectors.astype(np.int64) @ asked.astype(np.int64)
        assert np.array_equal(multiply(vectors, asked), products)
        assert multiply(vectors[5:6], asked)[0] == products[5]


def locomo(shared: Path, count: int) -> list[tuple[list[Page], list[str]]]:
    document = json.loads((shared / "data/locomo/locomo_dev7.json").read_text(encoding="utf-8"))[:count]
    found = []
    for raw, sample in zip(document, parse_locomo(document), strict=True):
        said = [Said(turn, session.session) for session in sample.sessions for turn in session.turns]
        # An index that looks no further than a page does not see what is said after its last turn.
        found.append((pages_of(said, turns=999), [one["question"] for one in raw["qa"]]))
    return found


@pytest.mark.shared
@pytest.mark.anyio
async def test_turns_of_locomo_rank_as_by_another_index(shared: Path) -> None:
    for pages, questions in locomo(shared, 2):
        before, rows = await RankedByIndex.open(pages), await rows_of(pages, blocks=0)
        for question in questions[:60]:
            then, now = await before.rank(question), await ranked_by_rows(rows, question)
            assert not differences(then, now), question


@pytest.mark.shared
@pytest.mark.anyio
async def test_eight_bits_change_few_of_the_best_turns(shared: Path) -> None:
    embedder, overlaps = HashEmbedder(128), []
    for pages, questions in locomo(shared, 1):
        before, rows = await RankedByIndex.open(pages, embedder), await rows_of(pages, embedder, blocks=0)
        for question in questions[:60]:
            then = await before.rank(question)
            now = await ranked_by_rows(rows, question, embedder=embedder)
            overlaps.append(len(best_seqs(then) & best_seqs(now)) / 5)
    assert sum(overlaps) / len(overlaps) >= 0.99


def best_seqs(ranked: Ranked) -> set[int]:
    return {seq for seq, _ in ranked[:5]}
