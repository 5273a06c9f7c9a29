"""Room on the disk for the embedded index: asked for before it is used.

The engine maps files that are mostly holes. Touching a hole when the disk is full ends the process by a
signal that nobody can catch, so nothing is opened or written without room to spare. Another process that
fills the disk in the very moment between the question and the write is not held off by this.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

from tiermem.errors import IndexFull

SPARE = 32 << 20
"""Bytes that stay free. An empty index takes less than a million."""

SPARE_IN_MEMORY = 256 << 20
"""The same where a hole takes room already when it is read (tmpfs): an empty index takes 140 million there,
and rewriting its segments takes 200 million more.
"""


def demand_room(path: Path, needed: int = 0) -> None:
    """Raise `IndexFull` unless the disk of `path` has `needed` bytes free, and some to spare."""
    there = next(place for place in (path, *path.absolute().parents) if place.is_dir())
    _demand(path, there, needed + SPARE)
    if _reading_takes_room(there):
        _demand(path, there, needed + SPARE_IN_MEMORY)


def room_of(path: Path) -> int:
    """The bytes that the files below `path` take up on the disk."""
    return sum(entry.stat(follow_symlinks=False).st_blocks * 512 for entry in below(path))


def below(path: Path) -> Iterator[os.DirEntry[str]]:
    """Every file and directory below one; links are not followed."""
    with os.scandir(path) as entries:
        for entry in entries:
            yield entry
            if entry.is_dir(follow_symlinks=False):
                yield from below(Path(entry))


def _demand(path: Path, there: Path, needed: int) -> None:
    disk = os.statvfs(there)
    free = disk.f_bavail * disk.f_frsize
    if free < needed:
        raise IndexFull(
            f"the index at {str(path)!r} needs {_megabytes(needed)} MB of free disk, there are "
            f"{_megabytes(free)}: it is not used until there is room; what is stored is searched by its words"
        )


@cache
def _reading_takes_room(there: Path) -> bool:
    """Whether a hole of a file takes up room once it was read, found by reading one."""
    with suppress(OSError), tempfile.TemporaryFile(dir=there) as probe:
        probe.truncate(mmap.PAGESIZE)
        with mmap.mmap(probe.fileno(), mmap.PAGESIZE) as page:
            return page[0] == 0 and os.fstat(probe.fileno()).st_blocks > 0
    return False  # nothing can be written there, which whoever opens the index is told


def _megabytes(amount: int) -> str:
    return f"{amount / (1 << 20):.1f}"
