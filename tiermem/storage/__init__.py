"""Where a store is kept: in a directory, or in a database that several processes write."""

from tiermem.storage.copying import copy_space
from tiermem.storage.interface import HasTables, SpaceStore
from tiermem.storage.place import IN_MEMORY, StorePlace, parse_place
from tiermem.storage.stores import open_store

__all__ = ["IN_MEMORY", "HasTables", "SpaceStore", "StorePlace", "copy_space", "open_store", "parse_place"]
