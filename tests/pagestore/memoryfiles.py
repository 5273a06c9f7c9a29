"""Files in memory."""

from __future__ import annotations

import errno


class MemoryFiles:
    """Implements `pagestore.files.Files`: files that live as long as this object."""

    def __init__(self) -> None:
        self._contents: dict[str, bytearray] = {}
        self._opened: list[bytearray] = []

    def open(self, path: str, *, write: bool, create: bool = False) -> int:
        if path not in self._contents:
            if not create:
                raise FileNotFoundError(errno.ENOENT, "no such file", path)
            self._contents[path] = bytearray()
        self._opened.append(self._contents[path])
        return len(self._opened) - 1

    def close(self, fd: int) -> None:
        self._opened[fd] = bytearray()

    def size(self, fd: int) -> int:
        return len(self._opened[fd])

    def read(self, fd: int, length: int, offset: int) -> bytes:
        return bytes(self._opened[fd][offset : offset + length])

    def write(self, fd: int, data: bytes, offset: int) -> int:
        self._opened[fd][offset : offset + len(data)] = data
        return len(data)

    def truncate(self, fd: int, size: int) -> None:
        del self._opened[fd][size:]

    def sync(self, fd: int) -> None:
        """Memory has nothing to flush."""

    def sync_directory(self, path: str) -> None:
        """Memory has nothing to flush."""

    def names(self, path: str) -> list[str]:
        return [name.rsplit("/", 1)[1] for name in self._contents if name.rsplit("/", 1)[0] == path]

    def exists(self, path: str) -> bool:
        return path in self._contents

    def make_directory(self, path: str) -> None:
        """Memory has no directories."""

    def rename(self, old: str, new: str) -> None:
        self._contents[new] = self._contents.pop(old)

    def remove(self, path: str) -> None:
        self._contents.pop(path, None)

    def lock(self, path: str) -> int:
        return self.open(path, write=True, create=True)

    def hold(self, fd: int) -> None:
        """Nobody else can reach what lies in this object."""

    def is_at(self, fd: int, path: str) -> bool:
        return self._contents.get(path) is self._opened[fd]
