"""What an index promises: a projection of pages and ledger that can be deleted and rebuilt.

Space is part of every call; there is no search without it. Where stores share an index, the caller gives
spaces names that no two of them have in common (`Ledger.indexed_as`). Ids are the caller's (of units and
of turns); adapters derive point ids from space and id, so putting twice stores once. Hits carry ids and
scores only: what they mean is read from the ledger, never from the index.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from collections.abc import Collection as Collection_
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

from pagestore import History, SessionId, SpaceId
from tiermem.embedding.interface import Embedder, Lexicon
from tiermem.index.values import About, Collection, Entry, Hit, Mode, Period, Timeframe

if TYPE_CHECKING:  # which are made of numpy
    from tiermem.index.candidates import Candidates
    from tiermem.index.features import Block


@runtime_checkable
class Compacts(Protocol):
    """An index that can rewrite its storage at once."""

    async def compact(self) -> None:
        """Leave nothing in any file of the index that was removed from it; raises `SummaryIndexError`."""
        ...


@runtime_checkable
class Exclusive(Protocol):
    """An index of one store, each space by one writer: what it holds of another history can be dropped."""

    @property
    def exclusive(self) -> Literal[True]:
        """That it is so."""
        ...


@runtime_checkable
class LinksTurns(Protocol):
    """An index that knows by itself which turns are around each other: a turn is put once, as it is said."""

    @property
    def links_turns(self) -> Literal[True]:
        """That it is so."""
        ...


@runtime_checkable
class Shows(Protocol):
    """An index that finds what is put before it is durable, and writes it together with its mark."""

    def show(self, space: SpaceId, mark: History | None) -> None:
        """Say what of the space is found from now on: `mark` says it, and a crash takes it back to what
        `set_mark` said. `None`, `drop`, and to mark `History()`, end it: whoever begins to write the space
        begins with what is durable.
        """
        ...


@runtime_checkable
class SupportsTransactions(Protocol):
    """An index of which several processes write a space, one at a time."""

    def writing(self, space: SpaceId) -> AbstractAsyncContextManager[Index]:
        """Return the index as seen by the only process that writes the space.

        What it puts is kept, and found by others, when the block ends. Where it ends with an error, nothing
        is. Raises `IndexLocked` where another process writes for more than half a minute.
        """
        ...


class Searches(Protocol):
    """An index as reading sees it: asked, and not filled.

    Finds entries of one space by meaning, by words, or both (reciprocal rank fusion). Safe to call
    concurrently. Every method raises `SummaryIndexError` when the engine fails and `MemoryClosed` after the
    index is closed.
    """

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
        within: Timeframe | None = None,
        values: tuple[int, ...] = (),
        owners: Collection_[str] | None = None,
    ) -> tuple[Hit, ...]:
        """Best first, equal scores in an order that does not depend on when they were put.

        `inactive=True` also searches superseded and retired entries. Days of `within` are those of whoever
        spoke: a moment is not taken to another time zone. Turns that lack any of `values`
        (`features.wanted_values`) may be left out. With `owners` only what is of these, or shared,
        is found, and nothing of others has any part in scores, order or how much is found.

        An empty query, or `words` mode with no searchable word, gives no hits.
        """
        ...

    async def turns(
        self,
        space: SpaceId,
        question: str,
        *,
        limit: int,
        session: SessionId | None = None,
        periods: Sequence[Period] = (),
        within: Timeframe | None = None,
        values: tuple[int, ...] = (),
        owners: Collection_[str] | None = None,
    ) -> Candidates:
        """The best `limit` turns by meaning, by words and by the words around, and those beside them.

        With `periods`, as many again of those said in one of these. `within` leaves out all others, `values`
        may, and so do `owners`, as in `search`: `named` and `rarity` too are those of what these owners may
        see.
        """
        ...

    async def rows(self, space: SpaceId, ids: Sequence[str]) -> Block:
        """The rows of these turns in any order, without vectors; ids that there are not are left out."""
        ...

    async def lexicon(self) -> Lexicon:
        """The embedder's, or one that knows words by their stems. Raises `EmbedderUnavailable`."""
        ...

    async def count(
        self, space: SpaceId, collection: Collection, *, owners: Collection_[str] | None = None
    ) -> int:
        """How many entries of the space are stored, inactive ones included; of `owners` as in `search`."""
        ...

    async def undated(
        self,
        space: SpaceId,
        collection: Collection,
        *,
        about: About = "said",
        session: SessionId | None = None,
        owners: Collection_[str] | None = None,
    ) -> int:
        """How many active entries tell no such time: no timeframe finds them."""
        ...

    async def mark(self, space: SpaceId) -> History:
        """The log that this index reflects, up to which record; `History()` when it holds nothing.

        What is asked about the space is to be trusted only where the log begins with that.
        """
        ...


class Index(Searches, Protocol):
    """An index that is filled as well; its own methods raise what those of `Searches` do."""

    async def put(self, space: SpaceId, collection: Collection, entries: Sequence[Entry]) -> None:
        """Insert or replace by id."""
        ...

    async def remove(self, space: SpaceId, collection: Collection, ids: Sequence[str]) -> None:
        """Forget ids; unknown ids are ignored."""
        ...

    async def set_mark(self, space: SpaceId, mark: History) -> None:
        """Say what the index reflects of the space; what was put before is made durable first."""
        ...

    async def drop(self, space: SpaceId) -> None:
        """Forget everything of a space, its mark first."""
        ...

    async def flush(self) -> None:
        """Make everything put so far durable."""
        ...

    async def close(self) -> None:
        """Make everything durable and close the engine; idempotent."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexRequest:
    """What an index is opened with: its name as the settings have it, and the store it is for."""

    name: str
    embedder: Embedder
    folder: Path | None
    """Where its files lie if it has any; `None` for a store that is not in a directory."""
    closing: AsyncExitStack
    """What is to be done when the memory closes: an opener of an index adds its `close`."""
    database: str | None = field(default=None, repr=False)
    """The URL of the database of the store; it may hold a password. `None` for any other store."""
    api_key: str | None = None
    read_only: bool = False
    """Nothing is to be written or made."""
    anew: tuple[SpaceId, ...] | None = None
    """The spaces of the store, where what is there of them is to be forgotten first."""


OpenIndex = Callable[[IndexRequest], Awaitable[Index]]
"""Opens an index for one memory; raises `SummaryIndexError`."""
