"""A file system in memory with a volatile cache, which can crash, lose power, fail to sync and fill up.

Every mutating call is an operation; a crash can come before any of them, and inside a write. What the disk
holds after a power cut is durable state plus a chosen part of what was not synced yet.
"""

from __future__ import annotations

import errno
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Literal

Image = dict[str, bytes]
Loss = Literal["none", "all", "prefix", "sector", "one", "size", "garbage"]
LOSSES: tuple[Loss, ...] = (
    "none",  # nothing unsynced survived
    "all",  # everything survived
    "prefix",  # unsynced writes survive in order up to a point, the last one torn
    "prefix",
    "sector",  # every unsynced sector survives or not by itself
    "sector",
    "one",  # everything survived but for one sector
    "one",
    "size",  # files grew, their new content did not arrive: zeros
    "garbage",  # as sector, and holes show what lay on the disk before
)
_SECTOR = 512
_OLD_BYTES = b"abcdefgh ijklmnop,."


class Crash(BaseException):
    """The power is gone. Derives from BaseException because no code gets to handle it."""


@dataclass(frozen=True, slots=True)
class _Write:
    offset: int
    data: bytes


@dataclass(frozen=True, slots=True)
class _Cut:
    size: int


@dataclass(slots=True, eq=False)
class _Node:
    """A file: what is on the disk, what programs see, and what separates the two."""

    disk: bytearray = field(default_factory=bytearray)
    cache: bytearray = field(default_factory=bytearray)
    pending: list[_Write | _Cut] = field(default_factory=list)


class SimFiles:
    """Implements `pagestore.files.Files`."""

    def __init__(
        self,
        image: Mapping[str, bytes] | None = None,
        *,
        crash_at: int | None = None,
        tear: int | None = None,
        failing_syncs: Collection[int] = (),
        room: int | None = None,
    ) -> None:
        self.operations = 0
        self.syncs = 0
        self.crash_at = crash_at
        self.tear = tear
        self.failing_syncs = frozenset(failing_syncs)
        self.room = room
        self._dead = False
        self._on_disk = {
            name: _Node(bytearray(data), bytearray(data)) for name, data in (image or {}).items()
        }
        self._names = dict(self._on_disk)
        self._opened: dict[int, _Node] = {}
        self._next = 3

    def contents(self) -> Image:
        """What a program sees."""
        return {name: bytes(node.cache) for name, node in self._names.items()}

    def revive(self) -> None:
        """The process may start again; what it had open stays as it was."""
        self.crash_at = None
        self._dead = False

    # --- the calls of the file layer

    def open(self, path: str, *, write: bool, create: bool = False) -> int:
        if self._dead:
            raise Crash
        if path not in self._names:
            if not create:
                raise FileNotFoundError(errno.ENOENT, "no such file", path)
            self._operate()
            self._names[path] = _Node()
        self._next += 1
        self._opened[self._next] = self._names[path]
        return self._next

    def close(self, fd: int) -> None:
        self._opened.pop(fd, None)

    def size(self, fd: int) -> int:
        return len(self._opened[fd].cache)

    def read(self, fd: int, length: int, offset: int) -> bytes:
        return bytes(self._opened[fd].cache[offset : offset + length])

    def write(self, fd: int, data: bytes, offset: int) -> int:
        node = self._opened[fd]
        data = self._what_fits(node, data, offset)
        try:
            self._operate()
        except Crash:
            if self.tear is not None and data:
                self._do(node, _Write(offset, data[: self.tear % len(data)]))
            raise
        self._do(node, _Write(offset, bytes(data)))
        return len(data)

    def truncate(self, fd: int, size: int) -> None:
        node = self._opened[fd]
        self._operate()
        if self.room is not None:
            self.room += max(0, len(node.cache) - size)
        self._do(node, _Cut(size))

    def sync(self, fd: int) -> None:
        self.syncs += 1
        node = self._opened[fd]
        if self.syncs in self.failing_syncs:
            # The kernel drops the dirty pages from its list and marks them clean; the cache keeps them.
            node.pending = []
            raise OSError(errno.EIO, "Input/output error")
        self._operate()
        for change in node.pending:
            _apply(node.disk, change)
        node.pending = []

    def sync_directory(self, path: str) -> None:
        self._operate()
        self._on_disk = dict(self._names)

    def names(self, path: str) -> list[str]:
        return [name.rpartition("/")[2] for name in self._names if name.rpartition("/")[0] == path]

    def exists(self, path: str) -> bool:
        return path in self._names

    def make_directory(self, path: str) -> None:
        """Directories are always there."""

    def rename(self, old: str, new: str) -> None:
        self._operate()
        self._names[new] = self._names.pop(old)

    def remove(self, path: str) -> None:
        self._operate()
        self._names.pop(path, None)

    def lock(self, path: str) -> int:
        """Processes do not meet here."""
        return -1

    def hold(self, fd: int) -> None:
        """Processes do not meet here."""

    def is_at(self, fd: int, path: str) -> bool:
        return fd == -1 or self._names.get(path) is self._opened[fd]

    # --- what happens behind them

    def _operate(self) -> None:
        if self._dead:
            raise Crash
        self.operations += 1
        if self.crash_at is not None and self.operations >= self.crash_at:
            self._dead = True
            raise Crash

    def _do(self, node: _Node, change: _Write | _Cut) -> None:
        _apply(node.cache, change)
        node.pending.append(change)

    def _what_fits(self, node: _Node, data: bytes, offset: int) -> bytes:
        if self.room is None:
            return data
        if self.room <= 0 and offset + len(data) > len(node.cache):
            self._operate()
            raise OSError(errno.ENOSPC, "No space left on device")
        growth = max(0, offset + len(data) - len(node.cache))
        if growth > self.room:
            data = data[: max(1, len(data) - (growth - self.room))]
        self.room -= max(0, offset + len(data) - len(node.cache))
        return data

    # --- power loss

    def image(self, loss: Loss, chance: Random) -> Image:
        """What the disk holds when the power comes back."""
        return {
            name: _survives(node, loss, chance) for name, node in sorted(self._entries(loss, chance).items())
        }

    def _entries(self, loss: Loss, chance: Random) -> dict[str, _Node]:
        """Every unsynced name came, or went, by itself."""
        entries = dict(self._on_disk)
        for name in sorted(self._on_disk.keys() | self._names.keys()):
            if self._on_disk.get(name) is self._names.get(name) or loss == "none":
                continue
            if loss == "all" or chance.random() < 0.5:
                if name in self._names:
                    entries[name] = self._names[name]
                else:
                    del entries[name]
        return entries


def _apply(content: bytearray, change: _Write | _Cut) -> None:
    if isinstance(change, _Cut):
        del content[change.size :]
        content.extend(bytes(max(0, change.size - len(content))))
    elif change.data:
        content.extend(bytes(max(0, change.offset - len(content))))
        content[change.offset : change.offset + len(change.data)] = change.data


def _survives(node: _Node, loss: Loss, chance: Random) -> bytes:
    content = bytearray(node.disk)
    for change in _surviving(node, loss, chance):
        _apply(content, change)
    return bytes(content)


def _surviving(node: _Node, loss: Loss, chance: Random) -> list[_Write | _Cut]:
    match loss:
        case "none":
            return []
        case "all":
            return node.pending
        case "prefix":
            return _prefix(node, chance)
        case "size":
            return [_zeroed(change, len(node.disk)) for change in node.pending]
        case "one":
            return [*node.pending, *_one_sector(node, chance)]
        case _:
            garbage = loss == "garbage"
            return [
                kept for change in node.pending for kept in _sectors(change, len(node.disk), garbage, chance)
            ]


def _prefix(node: _Node, chance: Random) -> list[_Write | _Cut]:
    kept = node.pending[: chance.randint(0, len(node.pending))]
    if kept and isinstance(last := kept[-1], _Write) and last.data:
        kept[-1] = _Write(last.offset, last.data[: chance.randrange(len(last.data) + 1)])
    return kept


def _zeroed(change: _Write | _Cut, on_disk: int) -> _Write | _Cut:
    if isinstance(change, _Write) and change.offset >= on_disk:
        return _Write(change.offset, bytes(len(change.data)))
    return change


def _one_sector(node: _Node, chance: Random) -> list[_Write]:
    """One sector of the writes that never arrived, where the disk had nothing before."""
    writes = [change for change in node.pending if isinstance(change, _Write) and change.data]
    if not writes:
        return []
    write = chance.choice(writes)
    end = write.offset + len(write.data)
    start = max(chance.randrange(write.offset, end) // _SECTOR * _SECTOR, write.offset)
    end = min(start // _SECTOR * _SECTOR + _SECTOR, end)
    if start < len(node.disk):
        return []
    return [_Write(start, bytes(end - start) if chance.random() < 0.4 else _old(end - start, chance))]


def _sectors(change: _Write | _Cut, on_disk: int, garbage: bool, chance: Random) -> list[_Write | _Cut]:
    if isinstance(change, _Cut):
        return [change] if chance.random() < 0.5 else []
    kept: list[_Write | _Cut] = []
    start, end = change.offset, change.offset + len(change.data)
    while start < end:
        stop = min((start // _SECTOR + 1) * _SECTOR, end)
        if chance.random() < 0.5:
            kept.append(_Write(start, change.data[start - change.offset : stop - change.offset]))
        elif garbage and start >= on_disk and chance.random() < 0.3:
            noise = chance.randbytes(stop - start) if chance.random() < 0.4 else _old(stop - start, chance)
            kept.append(_Write(start, noise))
        start = stop
    return kept


def _old(length: int, chance: Random) -> bytes:
    return bytes(chance.choice(_OLD_BYTES) for _ in range(length))
