"""A directory of spaces, each with a page log of its own.

memory/FORMAT                       layout name and number, written once
memory/spaces/<space>/LOCK          one writing process; readers need no lock
memory/spaces/<space>/00000001.jsonl …
"""

from __future__ import annotations

import hashlib
import re
from contextlib import closing
from pathlib import Path

from pagestore.errors import NewerFormat, NotAStore, OlderFormat, SpaceNotFound
from pagestore.files import (
    Files,
    RealFiles,
    possible_path,
    read_file,
    translating,
    write_file_atomically,
)
from pagestore.line import FORMAT, decode
from pagestore.lines.files import FileLines
from pagestore.lines.segments import Segments
from pagestore.log import DiskLog
from pagestore.merkle import leaf_hash
from pagestore.options import LogOptions
from pagestore.values import SpaceId

FORMAT_NAME = "tiermem-store"

_FORMAT = re.compile(rf"{FORMAT_NAME} (\d{{1,9}})\n")
_PLAIN_NAME = re.compile(r"(?!x-)[a-z0-9][a-z0-9_-]{0,62}")


class Store:
    """Opens the spaces of one directory, which it makes unless `read_only`.

    Raises `InvalidInput`, `NotAStore`, `NewerFormat`, `OlderFormat`, `Inaccessible`, `Full`; never a bare
    `OSError`.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        read_only: bool = False,
        options: LogOptions | None = None,
        files: Files | None = None,
    ) -> None:
        self.path = possible_path(str(path))
        self._read_only = read_only
        self._options = options
        self._files = files or RealFiles()
        self._spaces = f"{self.path}/spaces"
        self._check_format()

    @property
    def name(self) -> str:
        """How messages name the store: its path."""
        return self.path

    def spaces(self) -> tuple[SpaceId, ...]:
        """Every space that was ever opened for writing, by name."""
        with translating(self.path):
            if not self._files.exists(self._spaces):
                return ()
            names = (self._name_in(directory) for directory in self._files.names(self._spaces))
            return tuple(sorted(name for name in names if name is not None))

    def has_space(self, space: SpaceId) -> bool:
        """Whether the space was ever opened for writing."""
        with translating(self.path):
            directory = self._directory(space)
            return self._files.exists(directory) and self._name_in(directory_name(space)) is not None

    def identity(self, space: SpaceId) -> str | None:
        """`PageLog.identity` of a space, by its first record alone; `None` where that cannot be read."""
        directory = self._directory(space)
        with translating(directory):
            if not self._files.exists(directory):
                return None
            with closing(Segments(self._files, directory, writable=False)) as segments:
                first = segments.read_line(1, 0) if 1 in segments.numbers() else b""
        return leaf_hash(first).hex() if decode(first) is not None else None

    def open_space(self, space: SpaceId, *, read_only: bool | None = None) -> DiskLog:
        """Open the log of a space, making it unless read-only.

        Raises `Locked` while another process writes it, `Corrupt` when it is damaged and not opened
        read-only, `SpaceNotFound` when it is not there and may not be made. The caller closes it.
        """
        read_only = self._read_only if read_only is None else read_only
        directory = self._prepare(space, read_only=read_only)
        return DiskLog(directory, space, options=self._options, files=self._files, read_only=read_only)

    def open_lines(self, space: SpaceId, *, writable: bool) -> FileLines:
        """Open the lines of a space as they lie there, not folded; raises what `open_space` raises.

        The caller closes them.
        """
        directory = self._prepare(space, read_only=not writable)
        segment_bytes = (self._options or LogOptions()).segment_bytes
        return FileLines(self._files, directory, writable=writable, segment_bytes=segment_bytes)

    def _prepare(self, space: SpaceId, *, read_only: bool) -> str:
        """Return the directory of a space, which can be made unless read-only."""
        directory = self._directory(space)
        with translating(directory):
            if not self._files.exists(directory):
                if read_only:
                    raise SpaceNotFound(f"store {self.path!r} has no space {space!r}")
                self._files.make_directory(self._spaces)
        return directory

    def close(self) -> None:
        """Do nothing: a store in a directory holds nothing between two calls."""

    def _directory(self, space: SpaceId) -> str:
        return f"{self._spaces}/{directory_name(space)}"

    def _name_in(self, name: str) -> SpaceId | None:
        """The space a directory holds; `None` for one whose first record was never written."""
        if _PLAIN_NAME.fullmatch(name):
            return SpaceId(name) if self._has_segments(name) else None
        if not name.startswith("x-"):
            return None
        with closing(Segments(self._files, f"{self._spaces}/{name}", writable=False)) as segments:
            for number in segments.numbers():
                header = decode(segments.read_line(number, 0))
                if header is not None and header["t"] == "seg" and isinstance(header.get("space"), str):
                    return SpaceId(header["space"])
        return None

    def _has_segments(self, name: str) -> bool:
        try:
            names = self._files.names(f"{self._spaces}/{name}")
        except NotADirectoryError:  # somebody's file among the spaces
            return False
        return any(file.endswith(".jsonl") for file in names)

    def _check_format(self) -> None:
        with translating(self.path):
            if self._read_only and not self._files.exists(self.path):
                raise NotAStore(f"there is no store at {self.path!r}")
            names = self._names()
            if "FORMAT" in names:
                self._check_number()
                return
            if self._read_only or any(not name.startswith("FORMAT.") for name in names):
                raise NotAStore(f"{self.path!r} is no TierMem store; name another directory, or an empty one")
            self._files.make_directory(self.path)
            write_format(self._files, self.path)

    def _names(self) -> list[str]:
        try:
            return self._files.names(self.path)
        except FileNotFoundError:
            return []
        except NotADirectoryError as error:
            above = (str(path) for path in (Path(self.path), *Path(self.path).parents))
            file = next(filter(self._files.exists, above), self.path)
            raise NotAStore(f"{file!r} is a file; a store is a directory") from error

    def _check_number(self) -> None:
        text = read_file(self._files, f"{self.path}/FORMAT").decode("utf-8", "replace")
        found = _FORMAT.fullmatch(text)
        if found is None:
            raise NotAStore(f"{self.path}/FORMAT does not name a TierMem store: {text[:80]!r}")
        number = int(found[1])
        if number > FORMAT:
            raise NewerFormat(f"{self.path!r} has format {number}; this version reads {FORMAT}; upgrade")
        if number < FORMAT:
            raise OlderFormat(
                f"{self.path!r} has format {number}, which no release wrote: this version reads {FORMAT}; "
                "make a new store of the files that its turns came from"
            )


def write_format(files: Files, directory: str) -> None:
    """Say that a directory is a store of today's format."""
    write_file_atomically(files, directory, "FORMAT", format_file())


def format_file() -> bytes:
    """What the file FORMAT of a store says."""
    return f"{FORMAT_NAME} {FORMAT}\n".encode()


def directory_name(space: SpaceId) -> str:
    """The directory of a space: its name where that is safe on any file system, else a hash of it."""
    if _PLAIN_NAME.fullmatch(space):
        return space
    digest = hashlib.sha256(space.encode("utf-8", "surrogatepass")).hexdigest()
    return f"x-{digest[:40]}"
