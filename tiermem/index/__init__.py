"""Finding by meaning and by words: a projection of pages and ledger that can be deleted and made again."""

from tiermem.index.absent import AbsentIndex
from tiermem.index.interface import Index, IndexRequest
from tiermem.index.named import INDEXES
from tiermem.index.values import Collection, Entry, Hit

__all__ = [
    "INDEXES",
    "AbsentIndex",
    "Collection",
    "Entry",
    "Hit",
    "Index",
    "IndexRequest",
]
