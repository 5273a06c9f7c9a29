"""What a page log promises, wherever it is kept: on disk, in memory or in a database.

The rule: when `append` or `record` returns, what it was given survives a crash (for logs that outlive
the process). There is no update. `pagestore.testing.PageLogContract` is this file as tests.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

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


class TokenCounter(Protocol):
    """Measures text in tokens. The page records which counter measured it."""

    @property
    def name(self) -> str:
        """For example `cl100k_base` or `estimate-1`."""
        ...

    def count(self, text: str) -> int:
        """How many tokens `text` is; never touches the network."""
        ...


class PageLog(Protocol):
    """One space's append-only log of turns, page seals and records. Safe to call from many threads."""

    @property
    def space(self) -> SpaceId:
        """The space whose log this is."""
        ...

    @property
    def identity(self) -> str:
        """What tells this log from every other, also of its space: made with it, the same in its copies."""
        ...

    @property
    def head(self) -> int:
        """The number of the newest record; -1 when the log is empty."""
        ...

    def history(self, upto: int | None = None) -> History | None:
        """The log up to a record (to its newest, atomically, when `None`); `None` where it has no such one.

        Raises `Corrupt` where the record cannot be read.
        """
        ...

    def append(self, session: SessionId, turns: Sequence[Turn]) -> Appended:
        """Store turns durably, in order; seal pages as they fill.

        The same `turn_id` with the same words of the same agent is stored once (its first number comes
        back); with other words it raises `Conflict` and nothing of this call is stored.
        """
        ...

    def seal(self, session: SessionId | None = None) -> tuple[PageId, ...]:
        """Seal the open pages of `session` (of every session when `None`); returns the pages sealed."""
        ...

    def sessions(self) -> tuple[SessionId, ...]:
        """Every session, in the order it first spoke."""
        ...

    def pages(self, session: SessionId | None = None) -> Sequence[PageInfo]:
        """Sealed pages in the order they were sealed, without their words."""
        ...

    def page(self, page_id: PageId) -> Page:
        """A page by its id, or by the `o1:` id it had while open; raises `PageNotFound`, `Corrupt`."""
        ...

    def open_page(self, session: SessionId, agent: str | None = None) -> Page | None:
        """The page being filled in a session by an agent, or by none; `None` when it holds no turn."""
        ...

    def locate_turns(self, seqs: Sequence[int]) -> Sequence[PageId | None]:
        """The page of each of these turns by its number, erased or not; `None` where no turn has it."""
        ...

    def filling(self) -> Sequence[OpenInfo]:
        """The pages being filled that hold a turn, without their words, in no order that means anything."""
        ...

    def record(self, kind: str, body: Mapping[str, Any]) -> Record:
        """Append one opaque record durably. `body` must survive JSON unchanged."""
        ...

    def read(self, seq: int) -> Record:
        """One record by number; raises `RecordNotFound` (also for a turn, and for what was erased)."""
        ...

    def records(self, *, after: int = -1, kinds: frozenset[str] | None = None) -> Iterator[Record]:
        """Records written through `record`, and page seals (kind `page`), in order, numbers > `after`.

        One that was erased keeps number and time; its kind is `void` and its body empty.
        """
        ...

    def checkpoint(self) -> Checkpoint:
        """Commit to everything so far (and log that commitment)."""
        ...

    def prove(self, page_id: PageId, checkpoint: Checkpoint) -> InclusionProof:
        """That the seal of this page is in the tree of `checkpoint`."""
        ...

    def verify(self, checkpoint: Checkpoint | None = None) -> VerifyReport:
        """Re-derive every hash; with a checkpoint kept elsewhere, also that it is a prefix of this log."""
        ...

    def erase(self, page_id: PageId, seq: int, reason: str) -> None:
        """Remove the words of turn `seq` from the log for ever; hashes and proofs stay. Idempotent."""
        ...

    def erase_together(
        self,
        turns: Iterable[tuple[PageId, int]] = (),
        *,
        records: Iterable[int] = (),
        instead: Iterable[tuple[str, Mapping[str, Any]]] = (),
        reason: str,
        upto: int | None = None,
    ) -> bool:
        """Remove turns, and records written through `record`, in one step: a crash leaves all or none.

        `instead` are records (kind and body) written before it, for what may stay of the erased ones.
        What is erased already is passed over; when all of it is, nothing is written. The reason stays.
        Returns `False`, with nothing written, where `record` wrote anything after record `upto`.
        """
        ...

    def close(self) -> None:
        """Release files and lock; idempotent."""
        ...


@runtime_checkable
class ProvingLog(Protocol):
    """An ability of some logs: to prove records to somebody who does not have the log. Nothing is written.

    Every method raises `Corrupt` for a checkpoint that is not of this log.
    """

    def current_checkpoint(self) -> Checkpoint:
        """What a checkpoint would commit to now, without logging it."""
        ...

    def prove_record(self, seq: int, checkpoint: Checkpoint) -> ProvedRecord:
        """Any record but a turn, as it lies in the log; `RecordNotFound` when `checkpoint` is older."""
        ...

    def prove_page(self, page_id: PageId, checkpoint: Checkpoint) -> ProvedPage:
        """A sealed page with the lines of its turns; `PageNotFound` when `checkpoint` is older."""
        ...

    def prove_growth(self, old: Checkpoint, new: Checkpoint) -> GrowthProof:
        """That the log `old` commits to is the beginning of the one `new` commits to."""
        ...


@runtime_checkable
class LooksUp(Protocol):
    """An ability of some logs: to tell what is stored under the ids of turns. Nothing is written."""

    def taken(self, session: SessionId, turns: Sequence[Turn]) -> Sequence[Taken]:
        """How the id of each turn is taken in a session; one without an id is `free`."""
        ...


@runtime_checkable
class KeepsPages(Protocol):
    """An ability of some logs: to give pages again that they read and checked before."""

    def kept_page(self, page_id: PageId) -> Page:
        """`page`, as it was last read where nothing of it changed since. It is not read again, so damage done
        to the storage meanwhile shows only in `page` and `verify`.

        What is returned is shared: it must not be changed. Nothing that was erased is given.
        """
        ...

    def pages_at_hand(self, page_ids: Sequence[PageId]) -> Sequence[Page] | None:
        """`kept_page` of each, where all are kept and no other is reading; `None` otherwise, at once."""
        ...

    def turns_at_hand(self, seqs: Sequence[int]) -> Sequence[PageId | None] | None:
        """`locate_turns`, where no other caller is reading; `None` otherwise, at once."""
        ...

    def head_at_hand(self) -> int | None:
        """`head`, where no other caller is reading; `None` otherwise, at once."""
        ...


@runtime_checkable
class FindsPages(Protocol):
    """An ability of some logs: to find pages by what is on them, without reading each.

    Pages come in no order that means anything, open ones by their `o1:` id. On a page that cannot be read
    nothing may be found.
    """

    def pages_with(self, groups: Collection[Sequence[str]], says: Callable[[str], bool]) -> Sequence[PageId]:
        """Every page with a turn of whose text, id or metadata `says` is true; it is asked about those alone
        that hold all words of one of the groups, in any case.

        Words are as `str.casefold` leaves them, and hold letters, digits and underscores alone. No group is
        empty. Turns are found by the first word of a group, which should be the rarest.
        """
        ...

    def speakers(self) -> Mapping[str, int]:
        """Everybody who said a turn, with how many of them; a turn in parts counts for each."""
        ...

    def pages_of_turn(self, turn: str) -> Sequence[PageId]:
        """The pages with turns of this id."""
        ...


@runtime_checkable
class SharedLog(Protocol):
    """An ability of some logs: to read what other writers appended since it was opened."""

    @property
    def is_shared(self) -> bool:
        """Whether this object writes, and others may write while it is open."""
        ...

    @property
    def by_others(self) -> WrittenByOthers:
        """What others appended, as far as this object read it."""
        ...

    def catch_up(self) -> WrittenByOthers:
        """Read what others appended; returns `by_others`. Does nothing where the log is not shared.

        Acquires no lock of the storage, and waits for what this object itself is writing. Raises
        `Inaccessible` where the storage is not reached, `Corrupt` for a line that cannot be read.
        """
        ...

    def record_unless_erased(self, kind: str, body: Mapping[str, Any], *, erasures: int) -> Record | None:
        """`PageLog.record`; `None`, with nothing written, where `by_others.erasures` has changed by then."""
        ...

    def claim(self, work: Collection[str]) -> frozenset[str]:
        """Claim pieces of work among all that have the log open; return those that nothing had claimed.

        A claim ends with `release` or with the process. All are given where the log is not shared. Raises
        `Inaccessible`.
        """
        ...

    def release(self, work: Collection[str]) -> None:
        """Release claims; idempotent."""
        ...


@runtime_checkable
class TimedLog(Protocol):
    """An ability of some logs: to tell where the clock they recorded times by was set back."""

    def times(self) -> RecordedTimes:
        """What recorded times say of the clock; nothing is read for it."""
        ...
