"""The numbered files of one space: 00000001.jsonl, 00000002.jsonl, …, read and written at given places."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass

from pagestore.errors import Full, Locked, Poisoned
from pagestore.files import NO_ROOM, Files, read_file, translating, write_all, write_file

_CHUNK = 1 << 16
"""Bytes read at a time to find the end of a line."""
_NAME = re.compile(r"[0-9]{8}\.jsonl")


@dataclass(frozen=True, slots=True)
class Place:
    """Where bytes lie: segment number, offset and length."""

    segment: int
    offset: int
    length: int


class Segments:
    """Open segment files of one directory, a descriptor each.

    Reading raises `Inaccessible`; writing raises `Full`, or `Poisoned` when it is unknown what is on disk.
    Who opens to write holds the first segment too, so that there is one writer even where somebody removed
    the lock file; raises `Locked`.
    """

    def __init__(self, files: Files, directory: str, *, writable: bool) -> None:
        self._files = files
        self._directory = directory
        self._writable = writable
        self._fds: dict[int, int] = {}
        try:
            with translating(directory):
                for number in sorted(map(_number, filter(_NAME.fullmatch, files.names(directory)))):
                    self._open(number)
        except BaseException:
            self.close()
            raise

    def numbers(self) -> list[int]:
        """The segments there are, in order."""
        return sorted(self._fds)

    def where(self, place: Place) -> str:
        """How a place is named to people."""
        return f"{self._directory}/{file_name(place.segment)} at byte {place.offset}"

    def size(self, number: int) -> int:
        """How long a segment is."""
        with translating(self._path(number)):
            return self._files.size(self._fds[number])

    def read(self, place: Place) -> bytes:
        """The bytes at a place; fewer where the file ends."""
        with translating(self._path(place.segment)):
            return self._files.read(self._fds[place.segment], place.length, place.offset)

    def read_all(self, number: int) -> bytes:
        """A whole segment."""
        return self.read(Place(number, 0, self.size(number)))

    def read_line(self, number: int, offset: int) -> bytes:
        """The line that starts at `offset`."""
        raw = b""
        while chunk := self.read(Place(number, offset + len(raw), _CHUNK)):
            end = chunk.find(b"\n") + 1
            if end:
                return raw + chunk[:end]
            raw += chunk
        return raw

    def write(self, number: int, offset: int, data: bytes) -> None:
        """Write all of `data`; on `Full` some of it may be there."""
        try:
            write_all(self._files, self._fds[number], data, offset)
        except OSError as error:
            if error.errno in NO_ROOM:
                raise Full(f"no room on the disk for {self._path(number)!r}; free some") from error
            raise Poisoned(f"writing {self._path(number)!r} failed: {error}; reopen the store") from error

    def truncate(self, number: int, size: int) -> None:
        """Cut a segment to `size` bytes."""
        try:
            self._files.truncate(self._fds[number], size)
        except OSError as error:
            raise Poisoned(f"cutting {self._path(number)!r} failed: {error}; reopen the store") from error

    def sync(self, number: int) -> None:
        """Everything written to a segment is durable, in the file its name leads to, once this returns."""
        try:
            self._files.sync(self._fds[number])
            in_place = self._files.is_at(self._fds[number], self._path(number))
        except OSError as error:
            raise Poisoned(f"syncing {self._path(number)!r} failed: {error}; reopen the store") from error
        if not in_place:
            raise Poisoned(
                f"{self._path(number)!r} was removed or replaced while it was open; "
                "what is written goes to a file that has no name any more; reopen the store"
            )

    def in_place(self, number: int) -> bool:
        """Whether the name of a segment still leads to the file that is open."""
        with translating(self._path(number)):
            return self._files.is_at(self._fds[number], self._path(number))

    def sync_directory(self) -> None:
        """Every segment created is durable, by name, once this returns."""
        try:
            self._files.sync_directory(self._directory)
        except OSError as error:
            raise Poisoned(f"syncing {self._directory!r} failed: {error}; reopen the store") from error

    def create(self, number: int) -> None:
        """Make an empty segment; one that a failed attempt left behind is emptied."""
        if number not in self._fds:
            with translating(self._path(number)):
                self._open(number, create=True)
        self.truncate(number, 0)

    def set_aside(self, number: int, offset: int, data: bytes) -> None:
        """Copy a torn tail to a file of its own before it is cut off: no byte is destroyed."""
        copy = 0
        with translating(self._directory):
            while self._files.exists(path := f"{self._directory}/{number:08d}.{offset}-{copy}.torn"):
                copy += 1
            write_file(self._files, path, data)

    def torn(self) -> tuple[str, ...]:
        """The files of torn tails."""
        with translating(self._directory):
            return tuple(sorted(n for n in self._files.names(self._directory) if n.endswith(".torn")))

    def purge_torn(self) -> None:
        """Destroy the torn tails: they may hold words of a turn that was stored again and is now erased."""
        names = self.torn()
        with translating(self._directory):
            for name in names:
                path = f"{self._directory}/{name}"
                fd = self._files.open(path, write=True)
                try:
                    # Emptied and synced first: an unsynced removal may be undone by a power cut.
                    self._files.truncate(fd, 0)
                    self._files.sync(fd)
                finally:
                    self._files.close(fd)
                self._files.remove(path)
        if names:
            self.sync_directory()

    def read_cache(self, number: int) -> bytes | None:
        """The cache file of a segment that ended; `None` when there is none that can be read."""
        path = f"{self._directory}/{number:08d}.idx"
        with suppress(OSError):  # a cache: without it the segment itself is read
            if self._files.exists(path):
                return read_file(self._files, path)
        return None

    def remove_cache(self, number: int) -> None:
        """Destroy the cache file of a segment, if it has one: it is made again at the next opening."""
        path = f"{self._directory}/{number:08d}.idx"
        with translating(path):
            if self._files.exists(path):
                self._files.remove(path)
                self.sync_directory()

    def write_cache(self, number: int, data: bytes) -> None:
        """Write the cache file of a segment that ended, if that is possible."""
        with suppress(OSError):  # a cache: its checksum tells a half-written one
            write_file(self._files, f"{self._directory}/{number:08d}.idx", data)

    def close(self) -> None:
        """Close every file."""
        while self._fds:
            self._files.close(self._fds.popitem()[1])

    def _open(self, number: int, *, create: bool = False) -> None:
        path = self._path(number)
        self._fds[number] = self._files.open(path, write=self._writable, create=create)
        if self._writable and len(self._fds) == 1:
            try:
                self._files.hold(self._fds[number])
            except BlockingIOError as error:
                raise Locked(f"{path!r} is being written elsewhere; close it there") from error

    def _path(self, number: int) -> str:
        return f"{self._directory}/{file_name(number)}"


def file_name(number: int) -> str:
    """The file name of a segment."""
    return f"{number:08d}.jsonl"


def _number(name: str) -> int:
    return int(name.partition(".")[0])
