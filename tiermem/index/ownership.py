"""Which process owns an embedded index directory: an advisory lock that ends with the process."""

from __future__ import annotations

import fcntl
import json
import os
import socket
from pathlib import Path

from tiermem.errors import IndexLocked


class Ownership:
    """Owned from construction to `release`; `IndexLocked` when somebody else owns it."""

    def __init__(self, path: Path) -> None:
        # The file is never deleted: a new file of the same name could be locked by a second owner.
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        self._file = os.open(path, flags, path.parent.stat().st_mode & 0o666)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            owner = _owner(os.pread(self._file, 4096, 0))
            os.close(self._file)
            raise IndexLocked(
                f"the index at {str(path.parent)!r} is owned by {owner}; close that memory first, or give "
                "both a Qdrant server (its URL) to share; pages and ledger can be read meanwhile"
            ) from error
        note = json.dumps({"pid": os.getpid(), "host": socket.gethostname()}).encode()
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, note, 0)

    def release(self) -> None:
        """Let go; releasing twice is one release."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def _owner(note: bytes) -> str:
    try:
        known = json.loads(note)
        pid, host = int(known["pid"]), str(known["host"])
    except (ValueError, KeyError, TypeError):
        return "another process"
    if (pid, host) == (os.getpid(), socket.gethostname()):
        return f"this process (pid {pid}), which opened it before"
    return f"process {pid} on {host!r}"
