from pathlib import Path

from tiermem.index.interface import Index
from tiermem.index.qdrant_edge import QdrantEdgeIndex
from tiermem.index.testing import HashEmbedder, IndexContract


class TestQdrantEdgeIndex(IndexContract):
    async def new_index(self, where: Path) -> Index:
        return await QdrantEdgeIndex.open(where / "index", HashEmbedder())
