"""The one room that changes memory: what was said, what it comes to, and what answers brought back.

The rule: log first, index after. Every step asks the ledger what is missing and does that, so a
crash between any two steps leaves work pending and nothing half-known; running the step again
finishes it. A page on which a step raises an unexpected error is set aside with the reason, on record,
and the others go on.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime

import anyio
from anyio import to_thread

from pagestore import Appended, Page, PageId, PageInfo, PageLine, SessionId, Span, Turn, TurnTimes
from pagestore.errors import Corrupt, PageStoreError
from tiermem.dialogue import chat_of, without_day
from tiermem.errors import (
    ErasedMeanwhile,
    InvalidInput,
    ModelRefused,
    ModelUnavailable,
    TierMemError,
    Unexpected,
    UnknownId,
    unexpected,
)
from tiermem.index.interface import Index
from tiermem.ledger import (
    EVERYTHING_SEEN,
    AnsweredEntry,
    BoundedEntry,
    ChatTitle,
    Claims,
    DistilledEntry,
    Feedback,
    GrantedEntry,
    Ledger,
    Redistilled,
    ReinstatedEntry,
    RetiredEntry,
    SetAside,
    Shared,
    Spent,
    StatedEntry,
    Tier1,
    Visibility,
)
from tiermem.llm.meter import Meter, current, paid_by
from tiermem.model import (
    Answer,
    AnswerId,
    Citation,
    Evidence,
    Finding,
    SummaryUnit,
    UnitId,
    Usage,
    WriteBackVariant,
)
from tiermem.reasoning.interface import Engine
from tiermem.salience import Outcome
from tiermem.text import omissions
from tiermem.text.taken_back import without
from tiermem.text.withheld import without_unsearched
from tiermem.writing.agents import AgentNames
from tiermem.writing.batches import batches
from tiermem.writing.concluding import write_conclusion
from tiermem.writing.distil import distil, redistil, turn_unit
from tiermem.writing.duplicates import find_duplicate
from tiermem.writing.erase import Eraser
from tiermem.writing.idle import idle_by_clock, idle_by_said_time, left_behind, next_look
from tiermem.writing.judge import Credit, Judged, Sources, credit_of_answer, credit_of_sources, feedback_with
from tiermem.writing.map_ordered import map_ordered
from tiermem.writing.projection import Projection
from tiermem.writing.state import (
    check_correction,
    check_statement,
    is_same_turn,
    same_statements,
    stated_unit,
)
from tiermem.writing.values import (
    DistilReport,
    Progress,
    ReinstatedUnit,
    Remembered,
    UnfinishedWork,
    Withdrawn,
    WriteBackReport,
    WriterOptions,
)
from tiermem.writing.versions import Older, older_versions
from tiermem.writing.write_back import WriteBacks

_SLICE = 32
"""Pages summarised before the index is brought up to them, so that long work is findable while it runs."""
_PATIENCE = 8
"""Calls in a row that a model may fail before the rest of a run is left for later without asking."""


class Writer:
    """Writes one space: turns, summaries and findings.

    `projection` keeps the index behind them, and `eraser` takes words out of both; nothing else may write
    while it does.
    """

    def __init__(
        self, ledger: Ledger, index: Index, engine: Engine, options: WriterOptions | None = None
    ) -> None:
        self._ledger = ledger
        self._engine = engine
        self._options = options or WriterOptions()
        self.projection = Projection(ledger, index, unsearched=self._options.unsearched_roles)
        self._write_backs = WriteBacks(ledger, index, engine, self.projection, self._options)
        self.eraser = Eraser(ledger, self.projection)
        self._agents = AgentNames(ledger)
        self._distilling = anyio.Lock()
        self._one_decides = anyio.Lock()  # what holds is looked at and changed in one step
        self._stating: Counter[SessionId] = Counter()  # sessions in which a statement is being stored
        self._edited: set[SessionId] = set()  # sessions in which a message has a later version

    async def limit_hot_units(self, limit: int | None) -> None:
        """Have the index hold no more than `limit` units from now on; `None` leaves it as it was."""
        if limit not in (None, self._ledger.tier1.hot_units):
            await self._ledger.write(BoundedEntry(hot_units=limit))

    async def observe(self, session: SessionId, turns: Sequence[Turn]) -> Appended:
        """Store turns; durable when this returns. Pages that fill up seal and wait for `distil_pending`.

        Raises `InvalidInput` for a new agent whose name looks like that of another.
        """
        await self._agents.check(turn.agent for turn in turns)
        return await self._ledger.append(session, turns)

    async def record_titles(
        self, session: SessionId, titles: Mapping[str | None, str], *, since: int
    ) -> None:
        """Record what the chat of a session is called, by agent; nothing that is known.

        `since` is what `Ledger.erasures_by_others` was before its turns were stored: if another process
        erased words since, nothing is recorded, and the next import does it.
        """
        async with self._one_decides:
            for agent, title in titles.items():
                chat = chat_of(session)
                if self._ledger.tier1.needs_title(chat, agent, title, default=without_day(session)):
                    entry = ChatTitle(chat=chat, title=title, agent=agent)
                    await self._ledger.write_unless_erased(entry, since=since)

    def note_versions(self, session: SessionId) -> None:
        """Note that messages of a session have later versions, for `distil_pending`."""
        self._edited.add(session)

    async def seal(self, session: SessionId | None = None) -> tuple[PageId, ...]:
        """Seal the open page of one session, or of all."""
        return await self._ledger.seal(session)

    async def seal_idle(self, now: datetime) -> tuple[PageId, ...]:
        """Seal the open pages whose newest turn was recorded `WriterOptions.idle_seal` minutes ago."""
        pages = await self._ledger.filling()
        return await self._seal_each(idle_by_clock(pages, now=now, minutes=self._options.idle_seal))

    async def seal_behind(self, session: SessionId, turns: Iterable[TurnTimes]) -> tuple[PageId, ...]:
        """Seal the open pages that `session`, with the turns it was just given, left behind by said time."""
        pages, minutes = await self._ledger.filling(), self._options.idle_seal
        return await self._seal_each(left_behind(pages, by=session, turns=turns, minutes=minutes))

    async def seal_all_idle(self, now: datetime) -> tuple[PageId, ...]:
        """Seal every open page that is idle, by the clock or by said time."""
        return await self._seal_each(await self.idle_sessions(now))

    async def idle_sessions(self, now: datetime) -> tuple[SessionId, ...]:
        """Sessions with an open page that is idle, by the clock or by said time."""
        pages, minutes = await self._ledger.filling(), self._options.idle_seal
        by_clock = idle_by_clock(pages, now=now, minutes=minutes)
        by_said_time = idle_by_said_time(pages, minutes=minutes)
        return tuple(dict.fromkeys((*by_clock, *by_said_time)))

    async def until_idle(self, now: datetime) -> float | None:
        """Seconds until the first open page seals should nothing be said; `None` when none ever does."""
        seconds = next_look(await self._ledger.filling(), now=now, minutes=self._options.idle_seal)
        return None if seconds is None or math.isinf(seconds) else seconds

    async def _seal_each(self, sessions: Iterable[SessionId]) -> tuple[PageId, ...]:
        return tuple([page for session in sessions for page in await self._ledger.seal(session)])

    async def distil_pending(
        self,
        progress: Progress | None = None,
        *,
        again: bool = False,
        only: Collection[PageId] | None = None,
    ) -> DistilReport:
        """Summarise every sealed page that the ledger says is not, then bring the index up to the ledger.

        A page whose summarising failed stays pending and is named in the report; the others go on,
        unless the model fails so often in a row that asking about the rest would only take time. One that
        another process is summarising is left to that one.
        Pages that were set aside, at whatever step, are tried only with `again`. With `only`, no others.
        """
        async with self._distilling:
            if again:
                for page_id in self._ledger.tier1.aside_at("ask"):  # questions may read these pages again
                    await self._ledger.write(SetAside(page_id=page_id, step="ask", reason=None))
            edited = bool(self._edited)
            await self._supersede_older_versions()
            pending = await self.pending_pages(with_set_aside=again)
            if only is not None:
                pending = tuple(info for info in pending if info.id in only)
            run = _DistilRun(len(pending), progress)
            together = batches(pending, page_tokens=self._options.page_tokens)
            async with self._ledger.claiming("distil") as claims:
                for start in range(0, len(together), _SLICE):
                    await map_ordered(
                        together[start : start + _SLICE],
                        lambda infos: self._distil_claimed(run, claims, infos),
                        lambda batch: self._keep(run, claims, batch),
                        at_once=self._options.concurrency,
                    )
                    run.index = await self.projection.attempt(again=again)
                    again = False
            if self._edited:
                await self._supersede_older_versions()
            if edited or not pending:
                run.index = await self.projection.attempt(again=again)
        return run.report(self.projection.pages_set_aside())

    async def pending_pages(self, *, with_set_aside: bool = True) -> tuple[PageInfo, ...]:
        """Return the sealed pages that are not summarised yet, oldest first.

        Without `with_set_aside` those that were set aside are left out. So are those of a session in which a
        statement is being stored: until its unit is recorded, its words would become a second unit.
        """
        await self._ledger.catch_up()
        pages, tier1 = await self._ledger.pages(), self._ledger.tier1
        without = {} if with_set_aside else tier1.aside_at("distil")
        return tuple(
            info
            for info in pages
            if not tier1.is_distilled(info.id) and info.id not in without and not self._stating[info.session]
        )

    @asynccontextmanager
    async def deciding(self) -> AsyncIterator[None]:
        """Inside, no other task reads or changes what holds."""
        async with self._one_decides, self._write_backs.one_at_a_time:
            await self._ledger.catch_up()
            yield

    async def redistil(self, page_id: PageId) -> Redistilled:
        """Look at a distilled page again, with what its units lost; what is new and proved is added.

        Nothing is removed, and every look is recorded. Raises `InvalidInput` for a page that is not
        distilled yet, what the engine raises, and `Unexpected` for any other error; then what it cost is
        recorded.
        """
        async with self._distilling:
            page = await self._ledger.page(page_id)
            if not self._ledger.tier1.is_distilled(page.id):
                raise InvalidInput(
                    f"page {page.id!r} is not summarised yet; `flush` or `index_pending` does it"
                )
            try:
                entry = await self._redistil(page)
            except TierMemError:
                raise
            except Exception as error:
                raise Unexpected(unexpected(error, f"distilling page {page.id} again")) from error
            await self.projection.attempt()
            return entry

    async def _redistil(self, page: Page) -> Redistilled:
        tier1, since = self._ledger.tier1, self._ledger.erasures_by_others
        kept = tier1.units_of_page(page.id)
        page = self.readable_page(page)
        lost = await to_thread.run_sync(lambda: omissions(page, [unit.text for unit in kept]))
        async with self.recording("distil"):
            entry = await redistil(page, self._engine, self._options.trust, hints=lost, kept=kept)
        new = tuple(unit for unit in entry.units if find_duplicate(tier1, unit.text, unit.spans) is None)
        entry = replace(entry, units=new)
        await write_conclusion(self._ledger, entry, since=since, step="distil", usage=entry.usage)
        return entry

    @asynccontextmanager
    async def recording(self, what: str) -> AsyncIterator[None]:
        """What is paid inside is recorded when it fails or is cut short: neither is free of limits."""
        with paid_by(Meter(outer=current())) as meter:
            try:
                yield
            except (Exception, anyio.get_cancelled_exc_class()):
                with anyio.CancelScope(shield=True):
                    await self.spent(what, meter.total())
                raise

    async def spent(self, what: str, usage: Usage) -> None:
        """Record what was paid for work that leaves no other entry; nothing paid, nothing recorded."""
        if usage.calls:
            await self._ledger.write(Spent(step=what, usage=usage))

    async def record_answer(
        self, answer: Answer, findings: Sequence[Finding] = (), *, since: int | None = None
    ) -> None:
        """Record an answer with its trace; its findings are pending from now on.

        With `since`, what `Ledger.erasures_by_others` was when the question began, raises `ErasedMeanwhile`
        as `write_conclusion` does.
        """
        entry = AnsweredEntry(answer=answer, findings=tuple(findings))
        known = self._ledger.erasures_by_others if since is None else since
        await write_conclusion(self._ledger, entry, since=known, step="ask", usage=answer.usage)

    async def grant(self, agent: str, to_see: str, *, given: bool) -> None:
        """Record that an agent may see another one's, or no longer; nothing that is so already."""
        async with self._one_decides:
            if self._ledger.tier1.may_see(agent, to_see) != given:
                await self._ledger.write(GrantedEntry(agent=agent, to_see=to_see, given=given))

    async def share(self, unit_ids: Sequence[UnitId], reason: str, *, given: bool) -> tuple[SummaryUnit, ...]:
        """Record that units are everybody's, or no longer; those for which that is new come back."""
        async with self._one_decides:
            known = self._ledger.tier1.shared
            new = tuple(one for one in dict.fromkeys(unit_ids) if (one in known) != given)
            units = tuple(map(self._unit, new))
            if units:
                await self._ledger.write(Shared(unit_ids=new, reason=reason, given=given))
                await self.projection.attempt()
        return units

    async def feedback(
        self,
        of: AnswerId | Sequence[Evidence | UnitId],
        *,
        outcome: Outcome,
        output: str | None,
        by: str,
        sees: Visibility = EVERYTHING_SEEN,
    ) -> Judged:
        """Record what came of an answer, or of sources, and tell what that did to the weights of units.

        Only what `sees` may see is credited. Raises `UnknownId` for an answer, or a unit, that there is not.
        """
        async with self._one_decides:
            entry = await self._feedback(of, outcome, output, by, sees)
            before = self._weights(entry)
            await self._ledger.write(entry)
            after = self._weights(entry)
        return Judged(
            outcome=outcome,
            answer_id=entry.answer_id,
            credits=tuple(
                Credit(unit_id=one.unit_id, share=one.share, before=was, after=now)
                for one, was, now in zip(entry.shares, before, after, strict=True)
            ),
            turns=entry.turns,
        )

    async def _feedback(
        self,
        of: AnswerId | Sequence[Evidence | UnitId],
        outcome: Outcome,
        output: str | None,
        by: str,
        sees: Visibility,
    ) -> Feedback:
        if isinstance(of, str):
            answer = await self._ledger.answer(of)
            sources = await self._sources(answer.citations, sees)
            return feedback_with(credit_of_answer(sources, answer, output), outcome, by, answer.id)
        for one in of:
            unit_id = one.unit_id if isinstance(one, Evidence) else one
            if unit_id is not None and not sees.unit(self._unit(unit_id)):
                raise self._unknown(unit_id)
        sources = await self._sources((one for one in of if isinstance(one, Evidence)), sees)
        return feedback_with(credit_of_sources(sources, of, output), outcome, by)

    async def _sources(self, named: Iterable[Citation | Evidence], sees: Visibility) -> Sources:
        """What there is to be credited, with the present ids of the pages of single turns that are named."""
        spans = (span for one in named if one.unit_id is None for span in one.spans)
        ids = tuple(dict.fromkeys(span.page_id for span in spans))
        pages = zip(ids, await self._ledger.read(ids), strict=True)
        sealed = {was: page.id for was, page in pages if isinstance(page, Page) and sees.page(page)}
        return Sources(self._ledger.tier1, sealed, sees)

    def _weights(self, entry: Feedback) -> list[float]:
        return [self._ledger.tier1.weight(one.unit_id) for one in entry.shares]

    async def set_aside(
        self, pages: Mapping[PageId, str], step: str, *, since: int | None = None
    ) -> tuple[SetAside, ...]:
        """Record that a step goes on without these pages, and why; nothing that is on record already.

        Nothing is recorded where another process erased words after `since`: the reasons may repeat them.
        """
        known = self._ledger.tier1.aside_at(step)
        before = self._ledger.erasures_by_others if since is None else since
        entries = tuple(SetAside(page_id=page, step=step, reason=why) for page, why in pages.items())
        for entry in entries:
            if known.get(entry.page_id) != entry.reason:
                await self._ledger.write_unless_erased(entry, since=before)
        return entries

    async def write_back(
        self, findings: Iterable[Finding], variant: WriteBackVariant | None = None
    ) -> WriteBackReport:
        """Decide on each finding and record the decision; what cannot be decided now stays pending."""
        return await self._write_backs.apply(findings, variant or self._options.variant)

    @property
    def decides_on_findings(self) -> bool:
        """Whether the engine decides on findings; they stay pending where it does not."""
        return self._engine.select is not None and self._engine.reconcile is not None

    async def apply_pending(self) -> WriteBackReport:
        """`write_back` for everything that answers left pending."""
        await self._ledger.catch_up()
        return await self.write_back(tuple(self._ledger.tier1.pending.values()))

    async def withdraw(self, unit_id: UnitId, reason: str, *, dry_run: bool = False) -> Withdrawn:
        """Take a unit back: it stays on record, is recalled no more, and what it superseded returns.

        Extracts of its words go with it. Words that no unit rests on which holds are no evidence from now on.
        Withdrawing it again writes nothing, and neither does a `dry_run`, which says what would come of it.
        Raises `UnknownId`.
        """
        async with self._one_decides:
            tier1, unit = self._ledger.tier1, self._unit(unit_id)
            before = {older for older in unit.supersedes if tier1.is_active(older)}
            if tier1.retired_because(unit_id) is None:
                within = (one.id for one in _extracts_within(tier1, unit) if tier1.is_active(one.id))
                entry = RetiredEntry(unit_ids=(unit_id, *within), reason=reason)
                tier1 = await self._retire(entry, dry_run=dry_run)
            older = (tier1.unit(older) for older in unit.supersedes if older not in before)
            returned = tuple(one for one in older if one is not None and tier1.is_active(one.id))
            return Withdrawn(
                unit=unit, returned=returned, beside=_overlapping_units(tier1, unit), proposed=dry_run
            )

    async def _retire(self, entry: RetiredEntry, *, dry_run: bool) -> Tier1:
        """The state with units taken back: on record, unless it is only tried."""
        if dry_run:
            return await self._ledger.with_entry(entry)
        await self._ledger.write(entry)
        await self.projection.attempt()
        return self._ledger.tier1

    def unit_of_words(self, page: Page, line: PageLine) -> SummaryUnit:
        """All words of a turn of this page as a unit, which is not recorded."""
        return turn_unit(page, line, trust=self._options.trust)

    async def record_turn(self, session: SessionId, seq: int) -> SummaryUnit:
        """All words of a turn as a unit that is on record, so that they can be taken back; its page seals.

        Raises `UnknownId` where the turn was erased.
        """
        await self._ledger.seal(session)
        since = self._ledger.erasures_by_others
        page = await self._page_with(session, seq)
        unit = self.unit_of_words(page, next(line for line in page.lines if line.seq == seq))
        if self._ledger.tier1.unit(unit.id) is not None:
            return unit
        if await self._ledger.write_unless_erased(StatedEntry(unit=unit), since=since) is None:
            raise UnknownId(f"turn {seq} of session {session!r} was erased meanwhile")
        return unit

    async def reinstate(self, unit_id: UnitId, reason: str) -> ReinstatedUnit:
        """Undo `withdraw`; a unit that is not withdrawn stays as it is, and nothing is written.

        Raises `UnknownId`, and `InvalidInput` for a unit that was not withdrawn and is superseded, and where
        another holds by now in place of what it had superseded.
        """
        async with self._one_decides:
            tier1, unit = self._ledger.tier1, self._unit(unit_id)
            why = tier1.retired_because(unit_id)
            if why is None and (newer := tier1.superseded_by(unit_id)):
                raise InvalidInput(
                    f"unit {unit_id!r} is not withdrawn: {newer[-1]!r} supersedes it; withdraw that"
                )
            before = {older for older in unit.supersedes if tier1.is_active(older)}
            if why is not None:
                self._check_may_hold_again(unit)
                within = (one.id for one in _extracts_within(tier1, unit))
                together = (one for one in within if tier1.retired_because(one) == why)
                await self._ledger.write(ReinstatedEntry(unit_ids=(unit_id, *together), reason=reason))
                await self.projection.attempt()
        tier1 = self._ledger.tier1
        older = (tier1.unit(older) for older in unit.supersedes if older in before)
        superseded = tuple(one for one in older if one is not None and not tier1.is_active(one.id))
        return ReinstatedUnit(unit=unit, superseded=superseded, superseded_by=tier1.superseded_by(unit_id))

    def _check_may_hold_again(self, unit: SummaryUnit) -> None:
        """Raise `InvalidInput` where another unit holds in place of a withdrawn one, or grew from it."""
        tier1 = self._ledger.tier1
        holding = {one for old in unit.supersedes for one in tier1.superseded_by(old)}
        if others := holding - {unit.id, *unit.supersedes}:
            raise InvalidInput(f"unit {min(others)!r} holds in its place: withdraw that first")
        for one in tier1.merged_units(unit.id):
            if not set(self._unit(one).spans) <= {*unit.spans}:
                raise InvalidInput(f"unit {one!r} says more by now than when it was merged: keep it")

    async def remember(
        self, session: SessionId, turn: Turn, *, is_dated: bool = False
    ) -> tuple[Remembered, tuple[PageId, ...]]:
        """Store a turn, seal its page, and keep what it says as a unit; the pages that sealed come with it.

        A statement that exists is given as it is, and nothing is stored: one that is `is_dated` of its own
        time alone. Raises `InvalidInput` before anything is stored: see `writing.state`.
        """
        check_statement(turn)
        for existing in same_statements(self._ledger.tier1, session, turn, self._options.trust):
            (read,) = await self._ledger.read([existing.spans[0].page_id])
            if isinstance(read, Page) and is_same_turn(read, existing, turn, is_dated=is_dated):
                return Remembered(unit=existing, page_id=read.id, is_new=False), ()
        page, unit, sealed = await self._record_statement(session, turn, corrects=None)
        return Remembered(unit=unit, page_id=page), sealed

    async def correct(
        self, unit_id: UnitId, turn: Turn, *, session: SessionId | None = None
    ) -> tuple[Remembered, tuple[PageId, ...]]:
        """`remember` a turn in place of a unit, in its session unless another is given.

        Raises `UnknownId`, and `InvalidInput` before anything is stored.
        """
        check_statement(turn)
        async with self._one_decides:
            old = self._unit(unit_id)
            check_correction(self._ledger.tier1, old, turn, self._options.trust)
            page, unit, sealed = await self._record_statement(session or old.session, turn, corrects=old)
        overlapping = tuple(one for one in _overlapping_units(self._ledger.tier1, old) if one.id != unit.id)
        return Remembered(unit=unit, page_id=page, corrected=old, beside=overlapping), sealed

    async def _record_statement(
        self, session: SessionId, turn: Turn, *, corrects: SummaryUnit | None
    ) -> tuple[PageId, SummaryUnit, tuple[PageId, ...]]:
        self._stating[session] += 1
        try:
            appended = await self.observe(session, (turn,))
            sealed = (*appended.sealed, *await self._ledger.seal(session))
            page, unit = await self._state(session, appended.seqs[0], corrects)
        finally:
            self._stating[session] -= 1
        await self.projection.attempt()
        return page.id, unit, sealed

    async def _state(
        self, session: SessionId, seq: int, corrects: SummaryUnit | None
    ) -> tuple[Page, SummaryUnit]:
        """Record a turn as a unit, from its words as they are then; where it was erased, `InvalidInput`."""
        while True:
            since = self._ledger.erasures_by_others
            page, tier1 = await self._page_with(session, seq), self._ledger.tier1
            older: tuple[UnitId, ...] = ()
            corrected: tuple[UnitId, ...] = ()
            if corrects is not None:
                within = tuple(one.id for one in _extracts_within(tier1, corrects) if tier1.is_active(one.id))
                older = (corrects.id, *corrects.supersedes, *within)
                corrected = (*tier1.corrected_with(corrects.id), *within)
            unit = stated_unit(page, seq, self._options.trust, older)
            entry = StatedEntry(unit=unit, corrects=corrected)
            if await self._ledger.write_unless_erased(entry, since=since) is not None:
                return page, unit

    async def _page_with(self, session: SessionId, seq: int) -> Page:
        """The sealed page that holds a turn which was just stored."""
        for info in reversed(await self._ledger.pages(session)):
            page = await self._ledger.page(info.id)
            if any(line.seq == seq for line in page.lines):
                return page
        raise UnknownId(f"no sealed page of session {session!r} holds turn {seq}")

    async def _supersede_older_versions(self) -> None:
        """Take back the words of older versions of messages, and retire the units that rest on them alone.

        A unit that was reinstated since stays as it is. A session is looked at until all of it is summarised.
        """
        waiting = {info.session for info in await self.pending_pages()}
        for session in tuple(self._edited):
            async with self._one_decides:
                infos, since = await self._ledger.pages(session), self._ledger.erasures_by_others
                read = await self._ledger.read([info.id for info in infos])
                pages = {page.id: page for page in read if isinstance(page, Page)}
                older = older_versions(tuple(pages.values()))
                reinstated = await self._reinstated_units() if older else frozenset()
                for unit_id, newest_id in self._resting_on(older).items():
                    await self._retire_version(unit_id, newest_id, reinstated)
                for one in older:
                    await self._take_back(pages[one.page_id], one, reinstated, since)
            if session not in waiting:
                self._edited.discard(session)

    async def _retire_version(self, unit_id: UnitId, newest_id: str, reinstated: Collection[UnitId]) -> None:
        if unit_id not in reinstated:
            reason = f"the message was edited: turn {newest_id!r} is its newest version"
            await self._ledger.write(RetiredEntry(unit_ids=(unit_id,), reason=reason))

    async def _take_back(self, page: Page, older: Older, reinstated: Collection[UnitId], since: int) -> None:
        """Take back the words of an older version that no unit rests on, where they can be a unit."""
        tier1, line = self._ledger.tier1, older.line
        if any(line.touches(span) for unit in tier1.units_of_page(page.id) for span in unit.spans):
            return
        if any(line.touches(one.span) for one in tier1.taken_back(page.id)):
            return
        try:
            unit = stated_unit(page, line.seq, self._options.trust)
        except InvalidInput:
            return
        if tier1.unit(unit.id) is None:
            await self._ledger.write_unless_erased(StatedEntry(unit=unit), since=since)
        await self._retire_version(unit.id, older.newest_id, reinstated)

    async def _reinstated_units(self) -> frozenset[UnitId]:
        """Return every unit that was ever reinstated."""
        entries = await self._ledger.logged_entries(frozenset({"reinstated"}))
        return frozenset(unit_id for entry in entries for unit_id in entry.body["unit_ids"])

    def _resting_on(self, older: Sequence[Older]) -> dict[UnitId, str]:
        """Active units all of whose spans are in these lines, with the id of the newest version."""
        tier1 = self._ledger.tier1
        found = {}
        for page_id in dict.fromkeys(one.page_id for one in older):
            for unit in tier1.units_of_page(page_id):
                newest = [one for span in unit.spans if (one := _newest_at(span, older)) is not None]
                if newest and len(newest) == len(unit.spans):
                    found[unit.id] = newest[0]
        return found

    def _unit(self, unit_id: UnitId) -> SummaryUnit:
        unit = self._ledger.tier1.unit(unit_id)
        if unit is None:
            raise self._unknown(unit_id)
        return unit

    def _unknown(self, unit_id: UnitId) -> UnknownId:
        return UnknownId(f"space {self._ledger.space!r} has no unit {unit_id!r}; list them with `units`")

    def readable_page(self, page: Page) -> Page:
        """The page as an engine may read it: without what was taken back, which no look brings back, and
        without what no search is to find.
        """
        page = without(page, self._ledger.tier1.taken_back(page.id))
        return without_unsearched(page, self._options.unsearched_roles)

    async def _distil_claimed(self, run: _DistilRun, claims: Claims, infos: Sequence[PageInfo]) -> _Batch:
        """Summarise pages in one call, without those that another process summarises or has summarised."""
        claimed = await claims.add(info.id for info in infos)
        pending = [info for info in infos if not self._ledger.tier1.is_distilled(info.id)]
        mine = [info for info in pending if info.id in claimed]
        since = self._ledger.erasures_by_others
        outcomes = await self._distil(run, mine) if mine else ()
        return _Batch(claimed=claimed, outcomes=outcomes, elsewhere=len(pending) - len(mine), since=since)

    async def _distil(self, run: _DistilRun, infos: Sequence[PageInfo]) -> tuple[_Outcome, ...]:
        """Summarise pages in one call. What cannot be done to them together is tried page by page."""
        try:
            run.check_patience()
            async with self.recording("distil"):
                pages = [self.readable_page(await self._ledger.page(info.id)) for info in infos]
                outcomes = await distil(pages, self._engine, self._options.trust)
        except TierMemError as error:
            if isinstance(error, PageStoreError) and not isinstance(error, Corrupt):
                raise
            down = isinstance(error, ModelUnavailable | ModelRefused)
            run.failed_in_a_row += down
            if len(infos) > 1 and not down:
                return await self._distil_each(run, infos)
            return tuple(UnfinishedWork(stage="distil", what=info.id, reason=repr(error)) for info in infos)
        except Exception as error:  # noqa: BLE001  # whatever a page does, the others go on; it is on record
            if len(infos) > 1:
                return await self._distil_each(run, infos)
            return (_set_aside(infos[0].id, error),)
        run.failed_in_a_row = 0
        return outcomes

    async def _distil_each(self, run: _DistilRun, infos: Sequence[PageInfo]) -> tuple[_Outcome, ...]:
        return tuple([one for info in infos for one in await self._distil(run, (info,))])

    async def _keep(self, run: _DistilRun, claims: Claims, batch: _Batch) -> None:
        for outcome in batch.outcomes:
            kept = outcome
            if isinstance(kept, DistilledEntry):
                kept = await self._record(kept, batch.since)
            if isinstance(kept, SetAside):
                await self.set_aside({kept.page_id: kept.reason or ""}, kept.step, since=batch.since)
            run.add(kept)
        run.elsewhere += batch.elsewhere
        await claims.remove(batch.claimed)

    async def _record(self, entry: DistilledEntry, since: int) -> _Outcome:
        """Write the entry without units that are known, and return what was written, or why nothing was.

        A finding may have stated the same while the page waited for its summary.
        """
        try:
            tier1 = self._ledger.tier1
            new = tuple(unit for unit in entry.units if find_duplicate(tier1, unit.text, unit.spans) is None)
            entry = replace(entry, units=new)
            await write_conclusion(self._ledger, entry, since=since, step="distil", usage=entry.usage)
        except ErasedMeanwhile as error:
            return UnfinishedWork(stage="distil", what=entry.page_id, reason=repr(error))
        except TierMemError:
            raise
        except Exception as error:  # noqa: BLE001  # as above
            return _set_aside(entry.page_id, error)
        return entry


_Outcome = DistilledEntry | UnfinishedWork | SetAside
"""What became of a page: its summary, or why it has none yet."""


def _set_aside(page_id: PageId, error: Exception) -> SetAside:
    return SetAside(page_id=page_id, step="distil", reason=unexpected(error, f"distilling page {page_id}"))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Batch:
    """What became of pages that were summarised in one call."""

    claimed: frozenset[str]
    outcomes: tuple[_Outcome, ...]
    elsewhere: int
    """How many other pages of the batch another process is summarising."""
    since: int
    """What `Ledger.erasures_by_others` was before the pages were read."""


class _DistilRun:
    """Counts one run over pending pages."""

    def __init__(self, total: int, progress: Progress | None) -> None:
        self._total = total
        self._progress = progress
        self._done: list[DistilledEntry] = []
        self._failed: list[UnfinishedWork] = []
        self._aside: list[SetAside] = []
        self.index: UnfinishedWork | None = None
        self.failed_in_a_row = 0
        self.elsewhere = 0

    def check_patience(self) -> None:
        """Raise `ModelUnavailable` when the model failed so often in a row that it is not asked any more."""
        if self.failed_in_a_row >= _PATIENCE:
            raise ModelUnavailable(f"not asked: {_PATIENCE} calls in a row had failed")

    def add(self, outcome: _Outcome) -> None:
        match outcome:
            case DistilledEntry():
                self._done.append(outcome)
            case UnfinishedWork():
                self._failed.append(outcome)
            case SetAside():
                self._aside.append(outcome)
        if self._progress is not None:
            self._progress(len(self._done) + len(self._failed) + len(self._aside), self._total)

    def report(self, not_indexed: Iterable[SetAside]) -> DistilReport:
        return DistilReport(
            distilled=len(self._done),
            units=sum(len(entry.units) for entry in self._done),
            rejected=sum(len(entry.rejected) for entry in self._done),
            worded=sum(entry.worded for entry in self._done),
            omissions=sum(len(entry.omissions) for entry in self._done),
            pending=len(self._failed) + len(self._aside),
            elsewhere=self.elsewhere,
            unfinished=(*self._failed, *([self.index] if self.index is not None else [])),
            aside=(*self._aside, *not_indexed),
        )


def _newest_at(span: Span, older: Iterable[Older]) -> str | None:
    """The id of the newest version where an older one is at a span."""
    at = (one for one in older if one.page_id == span.page_id and one.line.touches(span))
    return next((one.newest_id for one in at), None)


def _extracts_within(tier1: Tier1, unit: SummaryUnit) -> list[SummaryUnit]:
    """The other extracts all of whose words a unit rests on; they follow it when it is taken back."""
    pages = dict.fromkeys(span.page_id for span in unit.spans)
    others = {one.id: one for page_id in pages for one in tier1.units_of_page(page_id, inactive=True)}
    return [
        one
        for one in others.values()
        if one.is_extract
        and one.id != unit.id
        and all(any(span.contains(part) for span in unit.spans) for part in one.spans)
    ]


def _overlapping_units(tier1: Tier1, unit: SummaryUnit) -> tuple[SummaryUnit, ...]:
    """The units that hold and rest on some of the same words, each once."""
    return tuple(
        {
            other.id: other
            for span in unit.spans
            for other in tier1.units_of_page(span.page_id)
            if other.id != unit.id and any(span.overlaps(one) for one in other.spans)
        }.values()
    )
