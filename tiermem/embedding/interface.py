"""What an embedder promises: vectors of texts, and where it can, how alike single words are.

One that is chosen by name is opened by a function of its own, with what the settings say.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
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
        """Unit-length vectors, one a text, in order. Embedding tokens are metered (`tiermem.llm.meter.pay`).

        Raises `EmbedderUnavailable`, or `ModelError` where an endpoint embeds.
        """
        ...


class Lexicon(Protocol):
    """How alike words are by themselves, whatever sentence they are in."""

    def similarity(self, words: Sequence[str], texts: Sequence[str]) -> list[list[float]]:
        """For each word and each text, how near the text comes to saying it: 0 to 1. Blocking."""
        ...


@runtime_checkable
class KnowsWords(Protocol):
    """An embedder that has vectors of single words as well."""

    async def lexicon(self) -> Lexicon:
        """The same one at every call; raises `EmbedderUnavailable`."""
        ...


@runtime_checkable
class Checks(Protocol):
    """An embedder that can say before the first text whether it can embed on this machine."""

    def check(self) -> None:
        """Raises `EmbedderUnavailable`; may fetch what it needs. Blocking."""
        ...


EmbedTexts = Callable[[Sequence[str]], Awaitable[list[list[float]]]]
"""What an endpoint sends for texts: vectors, unchecked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedderRequest:
    """What an embedder is opened with: its name as the settings have it, and what it may need."""

    name: str
    endpoint: Callable[[], EmbedTexts]
    """Gives what embeds by the model endpoint of the settings."""
    closing: AsyncExitStack
    """What is to be done when the memory closes: an embedder that holds on to something adds to it."""
    weights: Path | None = None
    """The directory that the settings name for weights."""

    @property
    def detail(self) -> str:
        """The part of the name after its first colon."""
        return self.name.partition(":")[2]


OpenEmbedder = Callable[[EmbedderRequest], Awaitable[Embedder]]
"""Opens an embedder for one memory."""
