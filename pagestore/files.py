"""The file layer: the few calls through which all else touches the disk, so that tests can break it.

The rules for real files:
- What is made is its owner's alone: files 600, directories 700, whatever the directory above them is.
- No link is followed to a file, and nothing but a plain file is opened: who can put a link there does not
  choose what is read or written. The directory of a store may itself be a link.
"""

# ruff: noqa: D102 - the protocol says what each call does; an implementation has nothing to add

from __future__ import annotations

import errno
import fcntl
import os
import socket
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import get_ident
from typing import IO, Protocol

from pagestore.errors import Full, Inaccessible, InvalidInput, Locked

NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT})
_IS_A_LINK = frozenset({errno.ELOOP, errno.EMLINK})
"""What systems say of a link that is not to be followed; what else it means is known by the path."""


class Files(Protocol):
    """What the log asks of a file system. Every call may raise `OSError`."""

    def open(self, path: str, *, write: bool, create: bool = False) -> int:
        """Open a plain file; anything else that is there, a link above all, is an error."""
        ...

    def close(self, fd: int) -> None: ...
    def size(self, fd: int) -> int: ...
    def read(self, fd: int, length: int, offset: int) -> bytes: ...
    def write(self, fd: int, data: bytes, offset: int) -> int:
        """Write some of `data`; returns how many bytes."""
        ...

    def truncate(self, fd: int, size: int) -> None: ...
    def sync(self, fd: int) -> None:
        """The content of the file survives a power cut once this returns."""
        ...

    def sync_directory(self, path: str) -> None:
        """The names in the directory survive a power cut once this returns."""
        ...

    def names(self, path: str) -> list[str]: ...
    def exists(self, path: str) -> bool: ...
    def make_directory(self, path: str) -> None:
        """Make sure of a directory and of those above it; its name survives a power cut."""
        ...

    def rename(self, old: str, new: str) -> None: ...
    def remove(self, path: str) -> None: ...
    def lock(self, path: str) -> int:
        """Take the lock file for this process; raises `Locked` with who holds it."""
        ...

    def hold(self, fd: int) -> None:
        """Keep everybody else from holding the file until it is closed; `BlockingIOError` if one does."""
        ...

    def is_at(self, fd: int, path: str) -> bool:
        """Whether `path` still leads to the open file, which was not removed or replaced."""
        ...


class RealFiles:
    """The operating system's files."""

    def open(self, path: str, *, write: bool, create: bool = False) -> int:
        flags = (os.O_RDWR if write else os.O_RDONLY) | (os.O_CREAT if create else 0)
        try:
            # Without waiting, so that a pipe that was put there is refused below.
            fd = os.open(path, flags | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)
        except OSError as error:
            if error.errno in _IS_A_LINK and Path(path).is_symlink():
                raise OSError(errno.ELOOP, "it is a link, and links are not followed", path) from error
            raise
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            os.close(fd)
            raise OSError(errno.EINVAL, "it is no plain file", path)
        return fd

    def close(self, fd: int) -> None:
        os.close(fd)

    def size(self, fd: int) -> int:
        return os.fstat(fd).st_size

    def read(self, fd: int, length: int, offset: int) -> bytes:
        return os.pread(fd, length, offset)

    def write(self, fd: int, data: bytes, offset: int) -> int:
        return os.pwrite(fd, data, offset)

    def truncate(self, fd: int, size: int) -> None:
        os.ftruncate(fd, size)

    def sync(self, fd: int) -> None:
        if sys.platform == "darwin":
            fcntl.fcntl(fd, fcntl.F_FULLFSYNC)  # fsync stops at the drive's cache there
        else:
            os.fdatasync(fd)

    def sync_directory(self, path: str) -> None:
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)

    def names(self, path: str) -> list[str]:
        return os.listdir(path)  # noqa: PTH208 - the protocol speaks of paths as text

    def exists(self, path: str) -> bool:
        return Path(path).exists()

    def make_directory(self, path: str) -> None:
        above = Path(path).absolute().parent
        if not above.exists():
            self.make_directory(str(above))
        Path(path).mkdir(mode=0o700, exist_ok=True)
        with suppress(PermissionError):  # what may be written and not opened cannot be synced
            # Also for one that is there: a process that made it may have died before this.
            self.sync_directory(str(above))

    def rename(self, old: str, new: str) -> None:
        Path(old).replace(new)

    def remove(self, path: str) -> None:
        Path(path).unlink(missing_ok=True)

    def lock(self, path: str) -> int:
        fd = self.open(path, write=True, create=True)
        try:
            self.hold(fd)
            in_place = self.is_at(fd, path)
        except BlockingIOError as error:
            holder = self.read(fd, 1000, 0).decode("utf-8", "replace").strip() or "another process"
            self.close(fd)
            raise Locked(f"{path!r} is held by {holder}; close it there, or open read-only") from error
        except OSError:
            self.close(fd)
            raise
        if not in_place:  # removed between the two calls: the next process would lock another file
            self.close(fd)
            return self.lock(path)
        self.truncate(fd, 0)
        self.write(fd, f"pid {os.getpid()} on host {socket.gethostname()}\n".encode(), 0)
        return fd

    def hold(self, fd: int) -> None:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def is_at(self, fd: int, path: str) -> bool:
        try:
            there = Path(path).lstat()
        except (FileNotFoundError, NotADirectoryError):
            return False
        return os.path.samestat(os.fstat(fd), there)


def possible_path(path: str) -> str:
    """`path`, if it is one that a file system could have; raises `InvalidInput`."""
    try:
        possible = b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        possible = False
    if not possible:
        raise InvalidInput(f"{path!r} cannot be a path")
    return path


@contextmanager
def translating(path: str) -> Iterator[None]:
    """Raise our errors in place of the operating system's, which stay as the cause."""
    try:
        yield
    except OSError as error:
        reason = f"{error.strerror or error} ({error.filename or path!r})"
        if error.errno in NO_ROOM:
            raise Full(f"no room on the disk: {reason}; free some, or open read-only") from error
        raise Inaccessible(f"the file system refused: {reason}") from error


def write_file(files: Files, path: str, data: bytes, *, sync: bool = False) -> None:
    """Make `path` hold exactly `data`. Not atomic, and only synced with `sync`."""
    fd = files.open(path, write=True, create=True)
    try:
        files.truncate(fd, 0)
        write_all(files, fd, data, 0)
        if sync:
            files.sync(fd)
    finally:
        files.close(fd)


def write_all(files: Files, fd: int, data: bytes, offset: int) -> None:
    """Write all of `data`, however little the file system takes at a time."""
    while data:
        written = files.write(fd, data, offset)
        data, offset = data[written:], offset + written


def read_file(files: Files, path: str) -> bytes:
    """Everything `path` holds."""
    fd = files.open(path, write=False)
    try:
        return files.read(fd, files.size(fd), 0)
    finally:
        files.close(fd)


def write_file_atomically(files: Files, directory: str, name: str, data: bytes) -> None:
    """Make `name` hold `data`, or leave it as it was, also when the power goes."""
    temporary = f"{directory}/{name}.{os.getpid()}-{get_ident()}"
    write_file(files, temporary, data, sync=True)
    try:
        files.rename(temporary, f"{directory}/{name}")
    except OSError:
        with suppress(OSError):  # the rename is the failure to report
            files.remove(temporary)
        raise
    files.sync_directory(directory)


def lies_in(place: str | Path, directory: str | Path) -> bool:
    """Whether a path leads into a directory, links followed."""
    return Path(os.path.realpath(place)).is_relative_to(os.path.realpath(directory))


@contextmanager
def new_file(path: str | Path, *, replace: bool) -> Iterator[IO[bytes]]:
    """A file outside a store, its owner's alone, that gets its name when all of it is written and durable.

    Raises `InvalidInput` where there is one, unless `replace`, and `Inaccessible` without a directory for it.
    """
    target = Path(possible_path(str(path)))
    with translating(str(path)):
        if target.exists() and not (replace and target.is_file()):
            raise InvalidInput(
                f"{str(path)!r} exists: name another file, or replace it with `replace=True` or `--replace`"
            )
        if not target.parent.is_dir():
            raise Inaccessible(f"there is no directory {str(target.parent)!r}: make it, or name another file")
        partial = target.with_name(f"{target.name}.part-{os.getpid()}")
        try:
            with create_file(partial) as out:
                yield out
                out.flush()
                os.fsync(out.fileno())
            partial.replace(target)
        finally:
            partial.unlink(missing_ok=True)
        RealFiles().sync_directory(str(target.absolute().parent))


def create_file(path: Path) -> IO[bytes]:
    """A file that was not there, open to write, its owner's alone."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb")
