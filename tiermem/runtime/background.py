"""Work on the open parts of one space that goes on after a call returned, or before the first one.

It holds the parts alone and no memory, so that a timer keeps no memory that its user dropped.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pagestore import PageId
from tiermem.errors import BudgetExceeded, MemoryClosed, TierMemError, unexpected
from tiermem.llm.meter import Meter
from tiermem.runtime.components import Components
from tiermem.runtime.jobs import CONSOLIDATING, Job
from tiermem.runtime.shared_components import SharedComponents
from tiermem.settings import IN_PROCESS, When
from tiermem.writing import ELSEWHERE, WriteBackReport

INDEXING_LIMIT = 5.0
"""Seconds a question waits for what was just said to be in the index."""
SPARE = 1.0
"""Seconds to look later than an idle session may be sealed, so that one look is enough."""
_INDEXING, _MARKING, _SEALING = "indexing", "marking", "sealing"


class Background:
    """Indexes, seals, summarises, writes back and consolidates, as the settings say."""

    def __init__(self, opened: SharedComponents) -> None:
        self._opened = opened
        self._jobs = opened.jobs
        self._lock = opened.lock

    @property
    def _components(self) -> Components:
        return self._opened.open_components

    async def resume(self) -> None:
        """Finish what an earlier process left: idle open pages, pages without units, units and turns the
        index does not hold.
        """
        components = self._components
        if not components.read_only:
            await components.writer.limit_hot_units(components.settings.hot_units)
            why = await self._finish_erasing()
            if components.ledger.tier1.erasing:
                self._jobs.note([f"an erasing is not finished: {why}"])
            elif components.settings.index == IN_PROCESS:
                await self._fill_index()
            await components.writer.seal_all_idle(components.clock())
            await self._run_when(components.settings.distil, "distilling", self._distil)
            self.index_open_turns()
            await self._schedule_idle_seal()
            self._schedule_consolidation()

    async def catch_up(self) -> None:
        """Read what other processes wrote to the space, and have it found."""
        if await self._components.ledger.catch_up():
            await self._opened.drop_revoked_items()
            self.index_open_turns()

    async def after_sealing(self, pages: tuple[PageId, ...]) -> tuple[PageId, ...]:
        """Have pages that sealed summarised, as the settings say; returns the pages."""
        if pages:
            await self._run_when(self._components.settings.distil, "distilling", self._distil)
        return pages

    async def after_adding(self) -> None:
        """Have what was said indexed, and its session sealed once it is idle."""
        self.index_open_turns()
        if not self._jobs.is_due(_SEALING):
            await self._schedule_idle_seal()

    async def after_answering(self) -> None:
        """Decide on the findings of an answer, as the settings say."""
        await self._run_when(self._components.settings.write_back, "write-back", self.write_back)

    def index_open_turns(self) -> None:
        """Have what was said found."""
        self._jobs.start(_INDEXING, self._index)

    async def wait_for_index(self) -> None:
        """Wait a little for what was said to be in the index; what is not by then is found by its words."""
        await self._jobs.wait(_INDEXING, limit=INDEXING_LIMIT)

    async def write_back(self) -> WriteBackReport:
        """Decide on the findings that wait, which stay where no model is named."""
        if not self._components.writer.decides_on_findings:
            return WriteBackReport()
        async with self._lock.shared():
            with self._components.paying(Meter()):
                report = await self._components.writer.apply_pending()
        self._jobs.note(report.unfinished)
        return report

    @asynccontextmanager
    async def idle_window(self) -> AsyncIterator[None]:
        """Entered when no question is under way, something may be spent, and no caller waits for the end.

        A call that has to be alone, to erase for example, goes first.
        """
        await self._opened.asking.none()
        if self._opened.ending:
            raise MemoryClosed("the memory was closed")
        self._components.meter.check()
        async with self._lock.shared():
            yield

    async def _finish_erasing(self) -> str:
        """Finish an erasing that a crash cut short; why it is not finished, where it still is not."""
        try:
            await self._components.writer.eraser.finish()
        except TierMemError:
            raise
        except Exception as error:  # noqa: BLE001  # noted, and logged: the memory opens all the same
            return unexpected(error, "finishing an erasing")
        return "the index cannot be used"

    async def _fill_index(self) -> None:
        """Put all that the ledger holds into an index that starts empty; without a model call."""
        try:
            with self._components.paying(Meter()):
                await self._components.writer.projection.project()
        except TierMemError as error:
            self._jobs.note([f"the index could not be filled and is tried again: {error}"])
        except Exception as error:  # noqa: BLE001  # noted, and logged
            reason = unexpected(error, "filling the index")
            self._jobs.note([f"the index could not be filled and is tried again: {reason}"])

    async def _index(self) -> None:
        """Have what was said found, and then kept so: who asks meanwhile does not wait for the disk."""
        async with self._lock.shared():
            with self._components.paying(Meter()):
                left = await self._components.writer.projection.attempt_to_show()
        self._jobs.note([left] if left is not None else [])
        if left is None and self._components.writer.projection.is_shown_first:
            self._jobs.start(_MARKING, self._mark_index)

    async def _mark_index(self) -> None:
        async with self._lock.shared():
            with self._components.paying(Meter()):
                left = await self._components.writer.projection.attempt()
        self._jobs.note([left] if left is not None else [])

    async def _distil(self) -> None:
        async with self._lock.shared():
            with self._components.paying(Meter()):
                report = await self._components.writer.distil_pending()
        self._jobs.note(report.unfinished)

    async def _schedule_idle_seal(self) -> None:
        """Look for idle sessions again when the first of them may be idle."""
        components = self._components
        seconds = await components.writer.until_idle(components.clock())
        if seconds is not None:
            self._jobs.later(seconds + SPARE, _SEALING, self._seal_idle)

    async def _seal_idle(self) -> None:
        components = self._components
        await components.ledger.catch_up()
        async with self._lock.shared():
            sealed = await components.writer.seal_idle(components.clock())
        await self.after_sealing(sealed)
        await self._schedule_idle_seal()
        if sealed and components.settings.consolidate == "idle":
            self._jobs.start(CONSOLIDATING, self._consolidate)

    def _schedule_consolidation(self) -> None:
        """Have the next pass begin when the settings say."""
        when = self._components.settings.consolidate
        if when == "idle":
            self._jobs.start(CONSOLIDATING, self._consolidate)
        elif when != "off":
            self._jobs.later(when, CONSOLIDATING, self._consolidate_again, longest=when)

    async def _consolidate_again(self) -> None:
        try:
            await self._consolidate()
        finally:
            if not self._opened.ending:
                self._schedule_consolidation()

    async def _consolidate(self) -> None:
        """A pass in the background, on a day on which anything may still be spent."""
        components = self._components
        try:
            components.meter.check()
        except BudgetExceeded:
            return  # what waits is pending, and `stats` has what was spent
        with components.paying(Meter()):
            report = await components.consolidator.run(components.clock(), moment=self.idle_window)
        self._jobs.note(why for why in report.left if why not in (*self._jobs.problems, ELSEWHERE))

    async def _run_when(self, when: When, name: str, job: Job) -> None:
        if when == "inline":
            await job()
        elif when == "background":
            self._jobs.start(name, job)
