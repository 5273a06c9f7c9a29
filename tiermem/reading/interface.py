"""What reading asks of the ledger: nothing that writes, so that a type checker refuses it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Protocol

from pagestore import History, Page, PageId, PageInfo, SessionId, SpaceId
from tiermem.ledger import Around, Changes, DistilledEntry, Tier1, Unread
from tiermem.model import Answer, AnswerId


class ReadsLedger(Protocol):
    """The pages and conclusions of one space, as `Ledger` holds them."""

    @property
    def space(self) -> SpaceId:
        """The space this is the ledger of."""
        ...

    @property
    def indexed_as(self) -> SpaceId:
        """What indexes know this space by."""
        ...

    @property
    def tier1(self) -> Tier1:
        """The present net state."""
        ...

    async def page(self, page_id: PageId) -> Page:
        """One page; raises `PageNotFound`."""
        ...

    async def read(self, page_ids: Sequence[PageId], *, kept: bool = False) -> tuple[Page | Unread, ...]:
        """Pages in the order asked for, or why one could not be read; with `kept`, as they were read before
        where nothing of them changed.
        """
        ...

    async def pages(self, session: SessionId | None = None) -> Sequence[PageInfo]:
        """Sealed pages without their words."""
        ...

    async def locate_turns(self, seqs: Sequence[int]) -> Sequence[PageId | None]:
        """The page of each of these turns by its number; `None` where no turn has it."""
        ...

    async def open_pages(self, session: SessionId | None = None) -> tuple[Page, ...]:
        """The pages being filled, with their words."""
        ...

    async def answer(self, answer_id: AnswerId) -> Answer:
        """One answer with its trace; raises `UnknownId`."""
        ...

    async def distilled(self, page_id: PageId) -> DistilledEntry:
        """What became of one page when it was summarised; raises `UnknownId` while it is pending."""
        ...

    async def changes(self, after: int, *, besides: Collection[PageId] = ()) -> Changes:
        """What changed after record `after`, and all of the pages `besides` with their units."""
        ...

    async def begins_with(self, past: History) -> bool:
        """Whether this log, up to record `past.seq`, is the one that `past` was taken of."""
        ...

    def is_behind(self, past: History) -> bool:
        """Whether a log that is only read had not come to where `past` was taken when it was opened."""
        ...

    async def as_of(self, moment: datetime) -> tuple[Tier1, Around]:
        """The state at `moment`, and the records around it."""
        ...

    async def as_it_stood(self, answer_id: AnswerId) -> ReadsLedger:
        """Pages and conclusions as an answer found them."""
        ...
