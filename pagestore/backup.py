"""One file out of a store's logs, and a store out of such a file.

The file is a tar, packed with gzip: `BACKUP.json`, which says what follows, then `FORMAT` and the segments
under the names they have in a store. No index, no lock, no cache: what can be made again is made again.

The rules:
- A backup holds what was acknowledged when it began, also while another process writes: each log up to an
  intact line, the same bytes when they were hashed, verified and copied.
- The same logs make the same file.
- A file to restore may come from anybody. Where its parts go is computed here and never read from it, each
  must be the one that `BACKUP.json` promises, and the logs must verify as what was backed up. Only then does
  the directory get its name.
- Another history can be written into such a file: a checkpoint kept elsewhere tells that.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import shutil
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from tarfile import BLOCKSIZE, USTAR_FORMAT, TarError, TarInfo
from typing import IO, Any

from pagestore.errors import Corrupt, Full, InvalidInput, Locked, NotAStore, PageStoreError, SpaceNotFound
from pagestore.files import RealFiles, create_file, lies_in, new_file, possible_path, translating, write_file
from pagestore.line import MALFORMED, as_written, canonical
from pagestore.lines.files import FileLines
from pagestore.lines.segments import file_name
from pagestore.recovery import recover
from pagestore.store import Store, directory_name, format_file
from pagestore.values import Checkpoint, SpaceId, checkpoint_of
from pagestore.verify import verify

BACKUP_FORMAT = "tiermem-backup 1"

Progress = Callable[[int, int], None]
"""Bytes done, and bytes in all."""

_PACKED = b"\x1f\x8b\x08" + bytes(6) + b"\xff"
"""How a backup begins: gzip, with no name and no time."""
_CONTENTS = "BACKUP.json"
_LONGEST_CONTENTS = 64 << 20
"""Bytes that the description of a backup may have: it is read whole."""
_LONGEST_FILE = 8**11
"""Bytes from which on a tar cannot tell the length of a file."""
_CHUNK = 1 << 20
"""Bytes read and written at a time."""
_ATTEMPTS = 5
"""How often a log is looked at again that changes while it is copied: words are being erased from it."""
_NUMBERS = range(1, 10**8)
_UNPACKING = (EOFError, gzip.BadGzipFile, zlib.error, TarError)


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedSpace:
    """What a backup holds of one space; `checkpoint` commits to all of it."""

    space: SpaceId
    records: int
    turns: int
    pages: int
    bytes: int
    checkpoint: Checkpoint


@dataclass(frozen=True, slots=True, kw_only=True)
class _File:
    """The part of one segment that is in a backup."""

    number: int
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Log:
    """One space in a backup."""

    saved: SavedSpace
    files: tuple[_File, ...]


class _ChangedLog(Exception):
    """A log is no more what it was a moment ago."""


def write_backup(
    store: str | Path,
    to: str | Path,
    *,
    spaces: Sequence[SpaceId] | None = None,
    replace: bool = False,
    progress: Progress | None = None,
) -> tuple[SavedSpace, ...]:
    """Write one file with the logs of a store, or of some of its spaces: all of it or nothing.

    Nothing in the store is written and no lock is taken. Raises `NotAStore`, `SpaceNotFound`, `Corrupt` for a
    damaged log, `InvalidInput` where the file exists (unless `replace`) or would lie in the store, `Full`,
    `Inaccessible`, and `Locked` where words are being erased all the while.
    """
    source, target = Store(store, read_only=True), Path(possible_path(str(to)))
    if lies_in(target, source.path):
        raise InvalidInput(f"{str(to)!r} lies in the store: a backup is kept elsewhere")
    named = source.spaces() if spaces is None else tuple(spaces)
    for space in named:
        if not source.has_space(space):
            raise SpaceNotFound(f"store {source.path!r} has no space {space!r}")
    why: PageStoreError = Locked(f"words were being erased from {source.path!r} all the while; try again")
    for _ in range(_ATTEMPTS):
        try:
            return _save(source, named, target, progress, replace=replace, begun=spaces is None)
        except Corrupt as error:
            why = error
        except _ChangedLog:
            pass  # what was hashed and verified is not what would be copied: looked at again, as above
    raise why


def _save(
    source: Store,
    spaces: Sequence[SpaceId],
    target: Path,
    progress: Progress | None,
    *,
    replace: bool,
    begun: bool,
) -> tuple[SavedSpace, ...]:
    """Write the file, once; `_ChangedLog`, or `Corrupt`, where words are erased meanwhile.

    With `begun` a space whose first record was never written, for a crash, is left out.
    """
    with ExitStack() as stack, new_file(target, replace=replace) as out:
        found = [_LogCopy(stack, source.path, space) for space in spaces]
        copies = [copy for copy in found if copy.sizes or not begun]
        reading = _count_progress(2 * sum(sum(copy.sizes.values()) for copy in copies), progress)
        logs = [(copy, copy.read(reading)) for copy in copies]
        _write(out, logs, reading)
    return tuple(log.saved for _, log in logs)


class _LogCopy:
    """One log as it is now."""

    def __init__(self, stack: ExitStack, store: str, space: SpaceId) -> None:
        self.directory = f"{store}/spaces/{directory_name(space)}"
        self._space = space
        self._lines = FileLines(RealFiles(), self.directory, writable=False, segment_bytes=0)
        stack.callback(self._lines.close)
        with translating(self.directory), as_written(self.directory):
            self._found = recover(self._lines, space, read_only=True)
        self.sizes = self._lines.sizes()

    def read(self, reading: Callable[[int], None]) -> _Log:
        """What the log holds, verified. Raises `Corrupt`, also where words were erased meanwhile."""
        if not self.sizes:
            raise SpaceNotFound(f"{self.directory!r} holds no log of space {self._space!r}")
        # Hashed, verified, copied: where the copy has the hash, so had the bytes that were verified between.
        files = tuple(self.read_segment(number, reading) for number in self.sizes)
        with translating(self.directory), as_written(self.directory):
            report = verify(self._lines, self._found.state)
        damage = (*self._found.damage, *report.damage)
        if damage:
            raise Corrupt(
                f"space {self._space!r} is damaged and is not backed up: {damage[0].where}: "
                f"{damage[0].what}; `verify` names all of it"
            )
        saved = SavedSpace(
            space=self._space,
            records=report.records,
            turns=report.turns,
            pages=report.pages,
            bytes=sum(self.sizes.values()),
            checkpoint=report.checkpoint,
        )
        return _Log(saved=saved, files=files)

    def read_segment(
        self, number: int, reading: Callable[[int], None], out: gzip.GzipFile | None = None
    ) -> _File:
        """Read a segment, and write it to `out`; `_ChangedLog` where there is less of it now."""
        digest = hashlib.sha256()
        for start in range(0, self.sizes[number], _CHUNK):
            wanted = min(_CHUNK, self.sizes[number] - start)
            chunk = self._lines.chunk(number, start, wanted)
            if len(chunk) != wanted:
                raise _ChangedLog
            if out is not None:
                out.write(chunk)
            digest.update(chunk)
            reading(len(chunk))
        return _File(number=number, bytes=self.sizes[number], sha256=digest.hexdigest())


def _write(out: IO[bytes], logs: Sequence[tuple[_LogCopy, _Log]], reading: Callable[[int], None]) -> None:
    """Every part of a backup; `_ChangedLog` where a log is not what was hashed."""
    spaces = [{**asdict(log.saved), "files": [asdict(file) for file in log.files]} for _, log in logs]
    contents = canonical({"format": BACKUP_FORMAT, "spaces": spaces})
    with gzip.GzipFile(filename="", fileobj=out, mode="wb", compresslevel=6, mtime=0) as packed:
        _write_entry(packed, _CONTENTS, contents)
        _write_entry(packed, "FORMAT", format_file())
        for copy, log in logs:
            for file in log.files:
                packed.write(_header(_name(log.saved.space, file.number), file.bytes))
                if copy.read_segment(file.number, reading, packed) != file:
                    raise _ChangedLog
                packed.write(bytes(_padding(file.bytes)))
        packed.write(bytes(2 * BLOCKSIZE))


def restore_backup(
    archive: str | Path, to: str | Path, *, replace: bool = False, progress: Progress | None = None
) -> tuple[SavedSpace, ...]:
    """Make the directory `to` a store of what a backup holds: all of it, verified, or nothing.

    Raises `InvalidInput` for a file that is no backup and where `to` is a store already (unless `replace`,
    which removes that one), `Corrupt` for a backup that is not what was written, `NotAStore` where `to` holds
    something else, `Locked` where the store to be replaced is being written, `Full`, `Inaccessible`.
    """
    target = Path(os.path.realpath(possible_path(str(to))))
    _refuse_what_is_there(target, replace=replace)
    staging = target.with_name(f"{target.name}.restoring-{os.getpid()}")
    files = RealFiles()
    with translating(str(to)):
        files.make_directory(str(target.parent))
        staging.mkdir(mode=0o700)
        try:
            with _open_archive(possible_path(str(archive))) as packed:
                logs = _unpack(packed, str(archive), staging, progress)
            for log in logs:
                _check(log, str(archive), staging)
            _put_in_place(staging, target)
        except BaseException:
            shutil.rmtree(staging, ignore_errors=True)
            raise
        files.sync_directory(str(target.parent))
    return tuple(log.saved for log in logs)


def _unpack(
    packed: gzip.GzipFile, archive: str, staging: Path, progress: Progress | None
) -> tuple[_Log, ...]:
    """Write the segments of a backup below `staging`, where each is what its contents promise."""
    try:
        logs = _contents(packed, archive)
        reading = _with_room(logs, archive, staging, progress)
        _expect(packed, _header("FORMAT", len(format_file())) + _pad(format_file()), archive)
        write_file(RealFiles(), str(staging / "FORMAT"), format_file())
        for log in logs:
            directory = _directory_of(log, staging)
            for file in log.files:
                _expect(packed, _header(_name(log.saved.space, file.number), file.bytes), archive)
                _copy(packed, file, directory / file_name(file.number), archive, reading)
                _expect(packed, bytes(_padding(file.bytes)), archive)
        _expect(packed, bytes(2 * BLOCKSIZE), archive)
        if packed.read(1):
            raise Corrupt(f"{archive!r} goes on where a backup ends")
    except _UNPACKING as error:
        raise Corrupt(f"{archive!r} is damaged or cut off: {error}") from error
    return logs


def _with_room(
    logs: Sequence[_Log], archive: str, staging: Path, progress: Progress | None
) -> Callable[[int], None]:
    """What is called with every byte that is read; `Full` where there is no room for all of them."""
    total = sum(log.saved.bytes for log in logs)
    if total > shutil.disk_usage(staging).free:
        raise Full(f"no room on the disk: {archive!r} unpacks to {total:,} bytes; free some")
    return _count_progress(total, progress)


def _directory_of(log: _Log, staging: Path) -> Path:
    directory = staging / "spaces" / directory_name(log.saved.space)
    directory.mkdir(mode=0o700, parents=True)
    return directory


def _contents(packed: gzip.GzipFile, archive: str) -> tuple[_Log, ...]:
    """What a backup says that it holds; `InvalidInput` when that is not how a backup says it."""
    try:
        header = packed.read(BLOCKSIZE)
        size = int(header[124:136].rstrip(b"\0 ") or b"0", 8)
        if header != _header(_CONTENTS, size) or size > _LONGEST_CONTENTS:
            raise InvalidInput(_no_backup(archive))
        data = packed.read(size)
        _expect(packed, bytes(_padding(size)), archive)
        logs = _logs_of(json.loads(data), archive)
    except PageStoreError:
        raise
    except (*MALFORMED, RecursionError) as error:
        raise InvalidInput(f"{_no_backup(archive)}: {error!r}") from error
    return logs


def _logs_of(manifest: dict[str, Any], archive: str) -> tuple[_Log, ...]:
    if manifest["format"] != BACKUP_FORMAT:
        raise InvalidInput(f"{archive!r} is of format {str(manifest['format'])[:80]!r}; upgrade")
    logs = tuple(_log_of(one) for one in manifest["spaces"])
    if len({log.saved.space for log in logs}) < len(logs):
        raise ValueError("a space is named twice")
    return logs


def _log_of(manifest: dict[str, Any]) -> _Log:
    files = tuple(_File(number=f["number"], bytes=f["bytes"], sha256=f["sha256"]) for f in manifest["files"])
    numbers = [file.number for file in files]
    if not all(type(one) is int for file in files for one in (file.number, file.bytes)):
        raise ValueError("a segment has no number or no length")
    if not numbers or numbers != sorted(set(numbers)) or not all(number in _NUMBERS for number in numbers):
        raise ValueError("the segments of a space are not in order")
    if not all(0 <= file.bytes < _LONGEST_FILE for file in files):
        raise ValueError("a segment has a length that none can have")
    saved = SavedSpace(
        space=SpaceId(manifest["space"]),
        records=manifest["records"],
        turns=manifest["turns"],
        pages=manifest["pages"],
        bytes=sum(file.bytes for file in files),
        checkpoint=checkpoint_of(manifest["checkpoint"]),
    )
    checkpoint = saved.checkpoint
    if checkpoint.space != saved.space:
        raise ValueError("a checkpoint is not of its space")
    return _Log(saved=saved, files=files)


def _copy(
    packed: gzip.GzipFile, file: _File, path: Path, archive: str, reading: Callable[[int], None]
) -> None:
    digest, left = hashlib.sha256(), file.bytes
    with create_file(path) as out:
        while left:
            chunk = packed.read(min(left, _CHUNK))
            if not chunk:
                raise Corrupt(f"{archive!r} is cut off in segment {file.number}")
            out.write(chunk)
            digest.update(chunk)
            left -= len(chunk)
            reading(len(chunk))
        out.flush()
        os.fsync(out.fileno())
    if digest.hexdigest() != file.sha256:
        raise Corrupt(f"{archive!r} is damaged: segment {file.number} is not the one that was backed up")


def _check(log: _Log, archive: str, staging: Path) -> None:
    """The restored log of a space is the one that was backed up."""
    store = Store(staging, read_only=True)
    with store.open_space(log.saved.space) as opened:
        report = opened.verify(log.saved.checkpoint)
    found = (report.records, report.turns, report.pages, report.checkpoint)
    promised = (log.saved.records, log.saved.turns, log.saved.pages, log.saved.checkpoint)
    damages = [f"{damage.where.removeprefix(f'{staging}/')}: {damage.what}" for damage in report.damage]
    if not damages and found != promised:
        damages = ["it is not the log that was backed up"]
    if damages:
        raise Corrupt(f"{archive!r} is damaged, in space {log.saved.space!r}: {damages[0]}")


def _refuse_what_is_there(target: Path, *, replace: bool) -> None:
    with translating(str(target)):
        if not target.exists():
            return
        names = {path.name for path in target.iterdir()} if target.is_dir() else {""}
        if names and "FORMAT" not in names:
            raise NotAStore(f"{str(target)!r} is no TierMem store; name another directory, or an empty one")
        if names and not replace:
            raise InvalidInput(
                f"{str(target)!r} is a store already: name another directory, or replace it with "
                "`replace=True` or `--replace`"
            )


def _put_in_place(staging: Path, target: Path) -> None:
    """Give the restored store its name; a store that has it goes, unless somebody writes it."""
    files = RealFiles()
    for directory in (staging, staging / "spaces", *(staging / "spaces").glob("*")):
        if directory.exists():
            files.sync_directory(str(directory))
    if not target.exists():
        staging.replace(target)
        return
    with ExitStack() as locks:
        for space in Store(target, read_only=True).spaces() if any(target.iterdir()) else ():
            locks.callback(files.close, files.lock(f"{target}/spaces/{directory_name(space)}/LOCK"))
        replaced = target.with_name(f"{target.name}.replaced-{os.getpid()}")
        target.replace(replaced)
        try:
            staging.replace(target)
        except OSError:
            replaced.replace(target)
            raise
        shutil.rmtree(replaced)


@contextmanager
def _open_archive(archive: str) -> Iterator[gzip.GzipFile]:
    with Path(archive).open("rb") as raw:
        begins = raw.read(len(_PACKED))
        raw.seek(0)
        if begins != _PACKED:
            raise InvalidInput(_no_backup(archive))
        with gzip.GzipFile(fileobj=raw) as packed:
            yield packed


def _no_backup(archive: str) -> str:
    return f"{archive!r} is no backup that `tiermem backup` wrote"


def _count_progress(total: int, progress: Progress | None) -> Callable[[int], None]:
    done = 0

    def count(more: int) -> None:
        nonlocal done
        done += more
        if progress is not None:
            progress(min(done, total), total)

    return count


def _name(space: SpaceId, number: int) -> str:
    return f"spaces/{directory_name(space)}/{file_name(number)}"


def _header(name: str, size: int) -> bytes:
    """The one header that a file of this name and length has in a backup."""
    info = TarInfo(name)
    info.size, info.mode = size, 0o600
    return info.tobuf(USTAR_FORMAT)


def _padding(size: int) -> int:
    return -size % BLOCKSIZE


def _pad(data: bytes) -> bytes:
    return data + bytes(_padding(len(data)))


def _write_entry(packed: gzip.GzipFile, name: str, data: bytes) -> None:
    packed.write(_header(name, len(data)) + _pad(data))


def _expect(packed: gzip.GzipFile, wanted: bytes, archive: str) -> None:
    if packed.read(len(wanted)) != wanted:
        raise Corrupt(f"{archive!r} is damaged: what follows is not what it says it holds")
