"""The real file layer with a counter on every call, and faults on request."""

from __future__ import annotations

import errno
from collections import Counter
from collections.abc import Callable

from pagestore.files import RealFiles


class SpyFiles(RealFiles):
    """Counts bytes read and syncs. `failing` names calls that raise an `OSError` of that number.

    `failing_after` names one call that raises `failing_with` once it was made so many times more.
    """

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self.bytes_read = 0
        self.failing: dict[str, int] = {}
        self.failing_after: tuple[str, int] | None = None
        self.failing_with = errno.EIO
        self.before_sync: Callable[[], None] | None = None

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
        if self.before_sync is not None:
            self.before_sync()
        super().sync(fd)

    def sync_directory(self, path: str) -> None:
        self._note("sync_directory")
        super().sync_directory(path)

    def names(self, path: str) -> list[str]:
        self._note("names")
        return super().names(path)

    def make_directory(self, path: str) -> None:
        self._note("make_directory")
        super().make_directory(path)

    def _note(self, call: str) -> None:
        self.calls[call] += 1
        number = self.failing.get(call)
        if self.failing_after is not None and self.failing_after[0] == call:
            left = self.failing_after[1]
            self.failing_after = (call, left - 1)
            number = self.failing_with if left <= 0 else None
        if number is not None:
            raise OSError(number, errno.errorcode[number])
