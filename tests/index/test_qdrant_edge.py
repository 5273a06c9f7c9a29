import shutil
from pathlib import Path

import pytest

from tiermem.index.interface import Index
from tiermem.index.qdrant_edge import QdrantEdgeIndex
from tiermem.index.testing import HashEmbedder, IndexContract


class TestQdrantEdgeIndex(IndexContract):
    @pytest.fixture(scope="class", autouse=True)
    def _empty_index(self, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> None:
        """Made once and copied, for making one waits for the disk."""
        request.cls.empty = tmp_path_factory.mktemp("empty") / "index"
        QdrantEdgeIndex(request.cls.empty, HashEmbedder())._shut()

    empty: Path

    async def new_index(self, where: Path) -> Index:
        if not (where / "index").exists():
            shutil.copytree(self.empty, where / "index")
        return await QdrantEdgeIndex.open(where / "index", HashEmbedder())
