"""Texts as vectors: by a small model on this machine, by a model endpoint, or by the hashes of words."""

from tiermem.embedding.interface import (
    Checks,
    Embedder,
    EmbedderRequest,
    EmbedTexts,
    Lexicon,
)
from tiermem.embedding.named import EMBEDDERS
from tiermem.embedding.words import lexicon_of

__all__ = [
    "EMBEDDERS",
    "Checks",
    "EmbedTexts",
    "Embedder",
    "EmbedderRequest",
    "Lexicon",
    "lexicon_of",
]
