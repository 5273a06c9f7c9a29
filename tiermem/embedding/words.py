"""How alike single words are: by the embedder's own word vectors where it has them, else by their stems.

A text covers a word as well as its most alike word does. That costs no pass through the model: the
vectors are the rows the model itself starts from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from tiermem.embedding.interface import Embedder, KnowsWords, Lexicon
from tiermem.text import search_stems
from tiermem.text.words import is_compared_by_characters

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Rows = NDArray[np.float32]

FLOOR = 0.3
"""The cosine below which two word pieces have nothing to do with each other."""

KEPT = 8192
"""Texts whose word pieces are kept in memory, so that the next question need not cut them again."""


class Stems:
    """Knows a word by its stem: a text covers it or does not."""

    def similarity(self, words: Sequence[str], texts: Sequence[str]) -> list[list[float]]:
        """1 where the text has a word of the same stem."""
        text_stems = [frozenset(search_stems(text)) for text in texts]
        wanted = [frozenset(search_stems(word)) for word in words]
        return [[float(bool(one & text)) for text in text_stems] for one in wanted]


class WordPieces:
    """Compares the rows of a word-piece embedding, centred: common to all rows says nothing."""

    def __init__(self, cut: Callable[[str], Sequence[int]], rows: Rows) -> None:
        import numpy as np

        self._cut = cut
        self._rows = rows
        self._mean = rows.mean(axis=0)
        self._lengths = np.concatenate(
            [np.linalg.norm(part - self._mean, axis=1) for part in np.array_split(rows, 16)]
        )
        self._lengths[self._lengths == 0] = 1.0
        self.pieces = lru_cache(maxsize=KEPT)(self._different)
        """The different word pieces of a text, in rising order."""

    def similarity(self, words: Sequence[str], texts: Sequence[str]) -> list[list[float]]:
        """The mean over the pieces of a word of how near the nearest piece of the text is."""
        import numpy as np

        text_pieces = [self.pieces(text) for text in texts]
        joined = np.concatenate([*text_pieces, np.zeros(0, np.int32)])
        near = self.similarity_of_pieces(words, joined, [len(pieces) for pieces in text_pieces])
        return [
            _held_in(word, texts) if is_compared_by_characters(word) else row.tolist()
            for word, row in zip(words, near, strict=True)
        ]

    def similarity_of_pieces(
        self, words: Sequence[str], pieces: NDArray[np.integer], counts: Sequence[int] | NDArray[np.integer]
    ) -> Rows:
        """The similarity of each word with texts of which only the pieces are known.

        `pieces` are those of each text, one after another, and `counts` how many each text has.
        """
        import numpy as np

        asked = [list(self._cut(word)) for word in words]
        near = np.zeros((len(words), len(counts)), np.float32)
        filled = np.flatnonzero(np.asarray(counts))
        if not len(filled):
            return near
        known, places = np.unique(pieces, return_inverse=True)
        alike = self._piece_similarity([piece for some in asked for piece in some], known)
        starts = np.cumsum(counts)[filled] - np.asarray(counts)[filled]
        nearest = np.maximum.reduceat(alike[:, places], starts, axis=1)
        ends = np.cumsum([len(some) for some in asked])
        for row, some, end in zip(near, asked, ends, strict=True):
            if some:
                row[filled] = nearest[end - len(some) : end].mean(axis=0)
        return near

    def _piece_similarity(self, asked: Sequence[int], known: NDArray[np.integer]) -> Rows:
        """Each piece of the one against each of the other, 0 to 1."""
        import numpy as np

        left = (self._rows[asked] - self._mean) / self._lengths[asked, None]
        cosines = left @ (self._rows[known] - self._mean).T / self._lengths[known]
        near: Rows = np.clip((cosines - FLOOR) / (1 - FLOOR), 0.0, 1.0)
        return near

    def _different(self, text: str) -> NDArray[np.int32]:
        import numpy as np

        return np.unique(np.asarray(self._cut(text), np.int32))


def _held_in(word: str, texts: Sequence[str]) -> list[float]:
    """1 where a text has the characters: the vocabularies of English models hold few of them."""
    return [float(word in text) for text in texts]


def pieces_of(lexicon: Lexicon) -> Callable[[str], Iterable[int]] | None:
    """What cuts texts into the word pieces by which they are compared; `None` where stems are compared."""
    return lexicon.pieces if isinstance(lexicon, WordPieces) else None


async def lexicon_of(embedder: Embedder) -> Lexicon:
    """The embedder's words, or stems; raises `EmbedderUnavailable`."""
    return await embedder.lexicon() if isinstance(embedder, KnowsWords) else Stems()
