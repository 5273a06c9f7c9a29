"""Keyword search against rank-bm25, the oracle: same stems, same constants, same rankings."""

import json
from pathlib import Path

import pytest
from rank_bm25 import BM25Plus

from tiermem.embedding.hashed import HashEmbedder
from tiermem.index.bm25 import AVERAGE_STEMS, LENGTH_WEIGHT, SATURATION
from tiermem.index.embedded import open_embedded
from tiermem.index.interface import Index
from tiermem.index.qdrant import QdrantIndex
from tiermem.index.testing import ANN, BOB, entry
from tiermem.text import stems

pytestmark = pytest.mark.anyio
TOP = 10


@pytest.fixture
def dialogue(shared: Path) -> tuple[list[str], list[str]]:
    """The turns of one real conversation, and the questions about it."""
    conversation = json.loads((shared / "data/locomo/locomo_dev7.json").read_text())[0]
    sessions = [turns for name, turns in conversation["conversation"].items() if isinstance(turns, list)]
    turns = [f"{turn['speaker']}: {turn['text']}" for session in sessions for turn in session]
    return turns, [item["question"] for item in conversation["qa"]][::4]


def oracle(turns: list[str], question: str) -> list[float]:
    documents = [stems(turn) for turn in turns]
    model = BM25Plus(documents, k1=SATURATION, b=LENGTH_WEIGHT, delta=0)
    model.avgdl = AVERAGE_STEMS["units"]
    scores: list[float] = model.get_scores(sorted(set(stems(question)))).tolist()
    return scores


@pytest.mark.shared
@pytest.mark.parametrize("kind", ["embedded", "local mode"])
async def test_words_rank_as_the_oracle_ranks(
    dialogue: tuple[list[str], list[str]], tmp_path: Path, kind: str
) -> None:
    turns, questions = dialogue
    index: Index = (
        open_embedded(tmp_path, HashEmbedder(8))
        if kind == "embedded"
        else QdrantIndex(":memory:", HashEmbedder(8))
    )
    await index.put(ANN, "units", [entry(str(n), turn) for n, turn in enumerate(turns)])
    await index.put(BOB, "units", [entry(f"other {n}", turn) for n, turn in enumerate(turns[:50])])
    agreeing = 0
    for question in questions:
        expected = oracle(turns, question)
        best = sorted(expected, reverse=True)[:TOP]
        hits = await index.search(ANN, "units", question, limit=TOP, mode="words")
        found = [expected[int(hit.id)] for hit in hits]
        agreeing += found == pytest.approx(best[: len(found)], rel=0.02)
        # Our IDF is log(1 + (N - df + .5) / (df + .5)), the oracle's log((N + 1) / df): near, not equal.
        assert sum(found) >= 0.97 * sum(best)
    await index.close()
    assert agreeing >= 0.9 * len(questions)
