"""Crash between any two steps of append, seal, distil, index and write-back; reopen; drain; look for damage.

What survives a crash is the log and, of the index, what was flushed and any part of what was not.
Everything that costs a model call gives something else each time, so work done twice shows. Run more
trials than the suite does with `python -m tests.writing.crashes 10000`.
"""

import random
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from itertools import combinations
from typing import Any

import anyio

from pagestore import Appended, DiskLog, History, LogOptions, Page, PageId, Record, SessionId, SpaceId, Turn
from tests.ledger.building import answer
from tests.pagestore.memoryfiles import MemoryFiles
from tests.writing.parts import S1, SPACE, DictIndex, Rules, claims_of, finding_on, name_of, pages_in, turn
from tiermem.errors import ModelUnavailable
from tiermem.index.values import Collection, Entry
from tiermem.ledger import DistilledEntry, Ledger, SetAside
from tiermem.model import Claim, LinkedFact, SummaryUnit, UnitId, Usage
from tiermem.reasoning.interface import Engine, Operation
from tiermem.salience.propose import difference
from tiermem.text import normalise
from tiermem.writing import Consolidator, UnfinishedWork, Writer, WriterOptions
from tiermem.writing.projection import Projection

COLLECTIONS: tuple[Collection, ...] = ("units", "turns")


class Crash(BaseException):
    """The process is gone. Not an `Exception`: nothing in the library may catch it."""


@dataclass
class World:
    """What goes on around the process: how many steps it took, and at which one it ends."""

    chance: random.Random
    ends_at: int | None = None
    steps: int = 0
    dead: bool = False
    healthy: bool = False

    def step(self) -> None:
        if self.dead:
            raise Crash
        self.steps += 1
        if self.steps == self.ends_at:
            self.dead = True
            raise Crash


class CrashingLog(DiskLog):
    """A log whose process may end before a write, or after it and before it is acknowledged."""

    def __init__(self, world: World, files: MemoryFiles) -> None:
        super().__init__("disk", SPACE, options=LogOptions(page_tokens=90), files=files)
        self.world = world

    def append(self, session: SessionId, turns: Sequence[Turn]) -> Appended:
        self.world.step()
        appended = super().append(session, turns)
        self.world.step()
        return appended

    def seal(self, session: SessionId | None = None) -> tuple[PageId, ...]:
        self.world.step()
        sealed = super().seal(session)
        self.world.step()
        return sealed

    def record(self, kind: str, body: Mapping[str, Any]) -> Record:
        self.world.step()
        record = super().record(kind, body)
        self.world.step()
        return record


class CrashingIndex(DictIndex):
    """An index that a crash leaves with what was flushed and any part of the rest, mark included."""

    def __init__(self, world: World) -> None:
        super().__init__()
        self.world = world
        self._flushed: dict[tuple[SpaceId, Collection], dict[str, Entry]] = {}
        self._flushed_marks: dict[SpaceId, History] = {}

    async def put(self, space: SpaceId, collection: Collection, entries: Sequence[Entry]) -> None:
        for entry in entries:
            self.world.step()
            await super().put(space, collection, [entry])
        self.world.step()

    async def set_mark(self, space: SpaceId, mark: History) -> None:
        self.world.step()
        await super().set_mark(space, mark)
        self.world.step()

    async def remove(self, space: SpaceId, collection: Collection, ids: Sequence[str]) -> None:
        for entry_id in ids:
            self.world.step()
            await super().remove(space, collection, [entry_id])
        self.world.step()

    async def drop(self, space: SpaceId) -> None:
        for collection in COLLECTIONS:
            await self.remove(space, collection, list(self.of(collection, space)))
        self.world.step()
        self.marks.pop(name_of(space), None)

    async def flush(self) -> None:
        self.world.step()
        self._flushed = {key: dict(entries) for key, entries in self.entries.items()}
        self._flushed_marks = dict(self.marks)
        self.world.step()

    def lose(self) -> None:
        """What a power cut leaves."""
        for key, entries in self.entries.items():
            flushed = self._flushed.get(key, {})
            for entry_id in sorted({*entries, *flushed}):
                if self.world.chance.random() < 0.5:
                    continue
                entries.pop(entry_id, None)
                if entry_id in flushed:
                    entries[entry_id] = flushed[entry_id]
        if self.world.chance.random() < 0.25:
            self.marks = dict(self._flushed_marks)


class Fickle(Rules):
    """Rules that say something else each time, and sometimes nothing."""

    def __init__(self, world: World) -> None:
        super().__init__()
        self.world = world

    def _fail(self) -> None:
        self.world.step()
        if not self.world.healthy and self.world.chance.random() < 0.15:
            raise ModelUnavailable("try again later")

    async def distil(self, pages: Sequence[Page], *, hints: Sequence[str] = ()) -> tuple[Claim, ...]:
        self._fail()
        return tuple(claim for page in pages for claim in self._some(claims_of(page)))

    def _some(self, claims: Sequence[Claim]) -> Sequence[Claim]:
        return self.world.chance.sample(claims, self.world.chance.randint(1, len(claims)))

    async def select(
        self, question: str, facts: Sequence[LinkedFact], pages: Sequence[Page]
    ) -> tuple[int, ...]:
        self._fail()
        return tuple(number for number in range(len(facts)) if self.world.chance.random() < 0.8)

    async def reconcile(self, fact: LinkedFact, neighbours: Sequence[SummaryUnit]) -> Operation:
        self._fail()
        first = neighbours[0] if neighbours else None
        match self.world.chance.randrange(4):
            case 0:
                return Operation(op="SKIP", reason="known")
            case 1 if first is not None:
                merged = f"{first.text} {fact.claim}"
                return Operation(op="UPDATE", reason="more", target=first.id, text=merged)
            case 2 if first is not None:
                return Operation(op="ADD", reason="newer", supersedes=(first.id,))
        return Operation(op="ADD", reason="new")


PLACES = ("harbour", "mill", "orchard", "chapel", "tower", "bridge", "cellar", "barn", "meadow", "quarry")
SAID = [
    turn(f"Ann carried {3 * n + 7} stones to the {place}. Ann painted the {place} door in shade {n + 100}.")
    for n, place in enumerate(PLACES)
]
TWICE = ("loves the old", "really loves the old", "loves the very old", "also loves the old")
"""One thing told in words of each page's own, so that no claim of one page is proved by another."""
SAID += [turn(f"Ann counted {40 + n} swans. Ann {words} mill.") for n, words in enumerate(TWICE)]
SCRIPT: tuple[tuple[str, int], ...] = (
    *(("turn", n) for n in range(5)), ("distil", 0), ("answer", 1), ("turn", 5), ("apply", 0),
    ("turn", 6), ("answer", 6), ("distil", 0), ("apply", 0), ("seal", 0), ("turn", 7), ("distil", 0),
    ("answer", 3), ("answer", 7), ("apply", 0), ("turn", 8), ("turn", 9), ("answer", 9),
    ("distil", 0), ("apply", 0),
)  # fmt: skip
TALKING: tuple[tuple[str, int], ...] = (
    ("turn", 0), ("project", 0), ("turn", 1), ("project", 0), ("seal", 0), ("project", 0),
    ("turn", 2), ("project", 0), ("seal", 0), ("turn", 3), ("project", 0), ("reindex", 0), ("turn", 4),
    ("project", 0),
)  # fmt: skip
REINDEXING: tuple[tuple[str, int], ...] = (
    ("turn", 0), ("turn", 1), ("seal", 0), ("distil", 0), ("answer", 1), ("apply", 0), ("reindex", 0),
)  # fmt: skip

CONSOLIDATING: tuple[tuple[str, int], ...] = (
    ("turn", 10), ("seal", 0), ("turn", 11), ("answer", 10), ("seal", 0), ("consolidate", 0), ("turn", 12),
    ("answer", 12), ("seal", 0), ("consolidate", 0), ("turn", 13), ("seal", 0), ("consolidate", 0),
)  # fmt: skip

NewWriter = Callable[[Ledger, DictIndex, Engine], Writer]


async def perform(writer: Writer, ledger: Ledger, step: tuple[str, int]) -> None:
    match step:
        case "turn", n:
            await writer.observe(S1, [SAID[n]])
        case "seal", _:
            await writer.seal()
        case "distil", _:
            await writer.distil_pending()
        case "apply", _:
            await writer.apply_pending()
        case "project", _:
            await writer.projection.project()
        case "consolidate", _:
            await consolidator(writer, ledger).run(datetime.now(UTC))
        case "reindex", _:
            await writer.projection.rebuild()
        case "answer", n:
            first, second = SAID[n].text.split(". ")
            found = [await finding_on(ledger, text, answer_id=f"a{n}") for text in (f"{first}.", second)]
            await writer.record_answer(answer(f"a{n}"), found)


def consolidator(writer: Writer, ledger: Ledger) -> Consolidator:
    return Consolidator(writer, ledger, writer.projection._index, WriterOptions())


@dataclass
class Trial:
    """One life of a memory: processes that end, and one that in the end is left alone."""

    new_writer: NewWriter
    world: World
    script: tuple[tuple[str, int], ...]
    done: int = 0
    crashes: int = 0
    lost: int = 0
    disk: MemoryFiles = field(default_factory=MemoryFiles)
    index: CrashingIndex = field(init=False)

    def __post_init__(self) -> None:
        self.index = CrashingIndex(self.world)

    def run(self) -> Counter[str]:
        while self.done < len(self.script):
            try:
                anyio.run(self._process)
            except (Crash, BaseExceptionGroup) as error:
                if isinstance(error, BaseExceptionGroup) and error.split(Crash)[1] is not None:
                    raise
                self._restart()
        self.world.healthy, self.world.ends_at = True, None
        return anyio.run(self._settle)

    def _restart(self) -> None:
        self.crashes += 1
        self.index.lose()
        again = self.world.chance.random() < 0.5
        self.world.dead = False
        self.world.ends_at = self.world.steps + self.world.chance.randint(1, 80) if again else None

    async def _open(self) -> tuple[Writer, Ledger]:
        ledger = await Ledger.open(CrashingLog(self.world, self.disk))
        self.lost += await unresolved(ledger, self.index)
        writer = self.new_writer(ledger, self.index, Fickle(self.world).engine)
        await writer.distil_pending()
        self.lost += await unresolved(ledger, self.index)
        await writer.apply_pending()
        return writer, ledger

    async def _process(self) -> None:
        """Pick up after the last acknowledged step, as a client would; nobody asks twice for a reindex."""
        writer, ledger = await self._open()
        while self.done < len(self.script):
            step = self.script[self.done]
            self.done += step[0] == "reindex"
            await perform(writer, ledger, step)
            self.done += step[0] != "reindex"

    async def _settle(self) -> Counter[str]:
        writer, ledger = await self._open()
        found = Counter({"turn not as it would be put now": await misplaced(ledger, self.index)})
        await writer.seal()
        await writer.distil_pending()
        await writer.apply_pending()
        if ("consolidate", 0) in self.script:
            for _ in range(3):
                await consolidator(writer, ledger).run(datetime.now(UTC))
            held = combinations(ledger.tier1.units(), 2)
            found["told twice after all"] += sum(difference(one, other) == "" for one, other in held)
        found += await damage(ledger, self.index, self.script)
        found["turn that resolves to nothing"] += self.lost
        reopened = await Ledger.open(CrashingLog(self.world, self.disk))
        found["a reopened ledger differs"] += reopened.tier1.units() != ledger.tier1.units()
        return +found


async def damage(ledger: Ledger, index: DictIndex, script: Sequence[tuple[str, int]]) -> Counter[str]:
    """Everything that is not as it must be once all work is done."""
    tier1, found = ledger.tier1, Counter[str]()
    pages = [await ledger.page(info.id) for info in await ledger.pages()]
    said = Counter(line.turn.text for page in pages for line in page.lines if line.turn is not None)
    found["turn lost or doubled"] += sum(said[SAID[n].text] != 1 for kind, n in script if kind == "turn")
    found["page without summary"] += sum(
        not tier1.is_distilled(page.id) or not tier1.units_of_page(page.id, inactive=True) for page in pages
    )
    found["finding without decision"] += len(tier1.pending)
    records = list(ledger._log.records())
    distilled = Counter(r.body["page_id"] for r in records if r.kind == "distilled")
    decided = Counter(r.body["write_back"]["finding_id"] for r in records if r.kind == "wrote-back")
    merged = Counter(r.body["unit"]["id"] for r in records if r.kind == "consolidated")
    each = (*distilled.values(), *decided.values(), *merged.values())
    found["step recorded twice"] += sum(count > 1 for count in each)
    units = [unit for page in pages for unit in tier1.units_of_page(page.id, inactive=True)]
    known = {unit.id: unit for unit in units}
    same = Counter((unit.text, unit.spans) for unit in known.values())
    found["unit twice"] += sum(count > 1 for count in same.values())
    by_id = {page.id: page for page in pages}
    found["unit without its words"] += sum(
        _plain(by_id[span.page_id].words(span)) not in _plain(unit.text)
        for unit in known.values()
        for span in unit.spans
    )
    indexed = index.of("units")
    found["hole in the index"] += len(known.keys() - indexed.keys())
    found["orphan in the index"] += len(indexed.keys() - known.keys())
    found["stale entry in the index"] += sum(
        (entry.text, entry.active) != (known[UnitId(unit_id)].text, tier1.is_active(UnitId(unit_id)))
        for unit_id, entry in indexed.items()
        if unit_id in known
    )
    found["page not findable"] += len(by_id.keys() - await pages_in(ledger, index))
    found["turn not as it would be put now"] += await misplaced(ledger, index)
    return found


def _plain(text: str) -> str:
    """What is told, without the words that a merge may leave out."""
    light = ("really", "very", "also")
    return " ".join(word for word in normalise(text).text.rstrip(".").split() if word not in light)


async def misplaced(ledger: Ledger, index: DictIndex) -> int:
    """Turns of sealed and open pages that an index built now would hold otherwise, or not at all."""
    built = DictIndex()
    await Projection(ledger, built).project()
    there, now = index.of("turns"), built.of("turns")
    return sum(there.get(one) != now.get(one) for one in {*there, *now})


async def unresolved(ledger: Ledger, index: DictIndex) -> int:
    """Turns in the index whose id leads to no turn."""
    return (await ledger.locate_turns([int(one) for one in index.of("turns")])).count(None)


class IndexFirst(Writer):
    """The published order: what a model said goes to the index, and to the record afterwards."""

    async def _keep(self, run: Any, claims: Any, batch: Any) -> None:
        entries = [
            Entry(id=unit.id, session=unit.session, text=unit.text)
            for outcome in batch.outcomes
            if isinstance(outcome, DistilledEntry)
            for unit in outcome.units
        ]
        await self.projection._index.put(SPACE, "units", entries)
        await super()._keep(run, claims, batch)


class DoneWhenTried(Writer):
    """A page counts as summarised also when the model failed."""

    async def _distil(self, run: Any, infos: Any) -> tuple[DistilledEntry | UnfinishedWork | SetAside, ...]:
        outcomes = await super()._distil(run, infos)
        return tuple(_done(outcome) for outcome in outcomes)


def _done(outcome: DistilledEntry | UnfinishedWork | SetAside) -> DistilledEntry:
    if isinstance(outcome, DistilledEntry):
        return outcome
    return DistilledEntry(
        page_id=outcome.page_id if isinstance(outcome, SetAside) else PageId(outcome.what),
        units=(),
        rejected=(),
        omissions=(),
        made_by="",
        prompts=(),
        usage=Usage(),
        literals=0,
        beside=(),
        open_id=PageId(""),
    )


class MarkFirst(Projection):
    """The mark moves before what it vouches for is in the index."""

    async def _project(self, **how: Any) -> Any:
        mark = await self._index.mark(SPACE)
        await self._index.set_mark(SPACE, self._ledger._log.history() or History())
        await self._index.flush()
        real, self._index.mark = self._index.mark, _fixed(mark)  # type: ignore[method-assign,assignment]  # for one call
        try:
            return await super()._project(**how)
        finally:
            self._index.mark = real  # type: ignore[method-assign]  # as it was


class NeverFlushed(Projection):
    """The mark moves before what it vouches for is safe."""

    async def _project(self, **how: Any) -> Any:
        async def no_flush() -> None: ...

        self._index.flush = no_flush  # type: ignore[method-assign]  # the mutation itself
        return await super()._project(**how)


class DropFirst(Projection):
    """The mark still stands while the space is being dropped."""

    async def _forget(self) -> None:
        await self._index.drop(SPACE)
        self._mark = self._put_up_to = History()


class OnlyNew(Projection):
    """The turns that new ones stand around stay as they were."""

    async def _put_pages(self, pages: Any) -> None:
        before = {key: dict(entries) for key, entries in self._index.entries.items()}  # type: ignore[attr-defined]
        await super()._put_pages(pages)
        self._index.entries[SPACE, "turns"] |= before.get((SPACE, "turns"), {})  # type: ignore[attr-defined]


def _fixed(mark: History) -> Callable[[SpaceId], Any]:
    async def fixed(space: SpaceId) -> History:
        return mark

    return fixed


def with_projection(projection: type[Projection]) -> NewWriter:
    def new_writer(ledger: Ledger, index: DictIndex, engine: Engine) -> Writer:
        writer = Writer(ledger, index, engine)
        writer.projection = writer._write_backs._projection = projection(ledger, index)
        return writer

    return new_writer


MUTANTS: dict[str, NewWriter] = {
    "index first": IndexFirst,
    "done when tried": DoneWhenTried,
    "mark first": with_projection(MarkFirst),
    "never flushed": with_projection(NeverFlushed),
    "drop first": with_projection(DropFirst),
    "only new": with_projection(OnlyNew),
}


@cache
def steps_of(script: tuple[tuple[str, int], ...]) -> int:
    """How many steps a life with this script and without crashes takes."""
    world = World(random.Random(0))
    Trial(Writer, world, script).run()
    return world.steps


def trial(new_writer: NewWriter, seed: int) -> tuple[int, Counter[str]]:
    """One life whose first process is told to end somewhere; how many did, and the damage.

    Odd seeds walk, in strides, through every step of three short lives, even ones pick a step of a long one.
    """
    chance = random.Random(seed)
    script = (REINDEXING, TALKING, CONSOLIDATING)[seed // 2 % 3] if seed % 2 else SCRIPT
    steps = steps_of(script)
    ends_at = 1 + seed // 6 * 41 % steps if seed % 2 else chance.randint(1, steps)
    one = Trial(new_writer, World(chance, ends_at=ends_at), script)
    found = one.run()
    return one.crashes, found


def main(trials: int) -> None:
    for name, new_writer in {"as it is": Writer, **MUTANTS}.items():
        count = trials if new_writer is Writer else min(trials, 300)
        total, damaged = Counter[str](), 0
        for seed in range(count):
            _, found = trial(new_writer, seed)
            total += found
            damaged += bool(found)
        print(f"{name}: {count} lives, {damaged} damaged, {dict(total)}")  # noqa: T201  # a report


if __name__ == "__main__":
    main(int(sys.argv[1]))
