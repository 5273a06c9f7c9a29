"""The small form of the embedded index: one file, several processes, nothing mapped."""

from pathlib import Path

from tiermem.index import SqliteIndex
from tiermem.index.interface import Index
from tiermem.index.testing import HashEmbedder, IndexContract


class TestSqliteIndex(IndexContract):
    async def new_index(self, where: Path) -> Index:
        return await SqliteIndex.open(where / "index", HashEmbedder())
