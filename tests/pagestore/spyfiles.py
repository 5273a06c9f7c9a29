"""The real file layer with a counter on every call, and faults on request."""

from __future__ import annotations

import errno
import time
from collections import Counter

from pagestore.files import RealFiles


class SpyFiles(RealFiles):
    """Counts bytes read and syncs. `failing` names calls that raise an `OSError` of that number."""

    def __init__(self, *, slow_sync: float = 0) -> None:
        self.calls: Counter[str] = Counter()
        self.bytes_read = 0
        self.failing: dict[str, int] = {}
        self._slow_sync = slow_sync

    def open(self, path: str, *, write: bool, create: bool = False) -> int:
        self._note("open")
        if write:
            self._note("open for writing")
        return super().open(path, write=write, create=create)

    def read(self, fd: int, length: int, offset: int) -> bytes:
        self._note("read")
        data = super().read(fd, length, offset)
        self.bytes_read += len(data)
        return data

    def write(self, fd: int, data: bytes, offset: int) -> int:
        self._note("write")
        return super().write(fd, data, offset)

    def sync(self, fd: int) -> None:
        self._note("sync")
        time.sleep(self._slow_sync)
        super().sync(fd)

    def names(self, path: str) -> list[str]:
        self._note("names")
        return super().names(path)

    def make_directory(self, path: str) -> None:
        self._note("make_directory")
        super().make_directory(path)

    def _note(self, call: str) -> None:
        self.calls[call] += 1
        number = self.failing.get(call)
        if number is not None:
            raise OSError(number, errno.errorcode[number])
