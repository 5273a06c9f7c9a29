"""Everything that can go wrong in the page store, as one tree.

PageStoreError          a `TierMemError`, as all errors of `tiermem` are
├─ NotAStore          the directory is no TierMem store
├─ NewerFormat        written by a newer version
├─ OlderFormat        written in a form that this version does not read
├─ Locked             another process is writing this space
├─ Inaccessible       the file system refused: missing, no permission, an unreadable disk
├─ ReadOnly           opened for reading; nothing may be written
├─ SpaceNotFound      no such space in this store
├─ PageNotFound       no such page in this space
├─ RecordNotFound     no such record in this space
├─ Conflict           the same turn id with other words
├─ InvalidInput       an argument that cannot be used (also a `ValueError`)
├─ Corrupt            what is on disk is not what was written
├─ Poisoned           unknown what is on disk, or whose it is: nothing is acknowledged until reopened
├─ Full               no room: the write was taken back, the store stays usable
└─ Closed             used after `close`

No other error is meant to leave the package, but those of a caller's own clock, salt or token counter.
"""

from __future__ import annotations


class TierMemError(Exception):
    """Base of every error that TierMem and its page store raise."""


class PageStoreError(TierMemError):
    """Base of every error the page store raises."""


class NotAStore(PageStoreError):
    """The directory exists and is not a TierMem store, or holds none and none may be made."""


class NewerFormat(PageStoreError):
    """The store was written by a newer version of the format."""


class OlderFormat(PageStoreError):
    """The store has a form that was never released, or tables that opening it for writing migrates."""


class Locked(PageStoreError):
    """Another process is writing this space, or this one was forked from the one that is."""


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


class InvalidInput(PageStoreError, ValueError):
    """An argument that cannot be used; says which and why."""


class Corrupt(PageStoreError):
    """What is on disk is not what was written; `verify` names it."""


class Poisoned(PageStoreError):
    """Unknown what is on disk, or whose it is: nothing more is acknowledged until the store is reopened.

    An fsync or a write failed, or a file was removed or replaced while it was open.
    """


class Full(PageStoreError):
    """No room on the disk: what was being written was taken back; what was stored before it stays."""


class Closed(PageStoreError):
    """The log was used after `close`."""
