"""Dating units again: one record a page, whatever ends it, and nothing of words that are erased meanwhile."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import anyio
import pytest

from pagestore import MemoryLog, Page, PageId, PageLog, SessionId, Turn
from pagestore.lines.memory import MemoryLines
from tests.ledger.building import wrote_back
from tests.pagestore.memoryfiles import MemoryFiles
from tests.writing.crashes import Crash, CrashingIndex, CrashingLog, World
from tests.writing.old_dates import old_rules
from tests.writing.parts import SPACE, DictIndex
from tiermem.errors import MemoryClosed
from tiermem.ledger import Ledger
from tiermem.reasoning import by_rules
from tiermem.writing import DateReport, Selection, Writer, redate, redate_units

pytestmark = pytest.mark.anyio

SAID = (
    "I have a dentist appointment on Tuesday.",
    "My exam in chemistry is on Saturday.",
    "I got the letter from the bank on Thursday.",
)
NEW = {
    "Ann: I have a dentist appointment on Tuesday (9 May 2023).",
    "Ann: My exam in chemistry is on Saturday (13 May 2023).",
    "Ann: I got the letter from the bank on Thursday.",
}


async def told(log: PageLog, index: DictIndex) -> tuple[Writer, Ledger]:
    """A space with three pages of a session each, whose units were made by rules of before."""
    ledger = await Ledger.open(log)
    writer = Writer(ledger, index, by_rules())
    with old_rules():
        for number, text in enumerate(SAID):
            said = Turn(
                speaker="Ann", text=text, said_at=datetime(2023, 5, 8, 13, tzinfo=UTC), turn_id=f"t{number}"
            )
            await writer.observe(SessionId(f"s{number}"), [said])
        await writer.seal()
        await writer.distil_pending()
    return writer, ledger


def texts(ledger: Ledger) -> set[str]:
    return {unit.text for unit in ledger.tier1.units()}


def revisions(ledger: Ledger) -> list[str]:
    """The ids of the units in the records, one for each revision."""
    records = ledger._log.records(kinds=frozenset({"redated"}))
    return [unit["id"] for record in records for unit in record.body["units"]]


@pytest.mark.parametrize("steps", range(len(SAID)))
async def test_whenever_the_memory_closes_the_next_run_goes_on(steps: int) -> None:
    writer, ledger = await told(MemoryLog(SPACE), DictIndex())
    taken = 0

    @asynccontextmanager
    async def moment() -> AsyncIterator[None]:
        nonlocal taken
        taken += 1
        if taken > steps:
            raise MemoryClosed("the memory was closed")
        yield

    with pytest.raises(MemoryClosed):
        await redate_units(writer, ledger, moment=moment)
    assert len(revisions(ledger)) == steps
    assert len((await redate_units(writer, ledger, moment=nullcontext)).redated) == len(SAID) - steps
    assert texts(ledger) == NEW
    assert len(revisions(ledger)) == len(set(revisions(ledger))) == len(SAID)


def test_a_crash_at_any_step_leaves_each_unit_dated_once_and_the_index_with_it() -> None:
    ends_at, crashed = 0, True
    while crashed:
        ends_at += 1
        crashed = anyio.run(_life, ends_at)
    assert ends_at > 2 * len(SAID)


async def _life(ends_at: int) -> bool:
    """A process that ends at a step while it dates units again, and one that does so after it."""
    world, disk = World(random.Random(ends_at)), MemoryFiles()
    index = CrashingIndex(world)
    writer, ledger = await told(CrashingLog(world, disk), index)
    world.ends_at, crashed = world.steps + ends_at, False
    try:
        await redate_units(writer, ledger, moment=nullcontext)
        await writer.project()
    except Crash:
        crashed = True
        index.lose()
    world.dead, world.ends_at = False, None
    ledger = await Ledger.open(CrashingLog(world, disk))
    writer = Writer(ledger, index, by_rules())
    await redate_units(writer, ledger, moment=nullcontext)
    await writer.project()
    assert texts(ledger) == NEW
    assert len(revisions(ledger)) == len(set(revisions(ledger))) == len(SAID)
    assert {entry.text for entry in index.of("units").values() if entry.active} == NEW
    return crashed


@pytest.fixture
def lines() -> MemoryLines:
    return MemoryLines()


async def redate_while(
    lines: MemoryLines,
    monkeypatch: pytest.MonkeyPatch,
    meanwhile: Callable[[Writer, Ledger], Awaitable[None]],
) -> tuple[DateReport, Ledger]:
    """Date units again while another process, with writer and ledger, does something after the first read."""
    writer, ledger = await told(MemoryLog(SPACE, lines=lines), DictIndex())
    other = await Ledger.open(MemoryLog(SPACE, lines=lines.share()))
    read_pages, is_done = redate._read_pages, False

    async def read_and_wait(*given: Any) -> Mapping[PageId, Page]:
        nonlocal is_done
        pages = await read_pages(*given)
        if not is_done:
            is_done = True
            await meanwhile(Writer(other, DictIndex(), by_rules()), other)
        return pages

    monkeypatch.setattr(redate, "_read_pages", read_and_wait)
    return await redate_units(writer, ledger, moment=nullcontext), ledger


async def test_nothing_is_recorded_of_words_that_another_process_erases_meanwhile(
    lines: MemoryLines, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def erase(writer: Writer, _: Ledger) -> None:
        await writer.erase(Selection(turn="t0", session=SessionId("s0")), "asked to")

    report, ledger = await redate_while(lines, monkeypatch, erase)
    assert len(report.redated) == 2
    assert texts(ledger) == {text for text in NEW if "dentist" not in text}
    assert b"dentist" not in b"".join(lines.read(0, 1000))


async def test_a_unit_that_another_process_changes_meanwhile_is_dated_by_the_next_run(
    lines: MemoryLines, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def update(_: Writer, ledger: Ledger) -> None:
        unit = next(unit for unit in ledger.tier1.units() if "dentist" in unit.text)
        await ledger.write(wrote_back("f1", "UPDATE", replace(unit, importance=1.0, revision=2)))

    report, ledger = await redate_while(lines, monkeypatch, update)
    assert len(report.redated) == 2
    monkeypatch.undo()
    (late,) = (
        await redate_units(Writer(ledger, DictIndex(), by_rules()), ledger, moment=nullcontext)
    ).redated
    assert (late.after.revision, late.after.importance) == (3, 1.0)
    assert texts(ledger) == NEW
