"""The index as a projection: log first, index after, and the mark last of all.

The mark says up to which record the index reflects the ledger. It moves only when everything before
it is in the index and flushed, so whatever a crash leaves half-done lies after the mark and is done
again. Ids are the ledger's, so doing it again stores nothing twice. It is believed only where the log
begins with the history it names: an index copied from elsewhere, or newer than a log that was restored,
is built again where this process alone writes it, and left alone where others may.

Turns are put as they are said, under their numbers in the log. That a page seals changes nothing.

A page that cannot be put for what it is (damaged, refused by the embedder, or any unexpected error) is
set aside on record: the others go on and the mark passes it. Searches find it by its words, in the log.
"""

from __future__ import annotations

import logging
from bisect import bisect_left, bisect_right
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import TypeVar
from uuid import uuid4

import anyio

from pagestore import History, OpenInfo, Page, PageId, PageInfo
from pagestore.codec import opened_as
from pagestore.errors import Corrupt, PageNotFound, ReadOnly
from tiermem.errors import IndexMismatch, MalformedReply, ModelError, ModelRefused, TierMemError, unexpected
from tiermem.index.absent import AbsentIndex
from tiermem.index.entries import AROUND, turn_entries
from tiermem.index.interface import Compacts, Exclusive, Index, LinksTurns, Shows, SupportsTransactions
from tiermem.index.values import Entry
from tiermem.ledger import Changes, Ledger, SetAside, owner_of
from tiermem.model import SummaryUnit, UnitId, merge_owners
from tiermem.text import parse_iso
from tiermem.text.withheld import without_unsearched
from tiermem.writing.values import ProjectionCounts, UnfinishedWork

log = logging.getLogger("tiermem")

_BATCH = 64
"""Units or pages put, or taken out, at a time."""
_NOTHING = History()

_Item = TypeVar("_Item")


class Projection:
    """Keeps the units and turns of one space findable."""

    def __init__(self, ledger: Ledger, index: Index, *, unsearched: tuple[str, ...] = ()) -> None:
        """Turns of `unsearched` roles are not put."""
        self._ledger = ledger
        self._unsearched = unsearched
        self._index = index
        if isinstance(index, Shows):
            index.show(ledger.indexed_as, None)
        self._one_at_a_time = anyio.Lock()
        self._one_marks = anyio.Lock()  # taken first: what is put meanwhile waits for no disk
        self._mark: History | None = None
        self._put_up_to = _NOTHING
        self._to_mark = False
        self._failed: dict[PageId, Exception] = {}
        self._erasures_by_others = 0

    async def project(self, *, again: bool = False) -> ProjectionCounts:
        """Bring the index up to the ledger; repeating it puts nothing. Raises `SummaryIndexError`.

        With `again`, pages that were set aside are tried again.
        """
        async with self._alone():
            return await self._project(again=again)

    async def show(self) -> None:
        """Let searches find what changed, and leave it to the next `project` to make that durable."""
        async with self._one_at_a_time:
            await self._put_changes()

    async def attempt(self, *, again: bool = False) -> UnfinishedWork | None:
        """`project` for work the ledger already holds: a failure delays finding it and loses nothing."""
        return await self._attempt_step(partial(self.project, again=again))

    @property
    def is_shown_first(self) -> bool:
        """Whether the index finds what is put before it is durable."""
        return isinstance(self._index, Shows)

    async def attempt_to_show(self) -> UnfinishedWork | None:
        """`show`, or `attempt` where the index finds nothing before it is durable."""
        return await (self._attempt_step(self.show) if self.is_shown_first else self.attempt())

    async def _attempt_step(self, step: Callable[[], Awaitable[object]]) -> UnfinishedWork | None:
        what = f"space {self._ledger.space}"
        try:
            await step()
        except TierMemError as error:
            return UnfinishedWork(stage="index", what=what, reason=repr(error))
        except Exception as error:  # noqa: BLE001  # reported in the result, and logged
            return UnfinishedWork(stage="index", what=what, reason=unexpected(error, f"indexing {what}"))
        return None

    def pages_set_aside(self) -> tuple[SetAside, ...]:
        """The pages that the index goes on without, and why."""
        return tuple(one for one in self._ledger.tier1.pages_set_aside if one.step == "index")

    async def rebuild(self) -> ProjectionCounts:
        """Drop the space from the index and project it from nothing, without a model call."""
        async with self._alone():
            async with self._one_at_a_time:
                await self._forget()
            return await self._project()

    async def take_out(self, erased: Sequence[Page], units: Sequence[UnitId]) -> bool:
        """Take out of the index what turns of these pages, as they were, left there, and these units.

        The units are those that went or changed; where only some are hot, others may be now. Turns are also
        found by the words around them: the ones that stood by what went are put again, as they are now, and
        so are units. Returns whether nothing that was taken out is left in the engine's storage.
        Where a page cannot be put again for what it is, and where an engine has neither transactions nor
        tidies its storage, as `purge`.
        """
        if _holds_nothing(self._index):
            return True
        compacts = isinstance(self._index, Compacts)
        if not compacts and not isinstance(self._index, SupportsTransactions):
            return await self.purge()
        try:
            async with self._alone():
                await self._project()
                async with self._one_at_a_time:
                    await self._put_units_again(units)
                    await self._put_pages_again(erased)
                    if isinstance(self._index, Compacts):
                        await self._index.compact()
                await self._project()
                return compacts
        except Exception as error:
            if not _may_be_of_one(error):
                raise
        return await self.purge()

    async def _put_units_again(self, units: Sequence[UnitId]) -> None:
        space, tier1 = self._ledger.indexed_as, self._ledger.tier1
        again = units if tier1.hot_units is None else [unit.id for unit in tier1.all_units()]
        left = [unit for unit_id in again if (unit := tier1.unit(unit_id)) is not None]
        hot = [unit for unit in left if not tier1.is_cold(unit.id) and tier1.is_indexed(unit)]
        await self._index.remove(space, "units", [*units, *tier1.cold])
        await self._index.put(space, "units", [self._unit_entry(unit) for unit in hot])

    async def _put_pages_again(self, erased: Sequence[Page]) -> None:
        """Of turns on these pages, as they are now, and on the next ones those that are found otherwise."""
        space, old = self._ledger.indexed_as, {page.id: page for page in erased}
        now = [await self._page(page_id) for page_id in old]
        after = [page for one in now if (page := await self._after(one)) is not None and page.id not in old]
        for page in (*now, *after):
            before = await self._before(page)
            was_before = before if before is None else old.get(before.id, before)
            was = {entry.id: entry for entry in _turn_entries(old.get(page.id, page), was_before)}
            entries = _turn_entries(page, before)
            await self._index.remove(space, "turns", list(was.keys() - {entry.id for entry in entries}))
            changed = [entry for entry in entries if entry != was.get(entry.id)]
            await self._index.put(space, "turns", [] if isinstance(self._index, LinksTurns) else changed)

    async def purge(self) -> bool:
        """`rebuild`, with nothing of before left in the engine's storage; `False` where that is out of reach.

        The whole space is put again: what went is no longer known.
        """
        if _holds_nothing(self._index):
            return True
        async with self._alone():
            compacts = isinstance(self._index, Compacts)
            async with self._one_at_a_time:
                await self._forget()
                if isinstance(self._index, Compacts):
                    await self._index.compact()
            await self._project()
            return compacts

    @asynccontextmanager
    async def _alone(self) -> AsyncIterator[None]:
        """Inside, nothing else writes the space in the index; not another process either."""
        async with self._one_marks:
            index = self._index
            if not isinstance(index, SupportsTransactions):
                yield
                return
            try:
                async with index.writing(self._ledger.indexed_as) as self._index:
                    yield
            except BaseException:
                self._mark = None  # nothing is kept of what was put since
                raise
            finally:
                self._index = index

    async def _project(self, *, again: bool = False) -> ProjectionCounts:
        async with self._one_at_a_time:
            put, upto = await self._put_changes(again=again), self._put_up_to
        if self._to_mark:
            self._to_mark = False
            try:
                if not isinstance(self._index, Shows):
                    await self._index.flush()
                await self._index.set_mark(self._ledger.indexed_as, upto)
            except BaseException:
                self._to_mark = True
                raise
            if not isinstance(self._index, Shows):
                self._mark = upto
        return put

    async def _put_changes(self, *, again: bool = False) -> ProjectionCounts:
        space = self._ledger.indexed_as
        set_aside = self._ledger.tier1.aside_at("index")
        besides = set_aside if again else ()
        self._failed = {}
        await self._forget_what_others_erased()
        mark = await self._index.mark(space)
        if mark != self._mark:
            # Just opened, or lost what it held: only the index's own word counts, where it is of this log.
            if not await self._ledger.begins_with(mark):
                await self._forget_another_history()
            elif mark == _NOTHING and await self._has_left_overs():
                await self._forget()
            else:
                self._mark = self._put_up_to = mark
        changes = await self._ledger.changes(self._put_up_to.seq, besides=besides)
        new = changes.units or changes.cold or changes.pages or changes.filling
        self._to_mark = self._to_mark or bool(new)
        nothing_yet = self._put_up_to == _NOTHING and not await self._index.count(space, "turns")
        for units in _batches(changes.units):
            await self._each(units, self._put_units, lambda unit: unit.spans[0].page_id)
        for cold in _batches(() if nothing_yet else changes.cold):
            await self._index.remove(space, "units", cold)
        new_pages: Sequence[PageInfo | OpenInfo] = (*changes.filling, *changes.pages)
        for pages in _batches(new_pages):
            await self._each(pages, self._put_pages, _page_id)
        await self._set_aside(changes, set_aside)
        self._put_up_to = changes.upto
        if isinstance(self._index, Shows):
            self._index.show(space, changes.upto)
            self._mark = changes.upto
        return ProjectionCounts(
            units=len(changes.units), pages=len(changes.pages), open_pages=len(changes.filling)
        )

    async def _each(
        self,
        items: Sequence[_Item],
        put: Callable[[Sequence[_Item]], Awaitable[None]],
        page_of: Callable[[_Item], PageId],
    ) -> None:
        """Put items together; where that fails for what one of them is, one by one."""
        try:
            await put(items)
        except Exception as error:
            if not _may_be_of_one(error):
                raise
        else:
            return
        failed: dict[PageId, Exception] = {}
        for item in items:
            try:
                await put([item])
            except Exception as error:
                if not _may_be_of_one(error):
                    raise
                failed[page_of(item)] = error
        refused = any(isinstance(one, ModelError) for one in failed.values())
        if refused and len(failed) == len(items) and (len(items) > 1 or not await self._takes_words()):
            # Whatever is given is refused: that is no fault of a page.
            raise next(iter(failed.values()))
        self._failed |= failed

    async def _takes_words(self) -> bool:
        """Whether the embedder takes words that were never given it; a page alone does not tell."""
        try:
            await self._index.search(
                self._ledger.indexed_as, "units", f"words {uuid4().hex}", limit=1, mode="dense"
            )
        except TierMemError:
            return False
        return True

    async def _set_aside(self, changes: Changes, set_aside: Mapping[PageId, str]) -> None:
        """Record which pages did not go through, and which did that had not before."""
        space = self._ledger.space
        opened = [opened_as(space, info) for info in changes.pages]
        tried = {*map(_page_id, changes.pages), *map(_page_id, changes.filling), *opened}
        through = [page_id for page_id in set_aside if page_id in tried and page_id not in self._failed]
        entries = [SetAside(page_id=page_id, step="index", reason=None) for page_id in through]
        for page_id, error in self._failed.items():
            reason = _reason(error, page_id)
            if set_aside.get(page_id) != reason:
                entries.append(SetAside(page_id=page_id, step="index", reason=reason))
        try:
            for entry in entries:
                await self._ledger.write_unless_erased(entry, since=self._erasures_by_others)
        except ReadOnly:
            """A past state is only looked at: nothing of it is recorded."""

    async def _put_units(self, units: Sequence[SummaryUnit]) -> None:
        await self._index.put(self._ledger.indexed_as, "units", [self._unit_entry(unit) for unit in units])

    async def _put_pages(self, pages: Sequence[PageInfo | OpenInfo]) -> None:
        """The turns of pages that are new."""
        for page in [await self._page(info.id, kept=isinstance(info, OpenInfo)) for info in pages]:
            await self._put_new_turns(page)

    async def _put_new_turns(self, page: Page) -> None:
        """The new turns of a page and those that they are around; all turns of a page that was set aside."""
        new = sum(line.seq > self._put_up_to.seq for line in page.lines if line.turn is not None)
        ids = (page.id, opened_as(self._ledger.space, page))
        if not self._ledger.tier1.aside_at("index").keys().isdisjoint(ids):
            await self._put_turns(page, len(page.lines))
        elif new:
            await self._put_turns(page, new if isinstance(self._index, LinksTurns) else new + AROUND)

    async def _put_turns(self, page: Page, newest: int) -> None:
        """The `newest` turns of a page; alone where they cannot be put with the words before them."""
        space = self._ledger.indexed_as
        try:
            entries = _turn_entries(page, await self._before(page))
            await self._index.put(space, "turns", entries[-newest:])
        except Exception as error:
            if not _may_be_of_one(error):
                raise
            await self._index.put(space, "turns", _turn_entries(page, None)[-newest:])
            reason = _reason(error, page.id)
            log.warning("page %s is found without the words of the page before it: %s", page.id, reason)

    async def _has_left_overs(self) -> bool:
        """Whether a run cut short left entries: they are put again, and may be of another history."""
        if not isinstance(self._index, Exclusive):
            return False
        space = self._ledger.indexed_as
        return bool(await self._index.count(space, "units") or await self._index.count(space, "turns"))

    async def _forget_what_others_erased(self) -> None:
        """Forget the whole space where another process erased something: it is put again without that.

        From an index that both write the other one takes it out.
        """
        await self._ledger.catch_up()
        erasures = self._ledger.erasures_by_others
        if erasures != self._erasures_by_others and not isinstance(self._index, SupportsTransactions):
            await self._forget()
            if isinstance(self._index, Compacts):
                await self._index.compact()
        self._erasures_by_others = erasures

    async def _forget_another_history(self) -> None:
        if not isinstance(self._index, Exclusive):
            raise IndexMismatch(
                f"what the index holds of space {self._ledger.space!r} is of another history than its log: "
                "one of them was restored, or a copy of the store goes on elsewhere with the same index; "
                "give a copy an index of its own, else `reindex` puts this log there in place of the other"
            )
        await self._forget()

    async def _forget(self) -> None:
        # The mark goes first: a crash inside `drop` must leave no holes behind a mark that says all is there.
        await self._index.set_mark(self._ledger.indexed_as, _NOTHING)
        await self._index.flush()
        await self._index.drop(self._ledger.indexed_as)
        self._mark = self._put_up_to = _NOTHING

    def _unit_entry(self, unit: SummaryUnit) -> Entry:
        return Entry(
            id=unit.id,
            session=unit.session,
            text=unit.text if unit.paraphrase is None else unit.paraphrase,
            said_at=unit.said_at,
            event=parse_iso(unit.event_at) if unit.event_at is not None else None,
            active=self._ledger.tier1.is_active(unit.id),
            scene=" ".join(filter(None, (unit.scene, unit.text if unit.paraphrase else None))),
            owner=_owner(() if unit.id in self._ledger.tier1.shared else unit.agents),
        )

    async def _before(self, page: Page) -> Page | None:
        """The sealed page of the same session and agent before this one."""
        numbered = await self._pages_beside(page)
        found = bisect_left(numbered, page.number, key=lambda info: info.number)
        return await self._page(numbered[found - 1].id, kept=True) if found else None

    async def _after(self, page: Page) -> Page | None:
        """The page of the same session and agent after this one, sealed or filling."""
        numbered = await self._pages_beside(page)
        found = bisect_right(numbered, page.number, key=lambda info: info.number)
        if found < len(numbered):
            return await self._page(numbered[found].id)
        filling = await self._ledger.open_pages(page.session)
        same_agent = (one for one in filling if one.agent == page.agent)
        after = next((one for one in same_agent if one.number > page.number), None)
        return None if after is None else without_unsearched(after, self._unsearched)

    async def _page(self, page_id: PageId, *, kept: bool = False) -> Page:
        """A page as it is to be found."""
        return without_unsearched(await self._ledger.page(page_id, kept=kept), self._unsearched)

    async def _pages_beside(self, page: Page) -> Sequence[PageInfo]:
        """The sealed pages of the same session and agent."""
        return [info for info in await self._ledger.pages(page.session) if info.agent == page.agent]


def _holds_nothing(index: Index) -> bool:
    """Whether there is no index and never was one, so that nothing is to be taken out."""
    return isinstance(index, AbsentIndex) and index.holds_nothing


def _may_be_of_one(error: Exception) -> bool:
    """Whether what went wrong may lie in what was put, and not in index, embedder or log."""
    if isinstance(error, Corrupt | PageNotFound | ModelRefused | MalformedReply):
        return True
    return not isinstance(error, TierMemError)


def _reason(error: Exception, page_id: PageId) -> str:
    known = isinstance(error, TierMemError)
    return f"{type(error).__name__}: {error}" if known else unexpected(error, f"indexing page {page_id}")


def _page_id(info: PageInfo | OpenInfo) -> PageId:
    return info.id


def _owner(agents: Sequence[str]) -> str:
    return owner_of(agents) if agents else ""


def _turn_entries(page: Page, before: Page | None) -> list[Entry]:
    """The turns of a page as they are put, owned by whom the page belongs to."""
    return turn_entries(page, before, owner=_owner(merge_owners([page.agent])))


def _batches(items: Sequence[_Item]) -> Iterator[Sequence[_Item]]:
    return (items[start : start + _BATCH] for start in range(0, len(items), _BATCH))
