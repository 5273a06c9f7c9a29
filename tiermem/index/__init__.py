"""Finding by meaning and by words: a projection of pages and ledger, embedded or on a Qdrant server."""

from tiermem.index.absent import AbsentIndex
from tiermem.index.embedded import open_embedded
from tiermem.index.interface import (
    Collection,
    Compacts,
    Entry,
    Exclusive,
    Hit,
    Index,
    Mode,
    Said,
    TurnHit,
    TurnHits,
)
from tiermem.index.memory import MemoryIndex
from tiermem.index.qdrant import QdrantIndex
from tiermem.index.qdrant_edge import QdrantEdgeIndex
from tiermem.index.sqlite import SqliteIndex

__all__ = [
    "AbsentIndex",
    "Collection",
    "Compacts",
    "Entry",
    "Exclusive",
    "Hit",
    "Index",
    "MemoryIndex",
    "Mode",
    "QdrantEdgeIndex",
    "QdrantIndex",
    "Said",
    "SqliteIndex",
    "TurnHit",
    "TurnHits",
    "open_embedded",
]
