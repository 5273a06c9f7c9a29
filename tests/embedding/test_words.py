"""How near a text comes to saying a word: by word vectors where there are some, else by stems."""

from pathlib import Path

import numpy as np
import pytest

from tiermem.embedding import lexicon_of
from tiermem.embedding.hashed import HashEmbedder
from tiermem.embedding.minilm import MiniLMEmbedder
from tiermem.embedding.words import Stems, WordPieces
from tiermem.errors import EmbedderUnavailable

pytestmark = pytest.mark.anyio

VOCABULARY = ["cat", "kitten", "train", "rain"]
ROWS = np.array([[9, 1, 0], [9, 2, 0], [0, 1, 9], [1, 9, 0]], np.float32)


def cut(text: str) -> list[int]:
    return [VOCABULARY.index(word) for word in text.split()]


def test_stems_cover_a_word_or_do_not() -> None:
    assert Stems().similarity(["bicycles", "rain"], ["a red bicycle", ""]) == [[1.0, 0.0], [0.0, 0.0]]


def test_a_text_covers_a_word_as_well_as_its_most_alike_word() -> None:
    lexicon = WordPieces(cut, ROWS)
    ((same, alike, other, nothing),) = lexicon.similarity(["cat"], ["train cat", "train kitten", "train", ""])
    assert same == pytest.approx(1.0)
    assert 0.8 < alike < 1.0
    assert other == nothing == 0.0


def test_a_word_of_several_pieces_is_covered_by_halves() -> None:
    lexicon = WordPieces(cut, ROWS)
    ((half,),) = lexicon.similarity(["cat train"], ["cat"])
    assert half == pytest.approx(0.5)
    assert lexicon.similarity([""], ["cat"]) == [[0.0]]
    assert lexicon.similarity(["cat"], []) == [[]]
    assert lexicon.similarity([], ["cat"]) == []


async def test_an_embedder_without_words_is_read_by_stems() -> None:
    assert isinstance(await lexicon_of(HashEmbedder()), Stems)


async def test_without_weights_there_is_no_lexicon(tmp_path: Path) -> None:
    with pytest.raises(EmbedderUnavailable):
        await lexicon_of(MiniLMEmbedder(tmp_path))


async def test_the_model_knows_that_a_physician_is_a_doctor() -> None:
    lexicon = await lexicon_of(MiniLMEmbedder(threads=1))
    doctor, bicycle = lexicon.similarity(["doctor", "bicycle"], ["my physician called"])
    assert doctor[0] > 0.3 > bicycle[0]
    ((inside,),) = lexicon.similarity(["doctor"], ["word " * 2000 + "doctor"])
    assert inside == pytest.approx(1.0, abs=1e-3)


def test_words_of_scripts_without_spaces_and_emoji_are_compared_by_their_characters() -> None:
    def unknown(text: str) -> list[int]:
        return [0] * len(text.split())  # one piece for all that a vocabulary lacks

    lexicon = WordPieces(unknown, ROWS)
    for word, held, other in (
        ("草莓", "草莓味的", "天气很好"),
        ("火曜", "火曜日に", "今日は寒い"),
        ("🔑", "the 🔑7", "a 🚪"),
    ):
        assert lexicon.similarity([word], [held, other]) == [[1.0, 0.0]]
