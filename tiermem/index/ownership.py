"""Which processes have an index directory open: advisory locks that end with the process.

`LOCK` is held by one process that owns the directory, or by several that share it. Whoever opens an index
holds the directory itself while it finds out which of the two it is to be.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import socket
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
    """Held from construction to `release`, alone or shared; `IndexLocked` when that cannot be."""

    def __init__(self, path: Path, *, shared: bool = False) -> None:
        self._path = path
        # The file is never deleted: a new file of the same name could be locked by a second owner.
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        self._file = os.open(path, flags, 0o600)
        try:
            if shared:
                self._take(fcntl.LOCK_SH)
            else:
                self.alone()
        except BaseException:
            self.release()
            raise

    def alone(self) -> None:
        """Own what was shared; `IndexLocked` when somebody else shares it, and then it stays shared.

        No other process may be opening the index meanwhile: the change of one lock for the other has a gap.
        """
        try:
            self._take(fcntl.LOCK_EX)
        except IndexLocked:
            self._take(fcntl.LOCK_SH)
            raise IndexLocked(
                f"the index at {str(self._path.parent)!r} is open in another memory, of this process or "
                "another; close that first"
            ) from None
        note = json.dumps({"pid": os.getpid(), "host": socket.gethostname()}).encode()
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, note, 0)

    def share(self) -> None:
        """Let others share what was owned."""
        os.ftruncate(self._file, 0)
        self._take(fcntl.LOCK_SH)

    def release(self) -> None:
        """Release the lock; repeating it does nothing."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _take(self, kind: int) -> None:
        try:
            fcntl.flock(self._file, kind | fcntl.LOCK_NB)
        except BlockingIOError as error:
            owner = _owner(os.pread(self._file, 4096, 0))
            raise IndexLocked(
                f"the index at {str(self._path.parent)!r} is owned by {owner}; close that memory first, or "
                "give both a Qdrant server (its URL) to share; pages and ledger can be read meanwhile"
            ) from error


def owned(path: Path, *, shared: bool = False) -> Ownership:
    """The directory, made where there is none; `IndexUnavailable` where that cannot be."""
    with usable(path):
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        return Ownership(path / "LOCK", shared=shared)


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


def _owner(note: bytes) -> str:
    try:
        known = json.loads(note)
        pid, host = int(known["pid"]), str(known["host"])
    except (ValueError, KeyError, TypeError):
        return "another process"
    if (pid, host) == (os.getpid(), socket.gethostname()):
        return f"this process (pid {pid}), which opened it before"
    return f"process {pid} on {host!r}"
