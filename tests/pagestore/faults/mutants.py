"""Seeded bugs, each of a kind that people really ship. A harness that misses one is not to be trusted.

Every mutant is a context in which the log has the bug.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from pagestore import DiskLog, PageId, erasure, snapshot
from pagestore.codec import encode_tombstone
from pagestore.errors import Full, Poisoned
from pagestore.files import Files, RealFiles, write_file
from pagestore.group_commit import GroupCommit
from pagestore.journal import Journal
from pagestore.line import Fields, Line
from pagestore.lines.files import FileLines, _Part
from pagestore.lines.segments import Segments
from pagestore.log import Log
from pagestore.reader import LogReader
from pagestore.staging import Batch
from pagestore.state import State
from tests.pagestore.faults.simfiles import SimFiles

Mutant = Callable[[], AbstractContextManager[Any]]

_sync = Segments.sync
_commit = Journal._commit
_fold = Journal._fold
_load = snapshot.load
_append = FileLines.append
_cached = FileLines.cached
_scan = FileLines.scan
_repair = FileLines.repair
_begin = FileLines.begin


def never_sync() -> AbstractContextManager[Any]:
    """Writes and hopes."""
    return patch.object(Segments, "sync", lambda self, number: None)


def acknowledge_before_sync() -> AbstractContextManager[Any]:
    """Syncs what was written before, then writes and acknowledges."""

    def append(self: FileLines, batch: Sequence[bytes]) -> None:
        self._segments.sync(self._born[-1])
        with never_sync():
            _append(self, batch)

    return patch.object(FileLines, "append", append)


def never_sync_the_directory() -> AbstractContextManager[Any]:
    """A new segment's name is left to chance."""
    return patch.object(SimFiles, "sync_directory", lambda self, path: None)


def no_checksum() -> AbstractContextManager[Any]:
    """Takes any line that parses."""
    return patch("pagestore.line.is_intact", lambda raw: raw.endswith(b"}\n"))


def sync_every_other_time() -> AbstractContextManager[Any]:
    """Half the durability, twice the speed."""
    calls = [0]

    def sync(self: Segments, number: int) -> None:
        calls[0] += 1
        if calls[0] % 2:
            _sync(self, number)

    return patch.object(Segments, "sync", sync)


def keep_the_torn_tail() -> AbstractContextManager[Any]:
    """Writes over a torn tail without cutting it off."""

    def repair(self: FileLines) -> None:
        self._torn = []
        _repair(self)

    return patch.object(FileLines, "repair", repair)


def append_after_the_torn_tail() -> AbstractContextManager[Any]:
    """Writes behind whatever is there."""

    def repair(self: FileLines) -> None:
        if self._born:
            self._known[self._born[-1]].end = self._segments.size(self._born[-1])
        self._torn = []
        _repair(self)

    return patch.object(FileLines, "repair", repair)


def retry_a_failed_sync() -> AbstractContextManager[Any]:
    """The second fsync succeeds: the pages are marked clean."""

    def sync(self: Segments, number: int) -> None:
        try:
            _sync(self, number)
        except Poisoned:
            _sync(self, number)

    return patch.object(Segments, "sync", sync)


def trust_the_page_cache() -> AbstractContextManager[Any]:
    """Takes what it reads at opening for what is on the disk."""
    return patch("pagestore.lines.files.rewrite", lambda segments, places: None)


def ignore_a_failed_sync() -> AbstractContextManager[Any]:
    """Goes on as if nothing had happened."""

    def sync(self: Segments, number: int) -> None:
        try:
            _sync(self, number)
        except Poisoned:
            return

    return patch.object(Segments, "sync", sync)


@contextmanager
def skip_bad_lines() -> Iterator[None]:
    """Reads on behind a line it cannot read."""

    def scan(self: FileLines, part: int, after: int) -> Iterator[Line]:
        return (item for item in _scan(self, part, after) if isinstance(item, Line))

    never_torn = patch("pagestore.lines.files.later_evidence", lambda _: sys.maxsize)
    with patch.object(FileLines, "scan", scan), never_torn:
        yield


@contextmanager
def unsynced_header() -> Iterator[None]:
    """Uses a new segment before its header and name are on the disk."""

    def begin(self: FileLines, part: int, header: bytes) -> None:
        with (
            patch.object(Segments, "sync", lambda self, number: None),
            patch.object(Segments, "sync_directory", lambda self: None),
        ):
            _begin(self, part, header)

    with patch.object(FileLines, "begin", begin):
        yield


def erase_without_intent() -> AbstractContextManager[Any]:
    """Overwrites the words first and logs it afterwards."""

    def erase(self: DiskLog, page_id: PageId, seq: int, reason: str) -> None:
        with self._writing() as journal:
            lines = [line for line in self._reader.turn(page_id, seq) if line.kind == "turn"]
            intent = erasure.intent_of(lines, reason, "2024-01-01T00:00:00", salt=b"")
            lengths = {line.seq: line.length for line in lines}
            journal.overwrite({s["q"]: encode_tombstone(s, lengths[s["q"]]) for s in intent["e"]})
            if lines:
                with journal.write() as batch:
                    batch.add("erase", intent)
            self._finish_erasing(journal)

    return patch.object(Log, "erase", erase)


def erase_without_sync() -> AbstractContextManager[Any]:
    """Says erased before the tombstone is on the disk."""

    def overwrite(self: FileLines, tombstones: Mapping[int, bytes]) -> None:
        for number, tombstone in tombstones.items():
            place = self._place(number)
            self._segments.write(place.segment, place.offset, tombstone)

    return patch.object(FileLines, "overwrite", overwrite)


def leave_copies_when_erasing() -> AbstractContextManager[Any]:
    """Forgets that a torn tail set aside may hold the words."""
    return patch.object(Segments, "purge_torn", lambda self: None)


@contextmanager
def trust_the_snapshot() -> Iterator[None]:
    """Believes an .idx file without its checksum."""

    def cached(self: FileLines, part: int) -> Fields | None:
        data = self._segments.read_cache(part)
        try:
            json.loads(data[:-10] if data is not None else b"{}")
        except ValueError:
            self._known[part] = _Part(0, end=self._segments.size(part))
            return {}
        return _cached(self, part)

    def load(state: State, content: Fields) -> bool:
        return not content or _load(state, content)

    with patch.object(FileLines, "cached", cached), patch.object(snapshot, "load", load):
        yield


def half_a_turn() -> AbstractContextManager[Any]:
    """Keeps the first parts of a turn whose last parts were lost."""
    return patch("pagestore.lines.files.goes_on", lambda fields: False)


def keep_what_did_not_fit() -> AbstractContextManager[Any]:
    """Leaves the written part of a refused batch in the file."""

    def write(self: FileLines, part: int, offset: int, data: bytes) -> None:
        self._segments.write(part, offset, data)

    return patch.object(FileLines, "_write", write)


def fold_before_writing() -> AbstractContextManager[Any]:
    """Shows what it is about to store, and does not take it back."""

    def commit(self: Journal, batch: Batch) -> None:
        self._fold(batch.lines)
        with patch.object(Journal, "_fold", lambda self, one: one is batch.lines or _fold(self, one)):
            _commit(self, batch)

    return patch.object(Journal, "_commit", commit)


def leave_a_refused_batch_to_chance() -> AbstractContextManager[Any]:
    """Cuts off what did not fit and does not sync that."""

    def write(self: FileLines, part: int, offset: int, data: bytes) -> None:
        try:
            self._segments.write(part, offset, data)
        except Full:
            self._segments.truncate(part, offset)
            raise

    return patch.object(FileLines, "_write", write)


def sync_no_file() -> AbstractContextManager[Any]:
    """The real file layer passes no sync of a file on to the system."""
    return patch.object(RealFiles, "sync", lambda self, fd: None)


def sync_no_folder() -> AbstractContextManager[Any]:
    """The real file layer passes no sync of a folder on to the system."""
    return patch.object(RealFiles, "sync_directory", lambda self, path: None)


def leave_a_new_folder_to_chance() -> AbstractContextManager[Any]:
    """Does not sync the folder above one that was made."""

    def make_directory(self: RealFiles, path: str) -> None:
        Path(path).mkdir(parents=True, exist_ok=True)

    return patch.object(RealFiles, "make_directory", make_directory)


def take_a_part_for_all() -> AbstractContextManager[Any]:
    """Takes a write that wrote a part for one that wrote all."""

    def write(self: RealFiles, fd: int, data: bytes, offset: int) -> int:
        os.pwrite(fd, data, offset)
        return len(data)

    return patch.object(RealFiles, "write", write)


def rename_before_the_words() -> AbstractContextManager[Any]:
    """Puts a file in its place before its words are on the disk."""

    def write(files: Files, directory: str, name: str, data: bytes) -> None:
        write_file(files, f"{directory}/{name}.new", data)
        files.rename(f"{directory}/{name}.new", f"{directory}/{name}")
        files.sync_directory(directory)

    return patch("pagestore.store.write_file_atomically", write)


def alone_among_others() -> AbstractContextManager[Any]:
    """What must have the log for itself does not wait for the others."""

    @contextmanager
    def alone(self: GroupCommit[Any]) -> Iterator[None]:
        yield

    return patch.object(GroupCommit, "alone", alone)


def every_thread_for_itself() -> AbstractContextManager[Any]:
    """A thread that comes while another commits does not wait either."""

    def submit(self: GroupCommit[Any], job: Any) -> None:
        self._serve([job])
        if job.error is not None:
            raise job.error

    return patch.object(GroupCommit, "submit", submit)


def read_without_the_lock() -> AbstractContextManager[Any]:
    """Reads while what it reads is being changed."""

    @contextmanager
    def reading(self: Log) -> Iterator[LogReader]:
        self._open_lines()
        yield self._reader

    return patch.object(Log, "_reading", reading)


def fold_without_the_lock() -> AbstractContextManager[Any]:
    """Changes what others read at that moment."""

    def fold(self: Journal, lines: Sequence[Line]) -> None:
        for line in lines:
            self._state.fold(line)

    return patch.object(Journal, "_fold", fold)


MUTANTS: tuple[Mutant, ...] = (
    never_sync,
    acknowledge_before_sync,
    never_sync_the_directory,
    no_checksum,
    sync_every_other_time,
    keep_the_torn_tail,
    append_after_the_torn_tail,
    retry_a_failed_sync,
    trust_the_page_cache,
    ignore_a_failed_sync,
    skip_bad_lines,
    unsynced_header,
    erase_without_intent,
    erase_without_sync,
    leave_copies_when_erasing,
    trust_the_snapshot,
    half_a_turn,
)

DISK_FULL_MUTANTS: tuple[Mutant, ...] = (
    keep_what_did_not_fit,
    fold_before_writing,
    leave_a_refused_batch_to_chance,
)

REAL_FILE_MUTANTS: tuple[Mutant, ...] = (
    sync_no_file,
    sync_no_folder,
    leave_a_new_folder_to_chance,
    take_a_part_for_all,
    rename_before_the_words,
)

THREAD_MUTANTS: tuple[Mutant, ...] = (
    alone_among_others,
    every_thread_for_itself,
    read_without_the_lock,
    fold_without_the_lock,
)
