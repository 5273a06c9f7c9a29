"""What an embedder promises: vectors of texts, and where it can, how alike single words are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable


class Embedder(Protocol):
    """Turns text into vectors. The collection records `name` and `dimensions`."""

    @property
    def name(self) -> str:
        """Which vectors these are: two embedders of one name give the same ones."""
        ...

    @property
    def dimensions(self) -> int:
        """The length of every vector; known before anything is loaded."""
        ...

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Unit-length vectors, one a text, in order. Embedding tokens are metered.

        Raises `EmbedderUnavailable`, or `ModelError` where an endpoint embeds.
        """
        ...


class Lexicon(Protocol):
    """How alike words are by themselves, whatever sentence they stand in."""

    def cover(self, words: Sequence[str], texts: Sequence[str]) -> list[list[float]]:
        """For each word and each text, how near the text comes to saying it: 0 to 1. Blocking."""
        ...


@runtime_checkable
class KnowsWords(Protocol):
    """An embedder that has vectors of single words as well."""

    async def lexicon(self) -> Lexicon:
        """The same one at every call; raises `EmbedderUnavailable`."""
        ...
