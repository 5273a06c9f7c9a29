"""One pass over a space while no question waits: what waits is done, and what was said twice becomes one.

In this order: sessions that are over seal, sealed pages are summarised, findings are decided on, and units
that tell the same are merged. The rules:
- A merge says nothing new: it is the wording of one of its units, resting on the words of all, each of which
  states all of it. It goes into the ledger with its reason, and withdrawing it brings the units back.
- What every question may see is seen as before: units are merged only where the turns they rest on are of one
  session and alike in speaker, role, trust, metadata and agent, and all of them shared or none.
- Each piece of work, a page, the findings of an answer, one look for what is near, one merge, waits for a
  `moment` of its own. Between any two of them the pass may end, and the next one goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from itertools import groupby

import anyio
from anyio import to_thread

from pagestore import Page, PageId, SessionId, Span, Turn
from pagestore.errors import Corrupt, PageNotFound, PageStoreError
from tiermem.errors import BudgetExceeded, MemoryClosed, TierMemError
from tiermem.index.interface import Index
from tiermem.index.values import Hit
from tiermem.ledger import ConsolidatedEntry, Ledger, Tier1, merged_unit_id, owner_of
from tiermem.llm.meter import Meter, current, paid_by
from tiermem.model import SummaryUnit, UnitId
from tiermem.salience.propose import (
    Merge,
    NearUnits,
    Pair,
    Proposals,
    near_but_distinct,
    near_for,
    propose,
    telling,
)
from tiermem.writing.batches import batches
from tiermem.writing.edit import Neighbour, latest, neighbour_of, why_not_one
from tiermem.writing.values import Consolidation, MergedUnits, Progress, WriterOptions
from tiermem.writing.writer import Writer

_NEIGHBOURS = 8
"""Units that each one is compared with; more that tell the same are found from these in the next pass."""
_PATIENCE = 3
"""Calls in a row for pages that may fail before the rest of them is left for later without asking."""

ELSEWHERE = "this pass: another process is consolidating the space"
"""What is left of a pass while another process does one."""

Moment = Callable[[], AbstractAsyncContextManager[None]]
"""Entered for each piece of work when its time has come. Raises `BudgetExceeded` where nothing may be spent
any more, and `MemoryClosed` where the memory is closing: then the pass is over."""


@dataclass
class _Pass:
    """What one pass has come to so far."""

    progress: Progress | None
    sealed: tuple[SessionId, ...] = ()
    pages: int = 0
    units: int = 0
    findings: int = 0
    merged: list[MergedUnits] = field(default_factory=list)
    near: list[NearUnits] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    steps: int = 0
    done: int = 0

    def step(self) -> None:
        self.done += 1
        if self.progress is not None:
            self.progress(self.done, self.steps)

    def report(self) -> Consolidation:
        return Consolidation(
            sealed=self.sealed,
            pages=self.pages,
            units=self.units,
            findings=self.findings,
            merged=tuple(self.merged),
            near=tuple(self.near),
            left=tuple(self.left),
        )


class Consolidator:
    """Consolidates one space, one pass at a time."""

    def __init__(self, writer: Writer, ledger: Ledger, index: Index, options: WriterOptions) -> None:
        self._writer = writer
        self._ledger = ledger
        self._index = index
        self._options = options
        self._looked = -1
        self._looked_in: Tier1 | None = None
        self._one_at_a_time = anyio.Lock()

    async def run(
        self, now: datetime, *, moment: Moment = nullcontext, progress: Progress | None = None
    ) -> Consolidation:
        """Do one pass. What cannot be done now is left for the next one, and the report says why.

        Nothing is done while another process does one.
        """
        async with self._one_at_a_time, self._ledger.claiming("consolidate") as claims:
            if not await claims.add(["the space"]):
                return Consolidation(left=(ELSEWHERE,))
            one = _Pass(progress)
            with paid_by(Meter(outer=current())) as meter:
                try:
                    await self._seal(one, now, moment)
                    await self._summarise(one, moment)
                    await self._apply_findings(one, moment)
                    await self._merge(one, moment)
                except (BudgetExceeded, MemoryClosed) as why:
                    one.left.append(f"the rest of this pass: {why}")
            return replace(one.report(), usage=meter.total())

    async def propose(self, now: datetime) -> Consolidation:
        """What a pass would begin with now; nothing is written."""
        one = _Pass(None)
        one.sealed = await self._writer.idle_sessions(now)
        one.pages = len(await self._writer.pending_pages(with_set_aside=False))
        one.findings = len(self._ledger.tier1.pending)
        proposals = await self._looked_for(one, nullcontext, since=-1) or Proposals()
        one.near += proposals.apart
        for merge in proposals.merges:
            entry = await self._entry(one, merge)
            one.merged += [] if entry is None else [_as_merged_units(entry)]
        return replace(one.report(), proposed=True)

    async def _seal(self, one: _Pass, now: datetime, moment: Moment) -> None:
        async with moment():
            one.sealed = await self._writer.idle_sessions(now)
            await self._writer.seal_all_idle(now)

    async def _summarise(self, one: _Pass, moment: Moment) -> None:
        pending = await self._writer.pending_pages(with_set_aside=False)
        together = batches(pending, page_tokens=self._options.page_tokens)
        one.steps += len(together)
        failed = 0
        for number, infos in enumerate(together):
            if failed == _PATIENCE:
                waiting = sum(map(len, together[number:]))
                one.left.append(f"{waiting} pages: not asked, {_PATIENCE} calls in a row had failed")
                return
            async with moment():
                report = await self._writer.distil_pending(only={info.id for info in infos})
            one.pages += report.distilled
            one.units += report.units
            one.left += map(
                str, (*report.unfinished, *(page for page in report.aside if page.step == "distil"))
            )
            failed = failed + 1 if report.pending and not report.distilled else 0
            one.step()

    async def _apply_findings(self, one: _Pass, moment: Moment) -> None:
        pending = tuple(self._ledger.tier1.pending.values())
        if pending and not self._writer.decides_on_findings:
            one.left.append(f"{len(pending)} findings: no language model is named, which decides on them")
            return
        groups = [tuple(group) for _, group in groupby(pending, key=lambda finding: finding.answer_id)]
        one.steps += len(groups)
        waiting = 0
        for group in groups:
            async with moment():
                # What was erased meanwhile exists no longer.
                left = [finding for finding in group if finding.id in self._ledger.tier1.pending]
                report = await self._writer.write_back(left)
            one.findings += len(report.decisions)
            one.left += map(str, report.unfinished)
            waiting += report.waiting
            one.step()
        if waiting:
            one.left.append(f"{waiting} findings: the page that they rest on is still open")

    async def _merge(self, one: _Pass, moment: Moment) -> None:
        await self._index_it(one, moment)
        tier1 = self._ledger.tier1
        head = tier1.head
        # After an erasing, which folds the ledger again, units may hold again that no record names.
        since = self._looked if self._looked_in is tier1 else -1
        proposals = await self._looked_for(one, moment, since=since)
        if proposals is None:
            return
        one.near += proposals.apart
        for merge in proposals.merges:
            async with moment(), self._writer.deciding():
                since = self._ledger.erasures_by_others
                entry = await self._entry(one, merge)
                if entry is not None and await self._ledger.write_unless_erased(entry, since=since):
                    one.merged.append(_as_merged_units(entry))
        self._looked, self._looked_in = head, tier1
        if one.merged:
            await self._index_it(one, moment)

    async def _index_it(self, one: _Pass, moment: Moment) -> None:
        async with moment():
            behind = await self._writer.projection.attempt()
        if behind is not None:
            one.left.append(str(behind))

    async def _looked_for(self, one: _Pass, moment: Moment, *, since: int) -> Proposals | None:
        """`_proposals`; `None`, which is left with the reason, where the index cannot tell."""
        try:
            return await self._proposals(one, moment, since=since)
        except (BudgetExceeded, MemoryClosed, PageStoreError):
            raise
        except TierMemError as error:
            one.left.append(f"units that say the same: they cannot be looked for: {error}")
            return None

    async def _proposals(self, one: _Pass, moment: Moment, *, since: int) -> Proposals:
        """Of the units that came or changed after record `since`, and hold, which are stated twice. What is
        cold and states just the same is looked at with them.
        """
        tier1 = self._ledger.tier1
        changed = [unit for unit in tier1.changed_since(since) if tier1.is_active(unit.id)]
        units = [*changed, *await to_thread.run_sync(_cold_twins, changed, tier1)]
        one.steps += len(units)
        age = {unit.id: number for number, unit in enumerate(tier1.all_units())}
        found: dict[tuple[int, int], Pair] = {}
        for unit in units:
            async with moment():
                near = await self._near_units(unit)
            for other, similarity in near:
                if other.id in age:  # what comes meanwhile is looked at in the next pass
                    older, newer = sorted((unit, other), key=lambda unit: age[unit.id])
                    pair = Pair(one=older, other=newer, similarity=similarity)
                    found.setdefault((age[older.id], age[newer.id]), pair)
            one.step()
        oldest_first = [found[ages] for ages in sorted(found)]
        return await to_thread.run_sync(lambda: propose(oldest_first, parted=tier1.were_parted))

    async def _near_units(self, unit: SummaryUnit) -> list[tuple[SummaryUnit, float]]:
        """The units that hold and are near this one, of the same session, with the cosine."""
        tier1, least = self._ledger.tier1, near_for(self._options.embedder)
        search = partial(
            self._index.search,
            self._ledger.indexed_as,
            query=unit.text,
            limit=_NEIGHBOURS,
            mode="dense",
            session=unit.session,
            owners=(owner_of(unit.agents),) if unit.agents else (),
        )
        hits = [hit for hit in await search("units") if hit.score >= least]
        turns = [hit for hit in await search("turns") if hit.score >= least]
        others = [(tier1.unit(UnitId(hit.id)), hit.score) for hit in hits]
        return [
            (other, score)
            for other, score in (*others, *await self._extracts_of(turns))
            if other is not None
            and other.id != unit.id
            and tier1.is_active(other.id)
            and other.agents == unit.agents
        ]

    async def _extracts_of(self, turns: Sequence[Hit]) -> list[tuple[SummaryUnit, float]]:
        """The extracts of turns, which an index does not hold, each as near as its turn."""
        scores = {int(hit.id): hit.score for hit in turns}
        rows = (await self._index.rows(self._ledger.indexed_as, [hit.id for hit in turns])).rows
        places = list(zip(*(rows[name].tolist() for name in ("seq", "start", "end")), strict=True))
        pages = await self._ledger.locate_turns([seq for seq, _, _ in places])
        return [
            (unit, scores[seq])
            for (seq, start, end), page in zip(places, pages, strict=True)
            if page is not None
            for unit in self._ledger.tier1.units_of_page(page)
            if unit.is_extract
            and any(span.page_id == page and span.start < end and start < span.end for span in unit.spans)
        ]

    async def _entry(self, one: _Pass, merge: Merge) -> ConsolidatedEntry | None:
        """The merge of those of its units that fit the first now; `None` if none does, or it is known."""
        tier1, kept = self._ledger.tier1, merge.units[0]
        fitting = [kept]
        for other in merge.units[1:]:
            why = await self._why_not(tier1, kept, other)
            if why is None:
                fitting.append(other)
            else:
                one.near.append(near_but_distinct(kept, other, merge.similarity, why))
        if len(fitting) == 1:
            return None
        ids = tuple(unit.id for unit in fitting)
        unit_id = merged_unit_id(self._ledger.space, ids)
        if tier1.unit(unit_id) is not None:
            return None
        reason = (
            f"they tell the same (cosine {merge.similarity:.3f} by {self._options.embedder or 'the index'})"
        )
        return ConsolidatedEntry(unit=_standing_for(fitting, unit_id), merged=ids, reason=reason)

    async def _why_not(self, tier1: Tier1, kept: SummaryUnit, other: SummaryUnit) -> str | None:
        """Why two units may not be merged as they are now; `None` where they may."""
        for unit in (kept, other):
            if tier1.unit(unit.id) != unit or not tier1.is_active(unit.id):
                return "one of them changed meanwhile"
        if kept.agents != other.agents:
            return "they are of different agents"
        if (kept.id in tier1.shared) != (other.id in tier1.shared):
            return "one of them is shared, and the other is not"
        try:
            one, two = await self._side(kept), await self._side(other)
        except (PageNotFound, Corrupt) as error:
            return f"a page that they rest on cannot be read: {error}"
        if one.told_by != two.told_by:
            return "they rest on turns that filters tell apart: of another speaker, role, trust or metadata"
        return why_not_one(kept.text, one.neighbour, other.text, two.neighbour.grounds)

    async def _side(self, unit: SummaryUnit) -> _Side:
        ids = dict.fromkeys(span.page_id for span in unit.spans)
        pages = [await self._ledger.page(page_id) for page_id in ids]
        neighbour = neighbour_of(unit, pages, self._options.trust)
        return _Side(neighbour=neighbour, told_by=_told_by(unit.spans, pages))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Side:
    """A unit, what its spans hold, and the turns these are in, as filters see them."""

    neighbour: Neighbour
    told_by: list[Turn]


def _cold_twins(units: Sequence[SummaryUnit], tier1: Tier1) -> list[SummaryUnit]:
    """The cold units, which no index can find for others, that state just what one of these states."""
    known = {unit.id for unit in units}
    wanted = {(unit.session, telling(unit.text)) for unit in units} if tier1.cold else set()
    cold = (tier1.unit(unit_id) for unit_id in tuple(tier1.cold) if unit_id not in known)
    return [
        unit
        for unit in cold
        if unit is not None and tier1.is_active(unit.id) and (unit.session, telling(unit.text)) in wanted
    ]


def _told_by(spans: Iterable[Span], pages: Sequence[Page]) -> list[Turn]:
    """The turns of spans without what distinguishes two turns of one speaker: words, time, id, importance."""
    by_id: dict[PageId, Page] = {page.id: page for page in pages}
    turns = (by_id[span.page_id].line_at(span.start).turn for span in spans)
    found: list[Turn] = []
    for turn in turns:
        bare = None if turn is None else replace(turn, text="", said_at=None, turn_id=None, importance=None)
        if bare is not None and bare not in found:
            found.append(bare)
    return found


def _standing_for(units: Sequence[SummaryUnit], unit_id: UnitId) -> SummaryUnit:
    """The first of the units, resting on the words of all."""
    return replace(
        units[0],
        id=unit_id,
        spans=tuple(dict.fromkeys(span for unit in units for span in unit.spans)),
        said_at=latest(unit.said_at for unit in units),
        scene=next((unit.scene for unit in units if unit.scene), None),
        importance=max(unit.importance for unit in units),
        revision=1,
        supersedes=tuple(dict.fromkeys(one for unit in units for one in (unit.id, *unit.supersedes))),
    )


def _as_merged_units(entry: ConsolidatedEntry) -> MergedUnits:
    return MergedUnits(unit=entry.unit, of=entry.merged, reason=entry.reason)
