"""Opens the store of a place. A package for a database is imported when the first store in one is opened."""

from __future__ import annotations

from pathlib import Path

from pagestore import LogOptions, Store
from tiermem.errors import InvalidInput, install_command
from tiermem.storage.interface import SpaceStore
from tiermem.storage.place import StorePlace


def open_store(
    place: StorePlace, *, read_only: bool = False, create: bool = True, options: LogOptions | None = None
) -> SpaceStore:
    """Open the store of a directory or of a database; the caller closes it.

    It is made where there is none, unless `read_only` or not `create`: then `NotAStore` is raised. Raises
    `InvalidInput` for a URL that cannot be used and where the package for a database is not installed,
    `Inaccessible` for a database that refuses or is not reached, `NewerFormat` for one of a newer version.
    """
    if place.url is None:
        if not (read_only or create):
            Store(place.shown, read_only=True)  # which makes no directory
        return Store(Path(place.shown), read_only=read_only, options=options)
    try:
        from tiermem.storage.postgres import PostgresStore
    except ImportError as error:
        raise InvalidInput(
            f"a store in PostgreSQL needs a package: {install_command('postgres')} ({error})"
        ) from error
    return PostgresStore(place.url, read_only=read_only, create=create, options=options)
