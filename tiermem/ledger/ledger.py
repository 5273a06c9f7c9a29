"""The awaited face of one space's log, and the one place where blocking storage goes to a worker thread.

The rules:
- An entry is folded into `tier1` after it is durable and in the order of the log, also when the task that
  wrote it was cancelled half-way.
- Entries that another process wrote to a shared log are folded by `catch_up`, `write`, `erase` and `changes`.
  Where another process erased something, the log is folded from its start.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import takewhile
from threading import Lock
from typing import Any, TypeVar

import anyio
from anyio import to_thread

from pagestore import (
    Appended,
    Checkpoint,
    FindsPages,
    GrowthProof,
    History,
    KeepsPages,
    LooksUp,
    OpenInfo,
    Page,
    PageId,
    PageInfo,
    PageLog,
    ProvingLog,
    Record,
    SessionId,
    SharedLog,
    SpaceId,
    Taken,
    TimedLog,
    Turn,
    VerifyReport,
    WrittenByOthers,
)
from pagestore.bundle import Bundle, make_bundle
from pagestore.errors import Corrupt, PageNotFound, PageStoreError, RecordNotFound
from pagestore.prefix import LogPrefix
from tiermem.errors import InvalidInput, PageSetAside, UnknownId, unexpected
from tiermem.ledger.claims import Claims
from tiermem.ledger.entries import decode, encode
from tiermem.ledger.ids import NOT_RECORDED
from tiermem.ledger.kind import LedgerEntry
from tiermem.ledger.kinds import KINDS, kind_of
from tiermem.ledger.kinds.answered import AnsweredEntry
from tiermem.ledger.kinds.distilled import DistilledEntry
from tiermem.ledger.kinds.erasing import Erasing, TurnAt
from tiermem.ledger.moments import Around, around_moment, clock_problems
from tiermem.ledger.replacements import (
    LoggedEntry,
    logged_entries,
    records_left,
    replacement,
    replacement_of,
)
from tiermem.ledger.tier1 import Tier1
from tiermem.model import Answer, AnswerId, SummaryUnit, UnitId

Unread = PageNotFound | Corrupt | PageSetAside
"""Why a page is not read."""

_T = TypeVar("_T")
_E = TypeVar("_E", AnsweredEntry, DistilledEntry, Erasing)
_IDENTITY = 32
"""Hexadecimal digits of a log's identity, enough for no two to be alike."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What an index that reflects an earlier record must take in to reflect record `head`.

    `filling` are the open pages with a turn that is newer than the earlier record. `units` are hot ones that
    an index holds; those that went `cold` it is to hold no more.
    """

    units: tuple[SummaryUnit, ...]
    cold: tuple[UnitId, ...]
    pages: tuple[PageInfo, ...]
    filling: tuple[OpenInfo, ...]
    upto: History

    @property
    def head(self) -> int:
        """The number of that record."""
        return self.upto.seq


def indexed_as(space: SpaceId, identity: str) -> SpaceId:
    """What indexes know a space by whose log has this identity."""
    return SpaceId(f"{space}@{identity[:_IDENTITY]}")


class Ledger:
    """One space's pages and conclusions. Use from one event loop; writes are serialised, reads go on."""

    def __init__(self, log: PageLog, tier1: Tier1, *, read_only: bool = False) -> None:
        """Use `Ledger.open`, which folds what the log already holds."""
        self._log = log
        self._finds = log if isinstance(log, FindsPages) else None
        self._keeps = log if isinstance(log, KeepsPages) else None
        self._shares = log if isinstance(log, SharedLog) else None
        self._by_others = WrittenByOthers()
        self._read_only = read_only
        self._tier1 = tier1
        self._queued_up_to = tier1.head
        self._queue: deque[tuple[Record, LedgerEntry | None] | Tier1] = deque()
        """What `tier1` does not show yet: entries to fold, and folds to replace it with."""
        self._erasures_by_others = 0
        self._recording = Lock()
        self._one_writer = anyio.CapacityLimiter(1)
        self.indexed_as = indexed_as(log.space, log.identity)
        """What indexes know this space by: stores that share an index may each have a space of this name."""
        self._borne_out = History()
        self._newest = History()
        """What `changes` last gave for the newest record: up to there nothing changes any more."""

    @classmethod
    async def open(cls, log: PageLog, *, read_only: bool = False) -> Ledger:
        """Fold the log into its present state, which is its last one here where it is only read."""
        return cls(log, await to_thread.run_sync(_fold, log), read_only=read_only)

    @property
    def space(self) -> SpaceId:
        """The space this ledger belongs to."""
        return self._log.space

    @property
    def tier1(self) -> Tier1:
        """The present net state; every durable entry is in it."""
        while self._queue:
            item = self._queue.popleft()
            if isinstance(item, Tier1):
                self._tier1 = item
            else:
                self._tier1.fold(*item)
        return self._tier1

    @property
    def erasures_by_others(self) -> int:
        """How many erasures of other processes `tier1` reflects, of those since the log was opened."""
        return self._erasures_by_others

    async def catch_up(self) -> bool:
        """Read what other processes wrote to the log; returns whether they wrote since the last time.

        Then `tier1` holds their entries. Does nothing where the log is not shared. Raises what
        `SharedLog.catch_up` raises.
        """
        before, self._by_others = self._by_others, await self._read_new()
        return self._by_others != before

    async def _read_new(self) -> WrittenByOthers:
        """Read what other processes wrote, and queue their entries; returns all that they wrote."""
        log = self._shares
        if log is None or not log.is_shared:
            return self._by_others

        def read_new() -> WrittenByOthers:
            with self._recording:
                log.catch_up()
                self._queue_entries()
                return log.by_others

        return await self._blocking(read_new)

    @asynccontextmanager
    async def claiming(self, kind: str) -> AsyncIterator[Claims]:
        """Claim work of a kind inside, among the processes that have the log open; all claims end with it."""
        claims = Claims(self._shares, kind, self.catch_up)
        try:
            yield claims
        finally:
            await claims.remove_all()

    def _queue_entries(self) -> None:
        """Queue the entries of the log that are not queued yet. The caller holds `_recording`."""
        erasures = 0 if self._shares is None else self._shares.by_others.erasures
        if erasures != self._erasures_by_others:
            self._queue_fold(_counting_records(self._log))
            return
        for record in self._log.records(after=self._queued_up_to, kinds=frozenset(KINDS)):
            self._queue.append((record, decode(record)))
            self._queued_up_to = record.seq

    def _queue_fold(self, records: Iterable[Record]) -> None:
        """Queue a fold of all records. The caller holds `_recording`."""
        # Read first: an erasure that is read meanwhile has the log folded again.
        erasures = 0 if self._shares is None else self._shares.by_others.erasures
        tier1 = Tier1.from_records(records)
        self._queue.append(tier1)
        self._queued_up_to, self._erasures_by_others = tier1.head, erasures

    async def append(self, session: SessionId, turns: Sequence[Turn]) -> Appended:
        """Store turns durably, in order; see `PageLog.append`."""
        return await self._blocking(lambda: self._log.append(session, turns))

    async def taken_ids(self, session: SessionId, turns: Sequence[Turn]) -> Sequence[Taken]:
        """How the ids of turns are taken; all count as free where the log cannot tell."""
        if not turns or not isinstance(self._log, LooksUp):
            return tuple("free" for _ in turns)
        log = self._log
        return await self._blocking(lambda: log.taken(session, turns))

    async def seal(self, session: SessionId | None = None) -> tuple[PageId, ...]:
        """Seal the open page of one session, or of all; see `PageLog.seal`."""
        return await self._blocking(lambda: self._log.seal(session))

    async def sessions(self) -> tuple[SessionId, ...]:
        """Every session, in the order it first spoke."""
        return await self._blocking(self._log.sessions)

    async def page(self, page_id: PageId, *, kept: bool = False) -> Page:
        """A page with its words; raises `PageNotFound`, `Corrupt`. `kept` is as in `read`."""
        page = self._page_of(kept=kept)
        return await self._blocking(lambda: page(page_id))

    async def read(self, page_ids: Sequence[PageId], *, kept: bool = False) -> tuple[Page | Unread, ...]:
        """Pages with their words, in order; for one that cannot be read, why. One wait for all.

        With `kept`, a page that was read and checked before comes as it was then, where nothing of it
        changed since; without, all are read from the log.
        """
        if kept and self._keeps is not None:
            at_hand = self._keeps.pages_at_hand(page_ids)
            if at_hand is not None:
                return tuple(at_hand)
        page = self._page_of(kept=kept)
        return await self._blocking(lambda: tuple(_page_or_why(page, page_id) for page_id in page_ids))

    def _page_of(self, *, kept: bool) -> Callable[[PageId], Page]:
        return self._keeps.kept_page if kept and self._keeps is not None else self._log.page

    async def pages(self, session: SessionId | None = None) -> Sequence[PageInfo]:
        """Sealed pages in the order they were sealed, without their words."""
        return await self._blocking(lambda: self._log.pages(session))

    async def pages_with(
        self, groups: Collection[Sequence[str]], says: Callable[[str], bool]
    ) -> Sequence[PageId]:
        """See `FindsPages.pages_with`; all pages where the log cannot find them."""
        finds = self._finds
        return await (
            self.page_ids() if finds is None else self._blocking(lambda: finds.pages_with(groups, says))
        )

    async def locate_turns(self, seqs: Sequence[int]) -> Sequence[PageId | None]:
        """See `PageLog.locate_turns`."""
        at_hand = self._keeps.turns_at_hand(seqs) if self._keeps is not None else None
        if at_hand is not None:
            return at_hand
        return await self._blocking(lambda: self._log.locate_turns(seqs))

    async def pages_of_turn(self, turn: str) -> Sequence[PageId]:
        """See `FindsPages.pages_of_turn`; all pages where the log cannot find them."""
        finds = self._finds
        return await (self.page_ids() if finds is None else self._blocking(lambda: finds.pages_of_turn(turn)))

    async def speakers(self) -> Mapping[str, int]:
        """See `FindsPages.speakers`; none where the log does not know."""
        return {} if self._finds is None else await self._blocking(self._finds.speakers)

    async def page_ids(self) -> Sequence[PageId]:
        """Every page, those being filled last."""
        return (*(page.id for page in await self.pages()), *(page.id for page in await self.filling()))

    async def open_pages(self, session: SessionId | None = None) -> tuple[Page, ...]:
        """The pages being filled: of one session, or of all, in the order these first spoke."""
        return await self._blocking(lambda: _open_pages(self._log, session))

    async def filling(self) -> Sequence[OpenInfo]:
        """The pages being filled, without their words."""
        return await self._blocking(self._log.filling)

    async def write(self, entry: LedgerEntry) -> Record:
        """Make one entry durable, then fold it into `tier1`."""
        kind, body = kind_of(entry).name, encode(entry)

        def record() -> Record:
            with self._recording:
                written = self._log.record(kind, body)
                if self._shares is not None and self._shares.is_shared:
                    self._queue_entries()
                else:
                    self._queue.append((written, entry))
                    self._queued_up_to = written.seq
                return written

        return await to_thread.run_sync(record, limiter=self._one_writer)

    async def write_unless_erased(self, entry: LedgerEntry, *, since: int) -> Record | None:
        """Write an entry that rests on words; `None`, with nothing written, where another process erased.

        `since` is what `erasures_by_others` was before the words were read.
        """
        log, kind, body = self._shares, kind_of(entry).name, encode(entry)
        if log is None or not log.is_shared:
            return await self.write(entry)

        def record() -> Record | None:
            with self._recording:
                written = log.record_unless_erased(kind, body, erasures=since)
                self._queue_entries()
                return written

        return await to_thread.run_sync(record, limiter=self._one_writer)

    async def logged_entries(self, kinds: frozenset[str] | None = None) -> tuple[LoggedEntry, ...]:
        """Everything the log holds besides turns and page seals, as it counts now (`ledger.replacements`)."""
        return await self._blocking(lambda: tuple(logged_entries(self._log, kinds)))

    async def erase(
        self,
        turns: Sequence[TurnAt],
        *,
        entries: Sequence[LoggedEntry],
        records: Collection[int],
        instead: Collection[tuple[int, str, Mapping[str, Any]]],
        reason: str,
        upto: int | None = None,
    ) -> bool:
        """Erase turns and records in one step, with `instead` (place, kind, body) of what may stay.

        `entries` are all of the log. `tier1` is folded again from what is left of them. Nothing else of this
        process may write entries meanwhile. Returns `False`, with nothing erased, where an entry was written
        after record `upto`.
        """
        copies = [replacement(*copy) for copy in instead]
        places = [(turn.page_id, turn.seq) for turn in turns]

        def erase() -> bool:
            with self._recording:
                done = self._log.erase_together(
                    places, records=records, instead=copies, reason=reason, upto=upto
                )
                if not done:
                    self._queue_entries()
                elif self._shares is not None and self._shares.is_shared:
                    # Another process may have erased some of the entries since they were read.
                    self._queue_fold(_counting_records(self._log))
                else:
                    left = records_left(entries, erased=records, instead=instead)
                    self._queue_fold(record for record in left if record.kind in KINDS)
                return done

        return await to_thread.run_sync(erase, limiter=self._one_writer)

    async def head(self) -> int:
        """The number of the newest record of the log that was read."""
        return await self._blocking(lambda: self._log.head)

    async def with_entry(self, entry: LedgerEntry) -> Tier1:
        """The state as it would be were an entry written now; it is not."""
        record = Record(
            seq=self._log.head + 1, kind=kind_of(entry).name, at=datetime.now(UTC), body=encode(entry)
        )
        state = await self._blocking(lambda: _fold(self._log, upto=record.seq - 1))
        state.fold(record, entry)
        return state

    async def changes(self, after: int, *, besides: Collection[PageId] = ()) -> Changes:
        """What changed after record `after`, and all of the pages `besides` with their units.

        No entry with a number up to `head` is missing.
        """
        newest = self._newest
        if not besides and newest.seq == after and self._keeps and self._keeps.head_at_hand() == after:
            return Changes(units=(), cold=(), pages=(), filling=(), upto=newest)
        upto, filling, pages = await self._blocking(self._list_pages)
        self._newest = upto
        newer = tuple(takewhile(lambda page: page.seq > after, reversed(pages)))[::-1]
        older = pages[: len(pages) - len(newer)] if besides else ()
        units_besides = [unit for page in besides for unit in self.tier1.units_of_page(page, inactive=True)]
        tier1 = self.tier1
        moved = tier1.moved_since(after)
        hot = (unit for unit_id in moved if (unit := tier1.unit(unit_id)) is not None)
        units = {unit.id: unit for unit in (*units_besides, *hot, *tier1.changed_since(after))}
        return Changes(
            units=tuple(
                unit for unit in units.values() if not tier1.is_cold(unit.id) and tier1.is_indexed(unit)
            ),
            cold=tuple(filter(tier1.is_cold, moved)),
            pages=(*(page for page in older if page.id in besides), *newer),
            filling=tuple(page for page in filling if page.seq > after or page.id in besides),
            upto=upto,
        )

    def _list_pages(self) -> tuple[History, Sequence[OpenInfo], Sequence[PageInfo]]:
        """The head of the log, its open pages and its sealed ones."""
        # The head is read first: what is said or sealed meanwhile is listed as well, and only done twice.
        # Open pages are read before sealed ones: a page that seals in between is in both, never in none.
        with self._recording:
            upto = self._log.history() or History()
            if self._shares is not None and self._shares.is_shared:
                self._queue_entries()
        return upto, self._log.filling(), self._log.pages()

    async def begins_with(self, past: History) -> bool:
        """Whether this log, up to record `past.seq`, is the one that `past` was taken of."""
        if past not in (History(), self._borne_out):
            if past.seq > self._log.head:
                await self._read_new()  # another process may have written the rest since
            if await self._blocking(lambda: _history(self._log, past.seq)) != past:
                return False
            self._borne_out = past  # for good: a log only grows
        return True

    def is_behind(self, past: History) -> bool:
        """Whether the log, which is only read, had not come to where `past` was taken when it was opened."""
        return self._read_only and past.seq > self._log.head

    async def as_of(self, moment: datetime) -> tuple[Tier1, Around]:
        """The state a reader would have seen at `moment`, and the records around it: see `ledger.moments`."""

        def then() -> tuple[Tier1, Around]:
            around = around_moment(
                ((r.seq, r.at) for r in self._log.records()), moment, now=datetime.now(UTC)
            )
            return _fold(self._log, upto=around.before), around

        return await self._blocking(then)

    async def as_it_stood(self, answer_id: AnswerId) -> Ledger:
        """Pages and conclusions as an answer found them, for reading; what was erased since is missing.

        Conclusions are those of the record the answer started from, pages those of before it was recorded.
        """
        seq = self._answer_seq(answer_id)
        head = (await self.answer(answer_id)).trace.head
        past = LogPrefix(self._log, seq)
        return Ledger(past, await self._blocking(lambda: _fold(self._log, upto=head)))

    async def answer(self, answer_id: AnswerId) -> Answer:
        """One answer with its trace; raises `UnknownId`."""
        return (await self._entry(self._answer_seq(answer_id), AnsweredEntry)).answer

    async def distilled(self, page_id: PageId) -> DistilledEntry:
        """What became of one page, rejected claims included; raises `UnknownId` while it is pending."""
        summary = self.tier1.pages.get(page_id)
        if summary is None:
            raise UnknownId(f"page {page_id!r} of space {self.space!r} is not distilled")
        return await self._entry(summary.seq, DistilledEntry)

    async def announced_erasing(self, seq: int) -> Erasing:
        """The erasure that a record announced."""
        return await self._entry(seq, Erasing)

    async def bundle(
        self,
        answer_id: AnswerId,
        *,
        checkpoint: Checkpoint | None = None,
        whole_pages: bool = False,
        shows: Callable[[Page], bool] | None = None,
    ) -> Bundle:
        """An answer with all it takes to check its words elsewhere; see `pagestore.bundle.make_bundle`."""
        seq = self._answer_seq(answer_id)
        return await self._blocking(
            lambda: make_bundle(self._log, seq, checkpoint=checkpoint, whole_pages=whole_pages, shows=shows)
        )

    async def clock_problems(self) -> tuple[str, ...]:
        """Where the clock the log was recorded by went wrong, in words; empty where the log cannot tell."""
        if not isinstance(self._log, TimedLog):
            return ()
        return clock_problems(await self._blocking(self._log.times), now=datetime.now(UTC))

    async def current_checkpoint(self) -> Checkpoint:
        """What a checkpoint would commit to now, without logging it."""
        return await self._blocking(self._proving.current_checkpoint)

    async def prove_growth(self, old: Checkpoint, new: Checkpoint) -> GrowthProof:
        """That what `old` commits to is the beginning of what `new` commits to; raises `Corrupt`."""
        return await self._blocking(lambda: self._proving.prove_growth(old, new))

    async def verify(self, checkpoint: Checkpoint | None = None) -> VerifyReport:
        """Re-derive every hash of the log; see `PageLog.verify`."""
        return await self._blocking(lambda: self._log.verify(checkpoint))

    async def checkpoint(self) -> Checkpoint:
        """Commit to everything so far."""
        return await self._blocking(self._log.checkpoint)

    async def close(self) -> None:
        """Close the log; idempotent."""
        await self._blocking(self._log.close)

    @property
    def _proving(self) -> ProvingLog:
        if not isinstance(self._log, ProvingLog):
            raise InvalidInput(f"the log of space {self.space!r} is of a kind that cannot prove records")
        return self._log

    def _answer_seq(self, answer_id: AnswerId) -> int:
        info = self.tier1.answers.get(answer_id)
        if info is None and self.tier1.was_erased(answer_id):
            raise UnknownId(
                f"answer {answer_id!r} of space {self.space!r} was erased with words it rested on"
            )
        if info is None and answer_id.startswith(NOT_RECORDED):
            raise UnknownId(
                f"answer {answer_id!r} was not recorded: a memory that was opened read-only gave it (or it "
                "was asked again to compare); a memory opened for writing records what it answers"
            )
        if info is None:
            raise UnknownId(f"space {self.space!r} gave no answer {answer_id!r}; list them with `answers`")
        return info.seq

    async def _entry(self, seq: int, entry_type: type[_E]) -> _E:
        entry = decode(await self._blocking(lambda: _read(self._log, seq)))
        if not isinstance(entry, entry_type):
            raise Corrupt(f"record {seq} of space {self.space!r} is not of the kind that was recorded")
        return entry

    async def _blocking(self, call: Callable[[], _T]) -> _T:
        return await to_thread.run_sync(call)


def _read(log: PageLog, seq: int) -> Record:
    try:
        return log.read(seq)
    except RecordNotFound:
        found = replacement_of(log, seq)
        if found is None:
            raise
        return found


def _history(log: PageLog, upto: int) -> History | None:
    try:
        return log.history(upto)
    except Corrupt:
        return None


def _fold(log: PageLog, *, upto: int | None = None) -> Tier1:
    records = _counting_records(log)
    if upto is not None:
        records = takewhile(lambda record: record.seq <= upto, records)
    return Tier1.from_records(records)


def _counting_records(log: PageLog) -> Iterator[Record]:
    return records_left(logged_entries(log, frozenset(KINDS)))


def _page_or_why(page: Callable[[PageId], Page], page_id: PageId) -> Page | Unread:
    try:
        return page(page_id)
    except (PageNotFound, Corrupt) as error:
        return error
    except PageStoreError:
        raise
    except Exception as error:  # noqa: BLE001  # whatever a page does, the others are read
        return PageSetAside(unexpected(error, f"reading page {page_id}"))


def _open_pages(log: PageLog, session: SessionId | None) -> tuple[Page, ...]:
    place = {name: at for at, name in enumerate(log.sessions())}
    filling = [info for info in log.filling() if session in (None, info.session)]
    filling.sort(key=lambda info: (place[info.session], info.turns[0].seq))
    found = (log.open_page(info.session, info.agent) for info in filling)
    return tuple(page for page in found if page is not None)
