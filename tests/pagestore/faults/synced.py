"""The real file layer, watched at the calls it makes of the operating system: what was not synced is lost.

Everything happens for real, in a folder. Beside it stands a disk that has only what was synced: of a file
what it held at its last fsync, of a folder the names it held at its last fsync. Some writes take only a part,
as a system may. After every step of a client's day the power goes, and what that disk has is opened.
"""

from __future__ import annotations

import fcntl
import os
import stat
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

from pagestore import Store
from pagestore.errors import PageStoreError
from tests.pagestore.faults.powerloss import Violation, check
from tests.pagestore.faults.simfiles import Image
from tests.pagestore.faults.workload import DIRECTORY, SPACE, Expected, options, script

_STORE = "new/memory"
_LOG = f"{_STORE}/spaces/{SPACE}/"


@dataclass(frozen=True, slots=True)
class _Entry:
    """A name in a folder: which file it leads to."""

    file: tuple[int, int]
    is_folder: bool

    @classmethod
    def of(cls, found: os.stat_result) -> _Entry:
        return cls((found.st_dev, found.st_ino), stat.S_ISDIR(found.st_mode))


class SyncedDisk:
    """What a power cut leaves under `root`, which was there before. `syncs` counts what reached it."""

    def __init__(self, root: Path, chance: Random) -> None:
        self.syncs = 0
        self._root = root
        self._chance = chance
        self._contents: dict[_Entry, bytes] = {}
        self._names: dict[_Entry, dict[str, _Entry]] = {}
        self._held: dict[_Entry, int] = {}

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Meanwhile no fsync of this process is missed, and none takes the time of a real one."""
        with ExitStack() as patched:
            for name in ("fsync", "fdatasync"):
                if hasattr(os, name):
                    patched.enter_context(patch.object(os, name, self._sync))
            patched.enter_context(patch.object(os, "pwrite", self._short_writes(os.pwrite)))
            if hasattr(fcntl, "F_FULLFSYNC"):
                patched.enter_context(patch.object(fcntl, "fcntl", lambda fd, _: self._sync(fd)))
            try:
                yield
            finally:
                for fd in self._held.values():
                    os.close(fd)

    def image(self) -> Image:
        """Path under the root, and content, of every file whose name survives."""
        return dict(self._below(_Entry.of(self._root.stat()), ""))

    def _below(self, folder: _Entry, path: str) -> Iterator[tuple[str, bytes]]:
        for name, entry in self._names.get(folder, {}).items():
            if entry.is_folder:
                yield from self._below(entry, f"{path}{name}/")
            else:
                yield path + name, self._contents.get(entry, b"")

    def _sync(self, fd: int) -> None:
        self.syncs += 1
        found = os.fstat(fd)
        entry = _Entry.of(found)
        if not entry.is_folder:
            self._contents[entry] = os.pread(fd, found.st_size, 0)
            return
        self._names[entry] = {}
        for name in os.listdir(fd):
            inside = _Entry.of(os.stat(name, dir_fd=fd, follow_symlinks=False))
            self._names[entry][name] = inside
            if inside not in self._held:  # or its number could be given to another file once it is removed
                self._held[inside] = os.open(name, os.O_RDONLY, dir_fd=fd)

    def _short_writes(self, pwrite: Any) -> Any:
        def write(fd: int, data: bytes, offset: int) -> int:
            length = len(data)
            if length and self._chance.random() < 0.3:
                length = self._chance.randint(1, length)
            return int(pwrite(fd, data[:length], offset))

        return write


@dataclass(slots=True)
class Lost:
    """How many power cuts were gone through, how many syncs were seen, and what was lost."""

    cuts: int = 0
    syncs: int = 0
    violations: Counter[str] = field(default_factory=Counter)


def days(seeds: Iterable[int], *, limit: int | None = None, stop_at_first: bool = False) -> Lost:
    """A client's day after the other, each in a new store, with a power cut after every step."""
    lost = Lost()
    for seed in seeds:
        with TemporaryDirectory() as folder:
            disk = SyncedDisk(Path(folder), Random(seed))
            with disk.watching():
                for broken in _day(Path(folder), disk, seed):
                    lost.cuts += 1
                    lost.violations.update(broken)
                    if lost.cuts == limit or (stop_at_first and lost.violations):
                        return lost
            lost.syncs += disk.syncs
    return lost


def _day(folder: Path, disk: SyncedDisk, seed: int) -> Iterator[list[str]]:
    """What was broken at each power cut."""
    chance, expected = Random(seed), Expected()
    with Store(folder / _STORE, options=options(seed)).open_space(SPACE) as log:
        for step in script(seed):
            try:
                step(log, expected)
            except PageStoreError as error:
                yield [f"{type(error).__name__} from the log itself"]
                return
            yield _broken(disk.image(), expected, seed, chance)


def _broken(image: Image, expected: Expected, seed: int, chance: Random) -> list[str]:
    if image.get(f"{_STORE}/FORMAT") != b"tiermem-store 2\n":
        return ["the store is no store any more"]
    left = {path.replace(_LOG, f"{DIRECTORY}/"): content for path, content in image.items() if _LOG in path}
    try:
        check(left, expected, seed, chance)
    except Violation as error:
        return [str(error)]
    except PageStoreError as error:
        return [f"{type(error).__name__} at the next opening"]
    return []
