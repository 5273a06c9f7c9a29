"""Verified write-back: findings that code confirmed go into Tier 1, each with a recorded decision.

For each finding: check it again on its pages, have it verified, find its nearest units by the fact,
decide, write the decision to the ledger, then the index. A finding that cannot be decided now (a
model or the index is down, its page is still open) stays pending.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import groupby

import anyio

from pagestore import Page, PageLine, Span
from pagestore.errors import Corrupt, PageNotFound, PageStoreError
from tiermem.errors import TierMemError, unexpected
from tiermem.index.interface import Index
from tiermem.index.values import turn_id
from tiermem.ledger import Ledger, Spent, WroteBack, finding_unit_id, owner_of
from tiermem.llm.meter import Meter, current, paid_by, step
from tiermem.model import (
    Claim,
    Finding,
    LinkedFact,
    Rejected,
    SummaryUnit,
    UnitId,
    WriteBack,
    WriteBackVariant,
    merge_owners,
)
from tiermem.proof import in_words_of, link, proof_rank
from tiermem.reasoning.interface import Engine
from tiermem.text.taken_back import without
from tiermem.writing.concluding import write_conclusion
from tiermem.writing.duplicates import find_duplicate
from tiermem.writing.edit import Neighbour, ProvedFact, grounds_of, neighbour_of, settle, skip
from tiermem.writing.projection import Projection
from tiermem.writing.values import UnfinishedWork, WriteBackReport, WriterOptions


@dataclass
class _Run:
    """What has become of the findings of one run so far; `meter` holds what no decision accounts for yet."""

    meter: Meter
    decisions: list[WriteBack] = field(default_factory=list)
    unfinished: list[UnfinishedWork] = field(default_factory=list)
    waiting: int = 0
    since: int = 0
    """What `Ledger.erasures_by_others` was before the pages of the present group were read."""

    def leave(self, finding: Finding, error: Exception) -> None:
        expected = isinstance(error, TierMemError)
        reason = repr(error) if expected else unexpected(error, f"writing back finding {finding.id}")
        self.unfinished.append(UnfinishedWork(stage="write-back", what=finding.id, reason=reason))

    @contextmanager
    def leaving(self, finding: Finding) -> Iterator[None]:
        """Leave the finding for later, and say why, when what is inside fails: the others go on."""
        try:
            yield
        except Exception as error:  # reported as unfinished, and logged as an error
            if isinstance(error, PageStoreError) and not isinstance(error, Corrupt | PageNotFound):
                raise
            self.leave(finding, error)


@dataclass(frozen=True, slots=True)
class _ProvedFinding:
    """A finding, its proof, and the pages that hold it."""

    finding: Finding
    proved: ProvedFact
    pages: tuple[Page, ...]


class WriteBacks:
    """Decides on findings one after another, so that each sees what the one before it wrote."""

    def __init__(
        self, ledger: Ledger, index: Index, engine: Engine, projection: Projection, options: WriterOptions
    ) -> None:
        self._ledger = ledger
        self._index = index
        self._engine = engine
        self._projection = projection
        self._options = options
        self.one_at_a_time = anyio.Lock()
        """Held while findings are decided on."""

    async def apply(self, findings: Iterable[Finding], variant: WriteBackVariant) -> WriteBackReport:
        """Decide on each finding that has no decision yet; giving the same ones again decides nothing.

        Findings of an answer on which another process decides are left to that one.
        """
        async with self.one_at_a_time, self._ledger.claiming("write-back") as claims:
            with paid_by(Meter(outer=current())) as meter:
                run = _Run(meter)
                for answer_id, group in groupby(findings, key=lambda finding: finding.answer_id):
                    if await claims.add([answer_id]):
                        await self._apply_group(run, tuple(group), variant)
                        await claims.remove([answer_id])
            unrecorded = meter.take()
            if unrecorded.calls:
                await self._ledger.write(Spent(step="write-back", usage=unrecorded))
            behind = await self._projection.attempt()
            run.unfinished += [behind] if behind is not None else []
        return WriteBackReport(
            decisions=tuple(run.decisions), waiting=run.waiting, unfinished=tuple(run.unfinished)
        )

    async def _apply_group(self, run: _Run, findings: Sequence[Finding], variant: WriteBackVariant) -> None:
        """The findings of one answer are verified in one call."""
        run.since = self._ledger.erasures_by_others
        candidates: list[_ProvedFinding] = []
        for finding in findings:
            with run.leaving(finding):
                candidates += await self._candidate(run, finding)
        for candidate, selected in await self._judge_worth(run, candidates):
            with run.leaving(candidate.finding):
                if selected:
                    await self._write(run, await self._decide(candidate, variant))
                else:
                    reason = "not worth keeping beyond this question"
                    await self._write(run, skip(candidate.finding.id, reason))

    async def _judge_worth(
        self, run: _Run, candidates: Sequence[_ProvedFinding]
    ) -> list[tuple[_ProvedFinding, bool]]:
        """Each with whether it is worth keeping, one by one where that raises something unexpected of all."""
        if not candidates:
            return []
        if len(candidates) == 1:
            judged: list[tuple[_ProvedFinding, bool]] = []
            with run.leaving(candidates[0].finding):
                judged += [(candidates[0], bool(await self._select(candidates)))]
            return judged
        try:
            selected = await self._select(candidates)
        except PageStoreError:
            raise
        except TierMemError as error:
            for candidate in candidates:
                run.leave(candidate.finding, error)
            return []
        except Exception:  # noqa: BLE001  # reported for the finding that raises it again
            return [one for candidate in candidates for one in await self._judge_worth(run, [candidate])]
        return [(candidate, number in selected) for number, candidate in enumerate(candidates)]

    async def _candidate(self, run: _Run, finding: Finding) -> tuple[_ProvedFinding, ...]:
        """The finding with its proof; without one it is skipped, or left for later."""
        if finding.id in self._ledger.tier1.decisions:
            return ()
        if not finding.fact.is_supported:
            await self._write(run, skip(finding.id, f"not confirmed: {reason_unconfirmed(finding.fact)}"))
            return ()
        try:
            pages = await self._pages(finding.fact.spans)
        except PageNotFound as error:
            await self._write(run, skip(finding.id, f"its page is not in this space: {error}"))
            return ()
        except Corrupt as error:
            run.leave(finding, error)
            return ()
        if any(page.sealed_at is None for page in pages):
            # Recall finds the turns of open pages: nothing is missed while the finding waits.
            run.waiting += 1
            return ()
        fact = _proof(finding.fact, pages)
        if isinstance(fact, Rejected):
            taken = any(self._ledger.tier1.taken_back(page.id) for page in pages)
            besides = "; some words of its pages were taken back" if taken else ""
            await self._write(run, skip(finding.id, f"not confirmed: {fact.reason}{besides}"))
            return ()
        trust = self._options.trust
        rank = proof_rank(claim_of(fact), fact.spans, pages, trust.rank_of)
        grounds = grounds_of(fact.spans, pages, trust, at_most=rank)
        floor = self._options.write_back_trust
        if floor is not None and rank < trust.rank(floor):
            reason = f"its source is trusted as {grounds.level!r}, and {floor!r} is asked for"
            await self._write(run, skip(finding.id, reason))
            return ()
        agents = await self._owners(finding, fact, pages)
        proved = ProvedFact(
            finding_id=finding.id, fact=fact, session=pages[0].session, grounds=grounds, agents=agents
        )
        return (_ProvedFinding(finding, proved, pages),)

    async def _owners(self, finding: Finding, fact: LinkedFact, pages: Sequence[Page]) -> tuple[str, ...]:
        """To whom a finding belongs: those whose pages it rests on.

        A word of it that is on none of these may be of anything that the step which worded it was shown.
        """
        own = merge_owners(page.agent for page in pages)
        values = [one.value for one in fact.derivations]
        if in_words_of(fact.claim, pages, computed=values):
            return own
        trace = (await self._ledger.answer(finding.answer_id)).trace
        units = (self._ledger.tier1.unit(item.unit_id) for item in trace.candidates if item.unit_id)
        of_units = (unit.agents for unit in units if unit is not None)
        spans = dict.fromkeys(span.page_id for item in trace.candidates for span in item.spans)
        of_rounds = dict.fromkeys(page_id for one in trace.rounds for page_id in one.pages)
        read = await self._ledger.read(tuple({**spans, **of_rounds}))
        of_pages = (page.agent for page in read if isinstance(page, Page))
        return merge_owners(own, (trace.agent,), of_pages, *of_units)

    async def _select(self, candidates: Sequence[_ProvedFinding]) -> frozenset[int]:
        pages = {page.id: page for candidate in candidates for page in candidate.pages}
        facts = [candidate.proved.fact for candidate in candidates]
        select = self._engine.select
        assert select is not None  # noqa: S101  (see `Writer.decides_on_findings`)
        with step("select"):
            return frozenset(await select(candidates[0].finding.question, facts, tuple(pages.values())))

    async def _decide(self, candidate: _ProvedFinding, variant: WriteBackVariant) -> WroteBack:
        proved = candidate.proved
        same = find_duplicate(self._ledger.tier1, proved.fact.claim, proved.fact.spans)
        if same is not None:
            already = skip(proved.finding_id, f"unit {same.id} says the same of the same words")
            return replace(already, shown=(same.id,))
        shown = [] if variant == "no-recall" else await self._neighbours(proved.fact, proved.agents)
        reconcile = self._engine.reconcile
        assert reconcile is not None  # noqa: S101  (as above)
        with step("reconcile"):
            operation = await reconcile(proved.fact, [shown_unit.unit for shown_unit in shown])
        neighbours = {neighbour.unit.id: neighbour for neighbour in shown}
        settled = settle(
            operation,
            proved,
            neighbours,
            unit_id=finding_unit_id(self._ledger.space, proved.finding_id),
            made_by=self._engine.name,
        )
        return replace(settled, shown=tuple(neighbours))

    async def _neighbours(self, fact: LinkedFact, agents: tuple[str, ...]) -> list[Neighbour]:
        """The nearest active units, by the fact and not by the question, with what their spans hold.

        None of whom the fact is not, and none that an agent shared: who reads it would read the fact in it.
        """
        await self._projection.show()
        owners = (owner_of(agents),) if agents else ()
        hits = await self._index.search(
            self._ledger.indexed_as, "units", fact.claim, limit=self._options.neighbours, owners=owners
        )
        tier1 = self._ledger.tier1
        found = [tier1.unit(UnitId(hit.id)) for hit in hits]
        if tier1.cold:
            found += await self._cold_neighbours(fact, owners)
        theirs = (unit for unit in found if unit is not None and unit.agents == agents)
        units = [unit for unit in theirs if unit.id not in tier1.shared]
        return [
            neighbour_of(unit, await self._pages(unit.spans), self._options.trust)
            for unit in units
            if tier1.is_active(unit.id)
        ]

    async def _cold_neighbours(self, fact: LinkedFact, owners: Sequence[str]) -> list[SummaryUnit]:
        """Cold units that rest on the turns nearest the fact, as many as of others."""
        space, tier1 = self._ledger.indexed_as, self._ledger.tier1
        turns = await self._index.search(
            space, "turns", fact.claim, limit=self._options.neighbours, owners=owners
        )
        located = await self._ledger.locate_turns([int(hit.id) for hit in turns])
        places = [
            (hit.id, page_id) for hit, page_id in zip(turns, located, strict=True) if page_id is not None
        ]
        read = await self._ledger.read([page_id for _, page_id in places])
        found: dict[UnitId, SummaryUnit] = {}
        for (id_, _), page in zip(places, read, strict=True):
            if isinstance(page, Page):
                line = next(line for line in page.lines if turn_id(line.seq) == id_)
                cold = (unit for unit in tier1.units_of_page(page.id) if tier1.is_cold(unit.id))
                found |= {unit.id: unit for unit in cold if _rests_on(unit, page, line)}
        return list(found.values())[: self._options.neighbours]

    async def _pages(self, spans: Sequence[Span]) -> tuple[Page, ...]:
        """The pages of spans, without the words that were taken back: a finding does not bring them back."""
        read = [await self._ledger.page(page_id) for page_id in dict.fromkeys(s.page_id for s in spans)]
        tier1 = self._ledger.tier1
        pages = (without(page, tier1.taken_back(page.id)) for page in read)
        return tuple({page.id: page for page in pages}.values())

    async def _write(self, run: _Run, entry: WroteBack) -> None:
        usage = run.meter.take()
        await write_conclusion(
            self._ledger, replace(entry, usage=usage), since=run.since, step="write-back", usage=usage
        )
        run.decisions.append(entry.write_back)


def _rests_on(unit: SummaryUnit, page: Page, line: PageLine) -> bool:
    return any(s.page_id == page.id and line.touches(s) for s in unit.spans)


def reason_unconfirmed(fact: LinkedFact) -> str:
    """Say why code does not confirm what the fact claims."""
    return fact.reason or "no rule could confirm the wording from the words it cites"


def claim_of(fact: LinkedFact) -> Claim:
    """Return what a fact asserts, to be checked again."""
    return Claim(
        text=fact.claim,
        quotes=fact.quotes,
        scene=fact.scene,
        event_at=fact.event_at,
        importance=fact.importance,
    )


def _proof(fact: LinkedFact, pages: Sequence[Page]) -> LinkedFact | Rejected:
    """The fact linked again to its own pages: a caller's word on spans and support is not taken."""
    linked = link(claim_of(fact), pages)
    if isinstance(linked, LinkedFact) and not linked.is_supported:
        return Rejected(claim=fact.claim, quotes=fact.quotes, reason=reason_unconfirmed(linked))
    return linked
