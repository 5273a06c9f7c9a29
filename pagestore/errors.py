"""Everything that can go wrong in the page store, as one tree.

PageStoreError
├─ NotAStore          the directory is no TierMem store
├─ NewerFormat        written by a newer version
├─ Locked             another process is writing this space
├─ Inaccessible       the file system refused: missing, no permission, an unreadable disk
├─ ReadOnly           opened for reading; nothing may be written
├─ SpaceNotFound      no such space in this store
├─ PageNotFound       no such page in this space
├─ RecordNotFound     no such record in this space
├─ Conflict           the same turn id with other words
├─ Corrupt            what is on disk is not what was written
├─ Poisoned           an fsync failed: nothing is acknowledged until the store is reopened
├─ Full               no room: the batch was rolled back, the store stays usable
└─ Closed             used after `close`
"""

from __future__ import annotations


class PageStoreError(Exception):
    """Base of every error the page store raises."""


class NotAStore(PageStoreError):
    """The directory exists and is not a TierMem store, or holds none and none may be made."""


class NewerFormat(PageStoreError):
    """The store was written by a newer version of the format."""


class Locked(PageStoreError):
    """Another process is writing this space."""


class Inaccessible(PageStoreError):
    """The file system refused; its own error is the cause."""


class ReadOnly(PageStoreError):
    """The store was opened for reading."""


class SpaceNotFound(PageStoreError):
    """The store has no space of that name, and was opened for reading."""


class PageNotFound(PageStoreError):
    """The space has no page of that id."""


class RecordNotFound(PageStoreError):
    """The space has no record of that number."""


class Conflict(PageStoreError):
    """The same turn id was given again with other words."""


class Corrupt(PageStoreError):
    """What is on disk is not what was written; `verify` names it."""


class Poisoned(PageStoreError):
    """An fsync failed: nothing more is acknowledged until the store is reopened."""


class Full(PageStoreError):
    """No room on the disk: the batch was rolled back, reading goes on."""


class Closed(PageStoreError):
    """The log was used after `close`."""
