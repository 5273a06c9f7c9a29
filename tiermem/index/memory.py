"""An index in this process alone: nothing is written anywhere, and closing it forgets everything."""

from __future__ import annotations

from tiermem.index.absent import AbsentIndex
from tiermem.index.interface import Index, IndexRequest
from tiermem.index.row_index import RowIndex


async def open_in_process(request: IndexRequest) -> Index:
    """`memory`: built again from pages and ledger at each opening; none for a memory that makes nothing."""
    if request.read_only:
        return AbsentIndex("a memory opened read-only makes no index of its own")
    index = RowIndex(request.embedder)
    request.closing.push_async_callback(index.close)
    return index
