"""A store in a PostgreSQL database: many spaces, each with a page log of its own."""

from __future__ import annotations

from collections.abc import Iterator

from pagestore import LogOptions, SpaceId
from pagestore.errors import SpaceNotFound
from pagestore.log import Log
from pagestore.merkle import leaf_hash
from pagestore.store import directory_name
from tiermem.storage.postgres.database import acquire_database, release_database
from tiermem.storage.postgres.lines import PostgresLines


class PostgresStore:
    """Opens the spaces of a database. Several processes may write to one space.

    Stores of one process and URL share their connections. Raises what `Database` raises.
    """

    def __init__(
        self, url: str, *, read_only: bool = False, create: bool = True, options: LogOptions | None = None
    ) -> None:
        self._read_only = read_only
        self._options = options or LogOptions()
        self._database = acquire_database(url, self, read_only=read_only, create=create)

    def __repr__(self) -> str:
        return f"PostgresStore({self._database!r})"

    @property
    def name(self) -> str:
        """How messages name the store."""
        return self._database.name

    def spaces(self) -> tuple[SpaceId, ...]:
        """List every space that was ever opened for writing, by name."""
        names = self._database.rows("SELECT name FROM tiermem.spaces")
        return tuple(sorted(SpaceId(name.decode("utf-8", "surrogatepass")) for (name,) in names))

    def has_space(self, space: SpaceId) -> bool:
        """Whether the space was ever opened for writing."""
        key = directory_name(space)
        return bool(self._database.rows("SELECT 1 FROM tiermem.spaces WHERE space = %s", [key]))

    def identity(self, space: SpaceId) -> str | None:
        """Return `PageLog.identity` of a space, by its first line alone; `None` where it is not there."""
        query = [directory_name(space)]
        rows = self._database.rows("SELECT raw FROM tiermem.lines WHERE space = %s AND q = 0", query)
        return leaf_hash(rows[0][0]).hex() if rows else None

    def open_space(self, space: SpaceId, *, read_only: bool | None = None) -> Log:
        """Open the log of a space, making it unless read-only. The caller closes it before the store.

        Raises `Corrupt` when it is damaged and not opened read-only, `SpaceNotFound` when it is not there and
        may not be made.
        """
        read_only = self._read_only if read_only is None else read_only
        lines = self.open_lines(space, writable=not read_only)
        return Log(lines, space, options=self._options, read_only=read_only)

    def open_lines(self, space: SpaceId, *, writable: bool) -> PostgresLines:
        """See `SpaceStore.open_lines`; raises `SpaceNotFound` for one that is not there and only read."""
        if not writable and not self.has_space(space):
            raise SpaceNotFound(f"{self._database.name} has no space {space!r}")
        return PostgresLines(self._database, space, segment_bytes=self._options.segment_bytes)

    def values(self, space: SpaceId) -> Iterator[tuple[str, str, bytes]]:
        """See `HasTables.values`."""
        return self._database.values("tiermem", directory_name(space))

    def close(self) -> None:
        """Close the connections, unless another store of this process uses them; idempotent."""
        release_database(self._database, self)
