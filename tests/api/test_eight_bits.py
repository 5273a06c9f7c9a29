"""The embedder with 8-bit matrices, from the settings to a search; an index belongs to one precision."""

from pathlib import Path

import pytest

import tiermem
from tiermem.embedding.weights import find_weights
from tiermem.errors import EmbedderUnavailable, IndexMismatch, InvalidInput

SAID = [
    "Ann: I adopted a rescue dog called Biscuit.",
    "Bo: My sister moved from Lisbon to Oslo.",
    "Ann: The roof of the studio cost 1,450 dollars.",
]


@pytest.fixture(autouse=True)
def weights() -> None:
    try:
        find_weights()
    except EmbedderUnavailable as error:
        pytest.skip(str(error))


def test_it_finds_and_an_index_made_with_the_other_precision_is_refused_until_reindexed(
    address: Path | str,
) -> None:
    with tiermem.open(address, engine="local", embedder="minilm:int8") as memory:
        memory.add(SAID, session="s1")
        memory.flush()
        found = memory.search("which pet does she have?", kind="turns", limit=1)
        assert "Biscuit" in found[0].text
        assert memory.ask("Which pet does she have?").probability is not None
    with pytest.raises(IndexMismatch, match="int8"):
        tiermem.open(address, engine="local", embedder="minilm")
    with tiermem.open(address, engine="local", embedder="minilm", reindex=True) as memory:
        memory.reindex()
        assert "Biscuit" in memory.search("which pet does she have?", kind="turns", limit=1)[0].text


def test_a_precision_there_is_not_is_told(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="minilm:int8"):
        tiermem.open(tmp_path / "store", engine="local", embedder="minilm:int4")
