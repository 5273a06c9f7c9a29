"""The page log: one space's turns, page seals and records in numbered, append-only JSON lines.

Reading is under one short lock and never waits for an fsync; writing goes through the group commit.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from heapq import merge
from threading import RLock
from typing import Any, Self, TypeVar

from pagestore import erasure
from pagestore.errors import (
    Closed,
    Corrupt,
    InvalidInput,
    Locked,
    PageStoreError,
    ReadOnly,
    RecordNotFound,
    SpaceNotFound,
)
from pagestore.files import Files, RealFiles, possible_path
from pagestore.finding import Finder
from pagestore.group_commit import GroupCommit, Job
from pagestore.journal import Journal
from pagestore.line import as_written
from pagestore.lines.files import FileLines
from pagestore.lines.interface import Lines
from pagestore.lines.memory import MemoryLines
from pagestore.measuring import MeasuredTurn, measure
from pagestore.options import LogOptions
from pagestore.page_cache import KeptPages
from pagestore.plain_json import plain_json
from pagestore.prover import Prover
from pagestore.reader import LogReader
from pagestore.recovery import recover
from pagestore.staging import Batch
from pagestore.values import (
    Appended,
    Checkpoint,
    GrowthProof,
    History,
    InclusionProof,
    OpenInfo,
    Page,
    PageId,
    PageInfo,
    ProvedPage,
    ProvedRecord,
    Record,
    RecordedTimes,
    SessionId,
    SpaceId,
    Taken,
    Turn,
    VerifyReport,
    WrittenByOthers,
)
from pagestore.verify import verify

_T = TypeVar("_T")

_RECORDS_AT_A_TIME = 64
"""Records read under the lock at a time, so that no caller waits for all of them."""
_DEFAULT = SpaceId("default")


@dataclass(slots=True, eq=False)
class _Append(Job):
    """Turns of one session on their way into a commit."""

    session: SessionId
    turns: tuple[MeasuredTurn, ...]
    result: Appended = field(init=False)

    def stage(self, batch: Batch) -> None:
        seqs, new, sealed = batch.add_turns(self.session, self.turns)
        self.result = Appended(seqs=tuple(seqs), new=new, sealed=tuple(sealed))


@dataclass(slots=True, eq=False)
class _Write(Job):
    """One opaque record on its way into a commit."""

    kind: str
    at: datetime
    body: Mapping[str, Any]
    may: Callable[[], bool] | None = None
    """Asked when the lines of other writers are folded; nothing is written where it returns `False`."""
    is_refused: bool = False
    result: Record = field(init=False)

    def stage(self, batch: Batch) -> None:
        self.is_refused = self.may is not None and not self.may()
        if self.is_refused:
            return
        line = batch.add_record({"n": self.kind, "at": self.at.isoformat(), "b": self.body})
        self.result = Record(seq=line.seq, kind=self.kind, at=self.at, body=self.body)


class Log:
    """A `PageLog` of the lines it is given, which it closes. Has no thread of its own."""

    def __init__(
        self,
        lines: Lines,
        space: SpaceId,
        *,
        options: LogOptions | None = None,
        read_only: bool = False,
    ) -> None:
        self._lines = lines
        self.space = space
        """The space whose log this is."""
        self._options = options or LogOptions()
        self._process = os.getpid()
        self._lock = RLock()
        self._kept = KeptPages(0 if read_only else self._options.kept_bytes)
        self._group: GroupCommit[_Append | _Write] = GroupCommit(self._serve)
        self._closed = False
        self._called = f"the log of space {space!r}"
        try:
            self._open(read_only=read_only)
        except BaseException:
            self.close()
            raise

    @property
    def identity(self) -> str:
        """See `PageLog.identity`: the hash of the first record, which has a salt."""
        with self._reading():
            return self._state.tree.leaf(0).hex()

    @property
    def head(self) -> int:
        """The number of the newest record."""
        with self._reading():
            return self._state.head

    def history(self, upto: int | None = None) -> History | None:
        """See `PageLog.history`."""
        with self._reading() as reader:
            return reader.history(self._state.head if upto is None else upto)

    def append(self, session: SessionId, turns: Sequence[Turn]) -> Appended:
        """See `PageLog.append`; every page sealed is named by exactly one append."""
        self._refuse_after_a_fork()
        salt, kept = self._state.salt, [_as_kept(turn) for turn in turns]
        job = _Append(session, tuple(measure(session, turn, self._options, salt=salt) for turn in kept))
        self._group.submit(job)
        return job.result

    def record(self, kind: str, body: Mapping[str, Any]) -> Record:
        """See `PageLog.record`; `InvalidInput` for a kind of the log's own, or a body JSON would change."""
        return self._write(kind, body).result

    def record_unless_erased(self, kind: str, body: Mapping[str, Any], *, erasures: int) -> Record | None:
        """See `SharedLog.record_unless_erased`."""
        job = self._write(kind, body, lambda: self.by_others.erasures == erasures)
        return None if job.is_refused else job.result

    def _write(self, kind: str, body: Mapping[str, Any], may: Callable[[], bool] | None = None) -> _Write:
        self._refuse_after_a_fork()
        job = _Write(_own_kind(kind), self._options.clock(), plain_json(body, "a record's body"), may)
        self._group.submit(job)
        return job

    def seal(self, session: SessionId | None = None) -> tuple[PageId, ...]:
        """See `PageLog.seal`."""
        with self._writing() as journal:
            with journal.write() as batch:
                threads = self._state.sessions if session is None else self._state.threads(session)
                sealed = [page for thread in tuple(threads) for page in batch.seal(thread)]
            return tuple(sealed)

    def checkpoint(self) -> Checkpoint:
        """See `PageLog.checkpoint`."""
        with self._writing() as journal:
            with journal.write() as batch:
                made = self._state.current_checkpoint()
                at = self._options.clock().isoformat()
                batch.add("ckpt", {"n": made.size, "root": made.root, "at": at})
            return made

    def erase(self, page_id: PageId, seq: int, reason: str) -> None:
        """See `PageLog.erase`; a turn stored in parts is erased whole."""
        self.erase_together([(page_id, seq)], reason=reason)

    def erase_together(
        self,
        turns: Iterable[tuple[PageId, int]] = (),
        *,
        records: Iterable[int] = (),
        instead: Iterable[tuple[str, Mapping[str, Any]]] = (),
        reason: str,
        upto: int | None = None,
    ) -> bool:
        """See `PageLog.erase_together`."""
        copies = [(_own_kind(kind), plain_json(body, "a record's body")) for kind, body in instead]
        with self._writing() as journal:
            with journal.write() as batch:
                if upto is not None and self._has_recorded_after(upto):
                    return False
                with as_written(self._called):
                    found = [line for page_id, seq in turns for line in self._reader.turn(page_id, seq)]
                    found += [self._reader.record_line(seq) for seq in records]
                lines = {line.seq: line for line in found if line.kind in ("turn", "rec")}
                if lines:
                    at = self._options.clock().isoformat()
                    for kind, body in copies:
                        batch.add_record({"n": kind, "at": at, "b": body})
                    intent = erasure.intent_of(list(lines.values()), reason, at, salt=self._state.salt)
                    batch.add("erase", intent)
            self._finish_erasing(journal)
        return True

    def _has_recorded_after(self, seq: int) -> bool:
        """Whether `record` wrote anything after a record. The caller writes."""
        table = self._state.records
        return any(table.kind(row) not in ("", "page") for row in range(table.first_after(seq), len(table)))

    def sessions(self) -> tuple[SessionId, ...]:
        """See `PageLog.sessions`."""
        with self._reading():
            return tuple(self._state.agents)

    def pages(self, session: SessionId | None = None) -> Sequence[PageInfo]:
        """See `PageLog.pages`."""
        with self._reading():
            if session is None:
                return tuple(self._state.pages.values())
            of_threads = [self._state.sessions[one].pages for one in self._state.threads(session)]
            return tuple(merge(*of_threads, key=lambda page: page.seq))

    def page(self, page_id: PageId) -> Page:
        """See `PageLog.page`."""
        with self._reading() as reader:
            return reader.page(page_id)

    def kept_page(self, page_id: PageId) -> Page:
        """See `KeepsPages.kept_page`. A log opened read-only keeps none: its writer may erase meanwhile."""
        with self._reading() as reader:
            return reader.kept_page(page_id)

    def pages_at_hand(self, page_ids: Sequence[PageId]) -> tuple[Page, ...] | None:
        """See `KeepsPages.pages_at_hand`."""
        return self._at_once(lambda: self._reader.pages_at_hand(page_ids))

    def turns_at_hand(self, seqs: Sequence[int]) -> tuple[PageId | None, ...] | None:
        """See `KeepsPages.turns_at_hand`."""
        return self._at_once(lambda: tuple(map(self._state.page_of_turn, seqs)))

    def head_at_hand(self) -> int | None:
        """See `KeepsPages.head_at_hand`."""
        return self._at_once(lambda: self._state.head)

    def open_page(self, session: SessionId, agent: str | None = None) -> Page | None:
        """See `PageLog.open_page`."""
        with self._reading() as reader:
            return reader.open_page(session, agent)

    def filling(self) -> Sequence[OpenInfo]:
        """See `PageLog.filling`."""
        with self._reading():
            return self._state.open_pages()

    def taken(self, session: SessionId, turns: Sequence[Turn]) -> Sequence[Taken]:
        """See `LooksUp.taken`."""
        with self._reading() as reader:
            return tuple(reader.taken_id(session, turn) for turn in turns)

    def pages_with(self, groups: Collection[Sequence[str]], says: Callable[[str], bool]) -> Sequence[PageId]:
        """See `FindsPages.pages_with`."""
        found = self._in_parts(lambda finder, part: finder.pages_with(groups, says, part))
        return tuple(dict.fromkeys(found))

    def speakers(self) -> Mapping[str, int]:
        """See `FindsPages.speakers`."""
        found = Counter(self._in_parts(lambda finder, part: finder.speakers(part)))
        return {json.loads(name): turns for name, turns in found.items()}

    def locate_turns(self, seqs: Sequence[int]) -> Sequence[PageId | None]:
        """See `PageLog.locate_turns`."""
        with self._reading():
            return tuple(map(self._state.page_of_turn, seqs))

    def pages_of_turn(self, turn: str) -> Sequence[PageId]:
        """See `FindsPages.pages_of_turn`."""
        found = self._in_parts(lambda finder, part: finder.pages_of_turn(turn, part))
        return tuple(dict.fromkeys(found))

    def _in_parts(self, find: Callable[[Finder, int], Iterator[_T]]) -> Iterator[_T]:
        """What is found part by part, so that no other caller waits for all of it."""
        for part in self._open_lines().parts():
            with self._reading():
                found = list(find(Finder(self._lines, self._state), part))
            yield from found

    @property
    def is_shared(self) -> bool:
        """See `SharedLog.is_shared`."""
        return self._journal is not None and self._lines.is_shared

    @property
    def by_others(self) -> WrittenByOthers:
        """See `SharedLog.by_others`."""
        return WrittenByOthers() if self._journal is None else self._journal.by_others

    def catch_up(self) -> WrittenByOthers:
        """See `SharedLog.catch_up`."""
        if self.is_shared:
            with self._group.alone(), as_written(self._called):
                self._writable().catch_up()
        return self.by_others

    def claim(self, work: Collection[str]) -> frozenset[str]:
        """See `SharedLog.claim`."""
        return self._open_lines().claim(work)

    def release(self, work: Collection[str]) -> None:
        """See `SharedLog.release`."""
        self._open_lines().release(work)

    def times(self) -> RecordedTimes:
        """See `TimedLog.times`."""
        with self._reading():
            return RecordedTimes(newest=self._state.newest, set_back=tuple(self._state.set_back))

    def read(self, seq: int) -> Record:
        """See `PageLog.read`."""
        with self._reading() as reader:
            row = self._state.records.row(seq)
            if row is None or not self._state.records.kind(row):
                raise RecordNotFound(f"space {self.space!r} has no record {seq}")
            record = reader.record(seq)
            if record.kind == "void":
                raise RecordNotFound(f"record {seq} of space {self.space!r} was erased")
            return record

    def records(self, *, after: int = -1, kinds: frozenset[str] | None = None) -> Iterator[Record]:
        """See `PageLog.records`; what is written while iterating is included."""
        row = -1
        while True:
            with self._reading() as reader:
                table = self._state.records
                row = max(row, table.first_after(after))
                seqs: list[int] = []
                while row < len(table) and len(seqs) < _RECORDS_AT_A_TIME:
                    kind = table.kind(row)
                    if kind and (kinds is None or kinds & {kind, "void"}):
                        seqs.append(table.seq(row))
                    row += 1
                records = reader.records(seqs) if seqs else []
            yield from (record for record in records if kinds is None or record.kind in kinds)
            if not seqs:
                return

    def prove(self, page_id: PageId, checkpoint: Checkpoint) -> InclusionProof:
        """See `PageLog.prove`; `PageNotFound` when the page was not sealed before the checkpoint."""
        with self._reading():
            return self._prover().seal(page_id, checkpoint)

    def current_checkpoint(self) -> Checkpoint:
        """See `ProvingLog.current_checkpoint`."""
        with self._reading():
            return self._prover().current_checkpoint()

    def prove_record(self, seq: int, checkpoint: Checkpoint) -> ProvedRecord:
        """See `ProvingLog.prove_record`."""
        with self._reading():
            return self._prover().record(seq, checkpoint)

    def prove_page(self, page_id: PageId, checkpoint: Checkpoint) -> ProvedPage:
        """See `ProvingLog.prove_page`."""
        with self._reading():
            return self._prover().page(page_id, checkpoint)

    def prove_growth(self, old: Checkpoint, new: Checkpoint) -> GrowthProof:
        """See `ProvingLog.prove_growth`."""
        with self._reading():
            return self._prover().growth(old, new)

    def verify(self, checkpoint: Checkpoint | None = None) -> VerifyReport:
        """See `PageLog.verify`; this object writes nothing in the meantime."""
        with self._group.alone(), as_written(self._called):
            lines, journal = self._open_lines(), self._journal
            report = verify(lines, self._state, checkpoint=checkpoint)
            while not report.ok and journal is not None and journal.catch_up():
                report = verify(lines, self._state, checkpoint=checkpoint)  # another writer erased meanwhile
            if not report.ok:
                self._forget_pages()
            return report

    def close(self) -> None:
        """See `PageLog.close`."""
        with self._group.alone(), self._lock:
            self._closed = True
            self._lines.close()
            self._forget_pages()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _open(self, *, read_only: bool) -> None:
        with as_written(self._called):
            self._found = recover(self._lines, self.space, read_only=read_only)
        self._state = self._found.state
        self._reader = LogReader(
            self._lines,
            self._state,
            self._kept,
            page_tokens=self._options.page_tokens,
            counter=self._options.counter.name,
        )
        self._journal: Journal | None = None
        if read_only:
            if not self._lines.parts():
                raise SpaceNotFound(f"there is no log of space {self.space!r}")
            return
        self._journal = self._begin_to_write()

    def _begin_to_write(self) -> Journal:
        """Record the opening; then finish what a crash left half-done."""
        self._lines.repair()
        journal = Journal(
            self._lines,
            self._found,
            self._options,
            lock=self._lock,
            stored=self._reader.stored_turn,
            forget=self._kept.forget_all,
        )
        with journal.write() as batch:
            if self._state.last_kind != "open":
                batch.add("open", {"at": self._options.clock().isoformat()})
        self._finish_erasing(journal)
        with journal.write() as batch:
            for thread in self._state.sessions:
                batch.seal_full(thread)
        return journal

    def _finish_erasing(self, journal: Journal) -> None:
        for intent in list(self._state.erasing.values()):
            with as_written(self._called):
                erasure.finish(journal, self._lines, intent, self._state.erasing)

    def _serve(self, jobs: list[_Append | _Write]) -> None:
        """Commit what the jobs ask for, together; a job that is refused is refused alone."""
        journal = self._writable()
        try:
            with journal.write() as batch:
                for job in jobs:
                    try:
                        job.stage(batch)
                    except PageStoreError as error:
                        job.error = error
        except PageStoreError as error:
            for job in jobs:
                job.error = job.error or error

    @contextmanager
    def _reading(self) -> Iterator[LogReader]:
        """The state does not change meanwhile."""
        with self._lock, as_written(self._called):
            self._open_lines()
            yield self._reader

    def _at_once(self, find: Callable[[], _T | None]) -> _T | None:
        """What is found while the state does not change; `None` where that would have to be waited for."""
        if not self._lock.acquire(blocking=False):
            return None
        try:
            self._open_lines()
            return find()
        finally:
            self._lock.release()

    @contextmanager
    def _writing(self) -> Iterator[Journal]:
        """No other process writes meanwhile."""
        self._refuse_after_a_fork()
        with self._group.alone():
            yield self._writable()

    def _forget_pages(self) -> None:
        with self._lock:
            self._kept.forget_all()

    def _prover(self) -> Prover:
        if self._found.damage:
            raise Corrupt(f"space {self.space!r} is damaged and proves nothing; run `verify`")
        return Prover(self._lines, self._state, self._reader)

    def _open_lines(self) -> Lines:
        if self._closed:
            raise Closed(f"{self._called} is closed")
        return self._lines

    def _writable(self) -> Journal:
        self._open_lines()
        if self._journal is None:
            raise ReadOnly(f"the log of space {self.space!r} was opened read-only")
        self._lines.check_held()
        return self._journal

    def _refuse_after_a_fork(self) -> None:
        if os.getpid() != self._process:
            raise Locked(
                f"the log of space {self.space!r} was opened by pid {self._process}, of which this process "
                "is a fork; only that one writes with it"
            )


class DiskLog(Log):
    """A `PageLog` in a directory. One process writes; any number read, without a lock, what they found.

    While open it takes a descriptor for each segment and, to write, one for the lock.
    """

    def __init__(
        self,
        directory: str,
        space: SpaceId,
        *,
        options: LogOptions | None = None,
        files: Files | None = None,
        read_only: bool = False,
    ) -> None:
        options = options or LogOptions()
        lines = FileLines(
            files or RealFiles(),
            possible_path(directory),
            writable=not read_only,
            segment_bytes=options.segment_bytes,
        )
        super().__init__(lines, space, options=options, read_only=read_only)


class MemoryLog(Log):
    """A `PageLog` in memory: for tests, and for memories that need not outlive the process."""

    def __init__(
        self,
        space: SpaceId = _DEFAULT,
        *,
        options: LogOptions | None = None,
        lines: MemoryLines | None = None,
    ) -> None:
        super().__init__(lines or MemoryLines(), space, options=options)


def _own_kind(kind: str) -> str:
    if kind in ("", "page", "void"):
        raise InvalidInput(f"{kind!r} is no kind for a record: the log uses it itself")
    return kind


def _as_kept(turn: Turn) -> Turn:
    """The turn with a copy of its metadata, which the caller cannot change.

    Raises `InvalidInput` for metadata that is not plain JSON, an importance that is no number from 0 to 1 and
    an agent without a name.
    """
    agent: object = turn.agent
    if agent is not None and (not isinstance(agent, str) or not agent):
        raise InvalidInput(f"a turn's agent must have a name, not {agent!r}")
    importance: object = turn.importance  # whatever a caller put there
    if importance is not None and (
        isinstance(importance, bool) or not isinstance(importance, int | float) or not 0 <= importance <= 1
    ):
        raise InvalidInput(f"a turn's importance must be a number from 0 to 1, not {importance!r}")
    return replace(turn, metadata=plain_json(turn.metadata, "a turn's metadata")) if turn.metadata else turn
