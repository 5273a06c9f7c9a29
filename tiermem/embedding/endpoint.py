"""Embeddings of a model endpoint: a function asks it, and what it returns is checked here.

The function is the language-model room's (`OpenAIModel.embed`): batches, retries and metering are
its own. Nothing here knows a vendor.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import ClassVar

from tiermem.embedding.interface import EmbedderRequest, EmbedTexts
from tiermem.errors import MalformedReply
from tiermem.text.unicode import join_surrogates


class EndpointEmbedder:
    """Turns an embedding function into an `Embedder` of a known name and length."""

    KNOWN: ClassVar[Mapping[str, int]] = {
        "text-embedding-3-small": 1536,
        "text-embedding-3-large": 3072,
        "text-embedding-ada-002": 1536,
    }

    def __init__(
        self, embed: EmbedTexts, *, name: str = "text-embedding-3-small", dimensions: int = 1536
    ) -> None:
        self.name = name
        """The model that embeds; part of every index made with it."""
        self.dimensions = dimensions
        """The length of its vectors."""
        self._embed = embed

    @classmethod
    async def open(cls, name: str, embed: EmbedTexts) -> EndpointEmbedder:
        """One whose length is known, or found out by embedding a word."""
        dimensions = cls.KNOWN.get(name)
        if dimensions is None:
            vectors = await embed(["length"])
            dimensions = len(vectors[0]) if vectors else 0
        return cls(embed, name=name, dimensions=dimensions)

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Unit-length vectors in order; `MalformedReply` when the endpoint sends anything else."""
        if not texts:
            return []
        vectors = await self._embed([join_surrogates(text) for text in texts])
        if len(vectors) != len(texts):
            raise MalformedReply(f"{self.name!r} sent {len(vectors)} vectors for {len(texts)} texts")
        return [self._unit(vector) for vector in vectors]

    def _unit(self, vector: Sequence[float]) -> list[float]:
        length = math.hypot(*vector)
        if len(vector) != self.dimensions or not 0 < length < math.inf:
            raise MalformedReply(
                f"{self.name!r} sent a vector of {len(vector)} numbers and length {length}; "
                f"{self.dimensions} numbers were expected"
            )
        return [value / length for value in vector]


async def open_endpoint(request: EmbedderRequest) -> EndpointEmbedder:
    """`openai:<model name>`: through the endpoint of the settings."""
    return await EndpointEmbedder.open(request.detail, request.endpoint())
