"""Which processes have an index directory open: advisory locks that end with the process.

`LOCK` is shared by the processes that have the index open. Whoever opens it holds the directory itself
meanwhile, and `LOCK` alone while it makes the index again.
"""

from __future__ import annotations

import errno
import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pagestore.errors import Full, Locked, PageStoreError
from tiermem.errors import IndexFull, IndexLocked, IndexUnavailable

WAIT = 30.0
"""Seconds to wait for somebody else who is opening the same index."""

_STEP = 0.02
"""Seconds between two looks whether it is opened still."""


class Ownership:
    """`LOCK` of an index, held from construction to `release`: shared, or while it is made again, alone.

    Every call is made inside `opening` and `usable`, so that no other process has it alone then.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        # The file is never deleted: a new file of the same name could be locked by a second owner.
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        self._file = os.open(path / "LOCK", flags, 0o600)
        try:
            self.share()
        except BaseException:
            self.release()
            raise

    def alone(self) -> None:
        """Own what was shared; `IndexLocked` when somebody else shares it, and then it stays shared."""
        if not _try_lock(self._file):
            self.share()
            raise IndexLocked(
                f"the index at {str(self._path)!r} is open in another memory, of this process or "
                "another; close that first"
            )

    def share(self) -> None:
        """Let others share what was owned."""
        fcntl.flock(self._file, fcntl.LOCK_SH | fcntl.LOCK_NB)

    def release(self) -> None:
        """Release the lock; repeating it does nothing."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


@contextmanager
def usable(path: Path) -> Iterator[None]:
    """What the system refuses becomes ours: `IndexFull` for want of room, else `IndexUnavailable`."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise IndexFull(
                f"the disk of the index at {str(path)!r} is full: it is not used until there is room; "
                "what is stored is searched by its words"
            ) from error
        raise IndexUnavailable(f"cannot use {str(path)!r} for an index: {error}") from error


@contextmanager
def translate_database_errors() -> Iterator[None]:
    """Raise an error of the index in place of one of the database."""
    try:
        yield
    except Full as error:
        raise IndexFull(str(error)) from error
    except Locked as error:
        raise IndexLocked(str(error)) from error
    except PageStoreError as error:
        raise IndexUnavailable(f"the index could not be used: {error}") from error


@contextmanager
def opening(path: Path) -> Iterator[None]:
    """One process at a time opens the index of a directory; `IndexLocked` when another takes too long."""
    with usable(path):
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        there = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        until = time.monotonic() + WAIT
        while not _try_lock(there):
            if time.monotonic() > until:
                raise IndexLocked(f"the index at {str(path)!r} is being opened by somebody else")
            time.sleep(_STEP)
        yield
    finally:
        os.close(there)


def _try_lock(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
