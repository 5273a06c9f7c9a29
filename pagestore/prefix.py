"""A log as it stood before one of its records was written: for looking at the past, and for reading only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import NoReturn

from pagestore.codec import opened_as
from pagestore.errors import PageNotFound, ReadOnly, RecordNotFound
from pagestore.interface import PageLog
from pagestore.values import (
    Checkpoint,
    History,
    InclusionProof,
    OpenInfo,
    Page,
    PageId,
    PageInfo,
    Record,
    SessionId,
    SpaceId,
    TurnTimes,
    VerifyReport,
)


class LogPrefix:
    """A `PageLog` of the records below `before`. What was erased since is erased here too."""

    def __init__(self, log: PageLog, before: int) -> None:
        self._log = log
        self._before = before

    @property
    def space(self) -> SpaceId:
        """The space whose log this is."""
        return self._log.space

    @property
    def identity(self) -> str:
        """The whole log's."""
        return self._log.identity

    @property
    def head(self) -> int:
        """The number of the newest record there was."""
        return min(self._before - 1, self._log.head)

    def history(self, upto: int | None = None) -> History | None:
        """The whole log up to a record, also a later one; up to what there was when `None`."""
        return self._log.history(self.head if upto is None else upto)

    def sessions(self) -> tuple[SessionId, ...]:
        """The sessions that had spoken."""
        known = self._log.sessions()
        filling = {info.session for info in self.filling()}
        return tuple(s for s in known if s in filling or self.pages(s))

    def pages(self, session: SessionId | None = None) -> Sequence[PageInfo]:
        """The pages that were sealed."""
        return tuple(takewhile(lambda info: info.seq < self._before, self._log.pages(session)))

    def page(self, page_id: PageId) -> Page:
        """A page that was sealed, or by its `o1:` id the page that was filling; `PageNotFound` for others."""
        page = self._log.page(page_id)
        if self._sealed_then(page):
            return page
        opened = self._as_open(page) if page_id == self._open_id(page) else None
        if opened is None:
            raise PageNotFound(f"space {self.space!r} had no page {page_id!r} before record {self._before}")
        return opened

    def open_page(self, session: SessionId, agent: str | None = None) -> Page | None:
        """The page that was filling, with the turns it had."""
        of_agent = (info for info in self._log.pages(session) if info.agent == agent)
        later = next((info for info in of_agent if info.seq >= self._before), None)
        page = self._log.page(later.id) if later else self._log.open_page(session, agent)
        return None if page is None else self._as_open(page)

    def filling(self) -> Sequence[OpenInfo]:
        """The pages that were filling; when their turns were recorded is not looked up."""
        # Before the sealed ones: a page that seals meanwhile is in both.
        filling = [(info.session, info.agent) for info in self._log.filling()]
        sealed = ((info.session, info.agent) for info in self._log.pages() if info.seq >= self._before)
        opened = (self.open_page(*thread) for thread in dict.fromkeys((*filling, *sealed)))
        return tuple(_open_info(page) for page in opened if page is not None)

    def locate_turns(self, seqs: Sequence[int]) -> Sequence[PageId | None]:
        """The pages that turns were on."""
        known = self._log.locate_turns([seq if seq < self._before else -1 for seq in seqs])
        sealed = {info.id for info in self.pages()}
        opened = {
            page_id: self._open_id(self._log.page(page_id))
            for page_id in dict.fromkeys(known)
            if page_id is not None and page_id not in sealed
        }
        return tuple(None if page_id is None else opened.get(page_id, page_id) for page_id in known)

    def read(self, seq: int) -> Record:
        """One record by number."""
        if seq >= self._before:
            raise RecordNotFound(f"space {self.space!r} had no record {seq} yet")
        return self._log.read(seq)

    def records(self, *, after: int = -1, kinds: frozenset[str] | None = None) -> Iterator[Record]:
        """The records there were, in order."""
        found = self._log.records(after=after, kinds=kinds)
        return takewhile(lambda record: record.seq < self._before, found)

    def prove(self, page_id: PageId, checkpoint: Checkpoint) -> InclusionProof:
        """See `PageLog.prove`."""
        return self._log.prove(self.page(page_id).id, checkpoint)

    def verify(self, checkpoint: Checkpoint | None = None) -> VerifyReport:
        """The whole log, re-derived: a part of it cannot be verified alone."""
        return self._log.verify(checkpoint)

    def _raise_read_only(self, *_: object, **__: object) -> NoReturn:
        """Raise `ReadOnly`, whatever is given: the past of a log cannot be written."""
        raise ReadOnly(f"the past of space {self.space!r} is for reading")

    append = seal = record = checkpoint = erase = erase_together = _raise_read_only

    def close(self) -> None:
        """Nothing is held here; the log stays open."""

    def _sealed_then(self, page: Page) -> bool:
        return page.sealed_at is not None and any(
            info.id == page.id and info.seq < self._before for info in self._log.pages(page.session)
        )

    def _as_open(self, page: Page) -> Page | None:
        """The page with the turns it had while it was filling; its text is a prefix of the later one.

        Its tokens are its share by characters of what was counted later.
        """
        lines = tuple(takewhile(lambda line: line.seq < self._before, page.lines))
        if not lines:
            return None
        text = page.text[: lines[-1].end]
        return replace(
            page,
            id=self._open_id(page),
            text=text,
            lines=lines,
            tokens=round(page.tokens * len(text) / max(1, len(page.text))),
            sealed_at=None,
        )

    def _open_id(self, page: Page) -> PageId:
        return opened_as(self.space, page)


def _open_info(page: Page) -> OpenInfo:
    times = (TurnTimes(seq=line.seq, said_at=line.turn.said_at if line.turn else None) for line in page.lines)
    return OpenInfo(
        id=page.id, session=page.session, number=page.number, turns=tuple(times), agent=page.agent
    )
