"""Texts as vectors: by a small model on this machine, by a model endpoint, or by the hashes of words."""

from tiermem.embedding.endpoint import EndpointEmbedder
from tiermem.embedding.hashed import HashEmbedder
from tiermem.embedding.interface import Embedder, KnowsWords, Lexicon
from tiermem.embedding.minilm import MiniLMEmbedder, Precision
from tiermem.embedding.words import lexicon_of

__all__ = [
    "Embedder",
    "EndpointEmbedder",
    "HashEmbedder",
    "KnowsWords",
    "Lexicon",
    "MiniLMEmbedder",
    "Precision",
    "lexicon_of",
]
