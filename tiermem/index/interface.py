"""What an index promises: a projection of pages and ledger that can be deleted and rebuilt.

Space is part of every call; there is no search without it. Ids are the caller's (unit ids, page
ids); adapters derive point ids from space and id, so putting twice stores once. Hits carry ids and
scores only: what they mean is read from the ledger, never from the index.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

from pagestore import SessionId, SpaceId

Collection = Literal["units", "pages"]
Mode = Literal["hybrid", "dense", "words"]


class Embedder(Protocol):
    """Turns text into vectors. The collection records `name` and `dimensions`."""

    @property
    def name(self) -> str:
        """Which vectors these are: two embedders of one name give the same ones."""
        ...

    @property
    def dimensions(self) -> int:
        """The length of every vector; known before anything is loaded."""
        ...

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Unit-length vectors, one a text, in order. Embedding tokens are metered.

        Raises `EmbedderUnavailable`, or `ModelError` where an endpoint embeds.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One thing to be found: its id, the words to find it by, and what searches filter on."""

    id: str
    session: SessionId
    text: str
    kind: str
    page_ids: tuple[str, ...] = ()
    said_at: datetime | None = None
    active: bool = True
    """Superseded and retired units stay findable for `as_of` questions only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One result: the caller's id, its score, and the cosine where the search was dense or hybrid.

    `score` is the cosine in `dense` mode, BM25 in `words` mode, and in `hybrid` the fused rank score,
    1.0 for what is first by meaning and by words.
    """

    id: str
    score: float
    similarity: float | None = None


class Index(Protocol):
    """Finds entries of one space by meaning, by words, or both (reciprocal rank fusion).

    Safe to call concurrently. Every method raises `SummaryIndexError` when the engine fails and
    `MemoryClosed` after `close`.
    """

    async def put(self, space: SpaceId, collection: Collection, entries: Sequence[Entry]) -> None:
        """Insert or replace by id."""
        ...

    async def remove(self, space: SpaceId, collection: Collection, ids: Sequence[str]) -> None:
        """Forget ids; unknown ids are ignored."""
        ...

    async def search(
        self,
        space: SpaceId,
        collection: Collection,
        query: str,
        *,
        limit: int,
        mode: Mode = "hybrid",
        session: SessionId | None = None,
        inactive: bool = False,
    ) -> tuple[Hit, ...]:
        """Best first, equal scores in the order of their ids.

        `inactive=True` also searches superseded and retired entries.

        An empty query, or `words` mode with no searchable word, gives no hits.
        """
        ...

    async def count(self, space: SpaceId, collection: Collection) -> int:
        """How many entries of the space are stored, inactive ones included."""
        ...

    async def mark(self, space: SpaceId) -> int:
        """The ledger record up to which this index reflects the space; -1 when it holds nothing."""
        ...

    async def set_mark(self, space: SpaceId, seq: int) -> None:
        """Say that the index reflects the space up to `seq`; what was put before is made durable first."""
        ...

    async def drop(self, space: SpaceId) -> None:
        """Forget everything of a space, its mark first."""
        ...

    async def flush(self) -> None:
        """Make everything put so far durable."""
        ...

    async def close(self) -> None:
        """Make everything durable and let go of the engine; idempotent."""
        ...
