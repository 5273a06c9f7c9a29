"""Two writers of one space, as in two processes: work that one has begun the other one leaves to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import anyio

from pagestore import Page, PageLog
from tests.writing.parts import GARDEN, MOMENT, S1, DictIndex, Rules, claims_of, finding_on
from tiermem.errors import MalformedReply
from tiermem.ledger import Ledger
from tiermem.model import Claim
from tiermem.writing import ELSEWHERE, Consolidator, Writer, WriterOptions


@dataclass
class SlowRules(Rules):
    """Rules that wait until they may go on; `begun` is set when they are asked."""

    begun: anyio.Event = field(default_factory=anyio.Event)
    may_go_on: anyio.Event = field(default_factory=anyio.Event)

    async def distil(self, pages: Sequence[Page], *, hints: Sequence[str] = ()) -> tuple[Claim, ...]:
        self.begun.set()
        await self.may_go_on.wait()
        return await super().distil(pages, hints=hints)


@dataclass
class TwoWriters:
    """Two writers of one space, each with a log, an index and a model of its own."""

    ledgers: tuple[Ledger, Ledger]
    rules: tuple[SlowRules, Rules]
    writers: tuple[Writer, Writer]

    @classmethod
    async def of(cls, logs: tuple[PageLog, PageLog]) -> TwoWriters:
        one, other = [await Ledger.open(log) for log in logs]
        rules = SlowRules(), Rules()
        options = WriterOptions(page_tokens=1, concurrency=1)
        writers = [
            Writer(ledger, DictIndex(), rule.engine, options)
            for ledger, rule in zip((one, other), rules, strict=True)
        ]
        return cls(ledgers=(one, other), rules=rules, writers=(writers[0], writers[1]))


async def check_pages_are_summarised_once(two: TwoWriters) -> None:
    """While one writer summarises a page, the other one summarises the other pages alone."""
    (slow, rules), (one, other) = two.rules, two.writers
    await one.observe(S1, GARDEN[:2])
    await one.seal()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(one.distil_pending)
        await slow.begun.wait()
        await other.observe(S1, GARDEN[2:])
        await other.seal()
        report = await other.distil_pending()
        assert (report.distilled, report.elsewhere, report.pending) == (1, 1, 0)
        slow.may_go_on.set()
    assert (slow.calls["distil"], rules.calls["distil"]) == (1, 1)
    assert (await other.distil_pending()).elsewhere == 0
    assert sorted(unit.text for unit in two.ledgers[1].tier1.units()) == sorted(turn.text for turn in GARDEN)
    assert (slow.calls["distil"], rules.calls["distil"]) == (1, 1)


async def check_what_was_done_meanwhile_is_not_done_again(two: TwoWriters) -> None:
    """A writer that had a page in its list does not summarise it when another one has done so since."""
    (slow, rules), (one, other) = two.rules, two.writers
    slow.may_go_on.set()
    for said in GARDEN:
        await one.observe(S1, [said])
        await one.seal()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(one.distil_pending)
        tasks.start_soon(other.distil_pending)
    assert slow.calls["distil"] + rules.calls["distil"] == len(GARDEN)
    assert {info.id for info in await one.pending_pages()} == set()


async def check_what_waits_is_looked_at_again(two: TwoWriters) -> None:
    """A page that waits in the list of one writer, and that another one has summarised, is left out."""
    (slow, rules), (one, other) = two.rules, two.writers
    slow.distils = _fail
    for said in GARDEN:
        await one.observe(S1, [said])
        await one.seal()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(one.distil_pending)
        await slow.begun.wait()
        report = await other.distil_pending()
        assert (report.distilled, report.elsewhere) == (len(GARDEN) - 1, 1)
        slow.may_go_on.set()
    assert (slow.calls["distil"], rules.calls["distil"]) == (1, len(GARDEN) - 1)


def _fail(page: Page) -> Sequence[Claim]:
    raise MalformedReply("no JSON")


async def check_a_claim_ends_with_a_failure(two: TwoWriters) -> None:
    """A page that one writer could not summarise is free for the other one, also after it was cancelled."""
    (slow, rules), (one, other) = two.rules, two.writers
    await one.observe(S1, GARDEN)
    await one.seal()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(one.distil_pending)
        await slow.begun.wait()
        tasks.cancel_scope.cancel()
    assert (await other.distil_pending()).distilled == 1
    assert (slow.calls["distil"], rules.calls["distil"]) == (0, 1)


async def check_findings_are_decided_on_once(two: TwoWriters) -> None:
    """Two writers that are given the same findings decide on each once."""
    (slow, rules), (one, other) = two.rules, two.writers
    slow.may_go_on.set()
    slow.distils = lambda page: claims_of(page)[:1]
    await one.observe(S1, GARDEN)
    await one.seal()
    await one.distil_pending()
    await other.pending_pages()
    findings = [
        await finding_on(two.ledgers[0], said.text, answer_id=f"a{number}")
        for number, said in enumerate(GARDEN[1:])
    ]
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(one.write_back, findings)
        tasks.start_soon(other.write_back, findings)
    assert slow.calls["select"] + rules.calls["select"] == len(findings)
    await other.pending_pages()
    assert len(two.ledgers[1].tier1.decisions) == len(findings)


async def check_one_consolidates(two: TwoWriters) -> None:
    """While one writer consolidates the space, the other one does not begin."""
    (one, other), writer = two.ledgers, two.writers[1]
    consolidator = Consolidator(writer, other, DictIndex(), WriterOptions())
    async with one.claiming("consolidate") as claims:
        assert await claims.add(["the space"])
        assert (await consolidator.run(MOMENT)).left == (ELSEWHERE,)
    assert (await consolidator.run(MOMENT)).left == ()


CHECKS = (
    check_pages_are_summarised_once,
    check_what_was_done_meanwhile_is_not_done_again,
    check_what_waits_is_looked_at_again,
    check_a_claim_ends_with_a_failure,
    check_findings_are_decided_on_once,
    check_one_consolidates,
)
