"""Rows without vectors in this process: what an index lacks, found by its words as an index ranks them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pagestore import SpaceId
from tiermem.errors import EmbedderUnavailable
from tiermem.index.candidates import Candidates, pack_without_vectors
from tiermem.index.features import RowFeatures
from tiermem.index.row_index import RowIndex
from tiermem.index.rows import RowFilter, RowQuery
from tiermem.index.values import Collection


class WordIndex(RowIndex):
    """An index in memory that embeds nothing. `rarity` of its candidates is that of their own words."""

    def __init__(self) -> None:
        super().__init__(_NoEmbedder())

    async def put_rows(
        self, space: SpaceId, collection: Collection, ids: Sequence[str], rows: Sequence[RowFeatures]
    ) -> None:
        """Add rows of different ids, in place of what they were before."""
        if ids:
            await self._call(self._append, space, collection, ids, pack_without_vectors(rows))

    async def _embed_question(self, question: str) -> None:
        return None

    def _candidates(self, space: SpaceId, query: RowQuery, allowed: RowFilter, limit: int) -> Candidates:
        with self._using("turns", space) as held:
            found = held.rows.candidates(query, allowed, limit=limit)
            return replace(found, rarity=held.rows.rarities(found.rarity, allowed))


class _NoEmbedder:
    name = "none"
    dimensions = 1

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        raise EmbedderUnavailable("words alone are compared here")
