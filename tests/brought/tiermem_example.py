"""What a package that knows TierMem from outside brings: an embedder, an index and a reranker.

The entry points beside this file give them their names.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise
from pathlib import Path

from anyio import to_thread

from tiermem.embedding import Embedder, EmbedderRequest
from tiermem.index import AbsentIndex, Index, IndexRequest
from tiermem.index.row_index import RowIndex
from tiermem.index.segment_file import SegmentFile
from tiermem.llm.meter import pay
from tiermem.model import Usage
from tiermem.reading.rerank import FoundPage, RerankerRequest
from tiermem.text import words
from tiermem.text.question import Question
from tiermem.workspace import Item


class LetterEmbedder:
    """Counts letters, and pairs of them."""

    name = "letters"
    dimensions = 257

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        pay(Usage(embedding_tokens=sum(map(len, texts)), cost=0.0))
        return [self._vector(text.lower()) for text in texts]

    def _vector(self, text: str) -> list[float]:
        pairs = Counter((ord(a) * 31 + ord(b)) % 256 for a, b in pairwise(text))
        length = math.hypot(1.0, *pairs.values())
        return [1.0 / length, *(pairs[place] / length for place in range(256))]


async def open_letters(_: EmbedderRequest) -> LetterEmbedder:
    return LetterEmbedder()


class PlainIndex(RowIndex):
    """Rows in a file of its own where there is a folder for it, else in memory."""

    def __init__(self, embedder: Embedder, file: Path | None = None) -> None:
        super().__init__(embedder, None if file is None else SegmentFile(file, embedder.dimensions))


async def open_plain(request: IndexRequest) -> Index:
    """`plain`, or `plain:` and the name of its file."""
    if request.read_only:
        return AbsentIndex("a plain index is left to whoever writes it")
    file = None
    if request.folder is not None:
        request.folder.mkdir(parents=True, exist_ok=True)
        file = request.folder / f"{request.name.partition(':')[2] or 'plain'}.rows"
        if request.anew is not None:
            file.unlink(missing_ok=True)
    index = await to_thread.run_sync(PlainIndex, request.embedder, file)
    request.closing.push_async_callback(index.close)
    return index


class Overlap:
    """Fits the better, the more words of the question a page has."""

    async def score(self, question: Question, found: Sequence[FoundPage]) -> Sequence[float]:
        asked = set(words(question.text))
        return [float(len(asked & set(words(one.page.text)))) for one in found]


async def open_overlap(_: RerankerRequest) -> Overlap:
    return Overlap()


class Longest:
    """Who takes most room gives way first."""

    name, ages = "longest", False

    def rank(self, item: Item, now: datetime) -> tuple[int]:
        """The fewest tokens last."""
        return (-item.tokens,)
