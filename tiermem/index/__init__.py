"""Finding by meaning and by words: a projection of pages and ledger, embedded or on a Qdrant server."""

from tiermem.index.absent import AbsentIndex
from tiermem.index.embedded import open_embedded
from tiermem.index.interface import (
    Collection,
    Compacts,
    Embedder,
    Entry,
    Exclusive,
    Hit,
    Index,
    KnowsWords,
    Lexicon,
    Mode,
    Said,
    TurnHit,
    TurnHits,
)
from tiermem.index.lexicon import lexicon_of
from tiermem.index.memory import MemoryIndex
from tiermem.index.minilm import MiniLMEmbedder, Precision
from tiermem.index.openai_embedder import EndpointEmbedder
from tiermem.index.qdrant import QdrantIndex
from tiermem.index.qdrant_edge import QdrantEdgeIndex
from tiermem.index.sqlite import SqliteIndex

__all__ = [
    "AbsentIndex",
    "Collection",
    "Compacts",
    "Embedder",
    "EndpointEmbedder",
    "Entry",
    "Exclusive",
    "Hit",
    "Index",
    "KnowsWords",
    "Lexicon",
    "MemoryIndex",
    "MiniLMEmbedder",
    "Mode",
    "Precision",
    "QdrantEdgeIndex",
    "QdrantIndex",
    "Said",
    "SqliteIndex",
    "TurnHit",
    "TurnHits",
    "lexicon_of",
    "open_embedded",
]
