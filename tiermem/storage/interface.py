"""What a store promises, whether it is a directory or a database."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from pagestore import PageLog, SpaceId


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

    def close(self) -> None:
        """Release what the store holds; idempotent."""
        ...
