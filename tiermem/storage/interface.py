"""What a store promises, whether it is a directory or a database."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol, runtime_checkable

from pagestore import PageLog, SpaceId
from pagestore.lines.interface import Lines


class SpaceStore(Protocol):
    """The spaces of one store, each with a page log of its own. Every method raises `PageStoreError`."""

    @property
    def name(self) -> str:
        """How messages name the store; it holds no password."""
        ...

    def spaces(self) -> Sequence[SpaceId]:
        """List every space that was ever opened for writing, by name."""
        ...

    def has_space(self, space: SpaceId) -> bool:
        """Whether the space was ever opened for writing."""
        ...

    def identity(self, space: SpaceId) -> str | None:
        """Return `PageLog.identity` of a space, by its first record alone; `None` where it cannot be read."""
        ...

    def open_space(self, space: SpaceId) -> PageLog:
        """Open the log of a space, making it unless read-only. The caller closes it before the store."""
        ...

    def open_lines(self, space: SpaceId, *, writable: bool) -> Lines:
        """Open the lines of a space as they lie there; the caller closes them before the store."""
        ...

    def close(self) -> None:
        """Release what the store holds; idempotent."""
        ...


@runtime_checkable
class HasTables(Protocol):
    """A store in a database, of which every value can be read."""

    def values(self, space: SpaceId) -> Iterator[tuple[str, str, bytes]]:
        """Every value that the tables hold of a space or of none, with its table and column."""
        ...
