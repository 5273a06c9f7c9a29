"""A small embedder that needs no weights: words by their hashes, so that shared words make texts alike."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence

from tiermem.embedding.interface import EmbedderRequest
from tiermem.llm.meter import pay
from tiermem.model import Usage
from tiermem.text import search_stems, search_words


class HashEmbedder:
    """Each word adds signed ones to dimensions chosen by its hash: texts that share words are near.

    Deterministic for a seed, on every machine. A text without words has a vector of its own.
    """

    def __init__(self, dimensions: int = 128, *, seed: int = 0) -> None:
        self.dimensions = dimensions
        """The length of its vectors."""
        self._seed = seed

    @property
    def name(self) -> str:
        """Part of every index made with it."""
        return f"hash-{self._seed}"

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Unit-length vectors in order."""
        pay(Usage(embedding_tokens=sum(len(search_words(text)) for text in texts), cost=0.0))
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> list[float]:
        vector = [0.0] * self.dimensions
        for word in search_stems(text) or search_words(text) or [""]:
            digest = hashlib.blake2b(f"{self._seed} {word}".encode(errors="replace")).digest()
            for at in range(0, 16, 4):
                place = int.from_bytes(digest[at : at + 3], "big") % self.dimensions
                vector[place] += 1.0 if digest[at + 3] % 2 else -1.0
        length = math.hypot(*vector)
        if not length:  # the words cancelled each other out
            return [1.0, *vector[1:]]
        return [value / length for value in vector]


async def open_hashed(_: EmbedderRequest) -> HashEmbedder:
    """`hashed`: for trying things out, and for tests."""
    return HashEmbedder()
