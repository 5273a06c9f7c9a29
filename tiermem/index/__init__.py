"""Finding by meaning and by words: a projection of pages and ledger, on Qdrant embedded or as a server."""

from tiermem.index.absent import AbsentIndex
from tiermem.index.interface import Collection, Embedder, Entry, Hit, Index, Mode
from tiermem.index.minilm import MiniLMEmbedder
from tiermem.index.openai_embedder import EndpointEmbedder
from tiermem.index.qdrant import QdrantIndex
from tiermem.index.qdrant_edge import QdrantEdgeIndex

__all__ = [
    "AbsentIndex",
    "Collection",
    "Embedder",
    "EndpointEmbedder",
    "Entry",
    "Hit",
    "Index",
    "MiniLMEmbedder",
    "Mode",
    "QdrantEdgeIndex",
    "QdrantIndex",
]
