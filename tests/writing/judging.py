"""Random lives of judgements: answers, outcomes, units merged, corrected, withdrawn, erased, logs reopened.

Whatever happens, the weight of every unit is what its definition says of the records that are left, gone
through from the first, without any of what the fold keeps in between.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from pagestore import LogOptions, PageLog, Record, Turn
from tests.ledger.building import answer, wrote_back
from tests.logs import new_log
from tests.writing.parts import S1, SPACE, DictIndex, Rules, turn
from tiermem.errors import InvalidInput, UnknownId
from tiermem.ledger import (
    AnsweredEntry,
    ConsolidatedEntry,
    DistilledEntry,
    Feedback,
    Ledger,
    ReinstatedEntry,
    RetiredEntry,
    StatedEntry,
    WroteBack,
)
from tiermem.ledger.entries import decode
from tiermem.ledger.kind import LedgerEntry
from tiermem.ledger.kinds import KINDS
from tiermem.ledger.replacements import logged_entries, records_left
from tiermem.model import Answer, AnswerId, Citation, Evidence, SummaryUnit, UnitId
from tiermem.writing import Consolidator, Selection, Writer, WriterOptions

PLACES = ("Piran", "Izola", "Koper", "Lisbon", "Oslo", "Rome", "Vienna", "Graz", "Turin", "Genoa")
OUTCOMES = ("success", "success", "failure", "neutral")
STEPS = 30
START = datetime(2024, 3, 1, tzinfo=UTC)


class Clock:
    """Goes on by hours, and now and then back."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._at = START

    def __call__(self) -> datetime:
        hours = self._chance.choice((0.1, 1, 5, 20, -30)) if self._chance.random() < 0.5 else 0.5
        self._at += timedelta(hours=hours)
        return self._at


def weights_by_definition(log: PageLog) -> dict[UnitId, float]:
    """The weight of every unit, from the records alone."""
    known = _Known()
    for record in records_left(logged_entries(log, frozenset(KINDS))):
        entry = decode(record)
        if isinstance(entry, Feedback):
            known.judge(entry, record)
        else:
            known.take_in(entry)
    return {unit_id: known.weight(unit_id) for unit_id in known.units}


class _Known:
    """What records say of units: their newest revisions, which are retired, merged, and how judged."""

    def __init__(self) -> None:
        self.units: dict[UnitId, SummaryUnit] = {}
        self._retired: set[UnitId] = set()
        self._merged: dict[UnitId, tuple[UnitId, ...]] = {}
        self._judged: dict[UnitId, list[tuple[str, int, datetime, float]]] = {}

    def take_in(self, entry: LedgerEntry | None) -> None:
        match entry:
            case DistilledEntry(units=made):
                self.units |= {unit.id: unit for unit in made if unit.id not in self.units}
            case StatedEntry(unit=unit):
                self.units.setdefault(unit.id, unit)
            case WroteBack(unit=unit) if unit is not None:
                self.units[unit.id] = unit
            case ConsolidatedEntry(unit=unit, merged=of) if unit.id not in self.units:
                self.units[unit.id], self._merged[unit.id] = unit, of
            case RetiredEntry(unit_ids=gone):
                self._retired |= set(gone)
            case ReinstatedEntry(unit_ids=back):
                self._retired -= set(back)

    def judge(self, feedback: Feedback, record: Record) -> None:
        key, steps = feedback.answer_id or str(record.seq), _steps(feedback)
        for unit_id in filter(self._counts, self.units):
            rest = [one for one in self._judged.get(unit_id, []) if one[0] != key]
            new = ((key, record.seq, record.at, step) for step in steps.get(unit_id, ()))
            self._judged[unit_id] = [*rest, *new]

    def weight(self, unit_id: UnitId) -> float:
        judged = sorted(one[1:] for side in self._sides(unit_id) for one in self._judged.get(side, []))
        return _weight([step[1:] for step in judged])

    def _holds(self, unit_id: UnitId) -> bool:
        newer = (other for other in self.units.values() if unit_id in other.supersedes)
        return unit_id not in self._retired and all(one.id in self._retired for one in newer)

    def _counts(self, unit_id: UnitId) -> bool:
        """Whether it holds, or a merge does that stands for it."""
        stands = (one for one, of in self._merged.items() if unit_id in of and one not in self._retired)
        return self._holds(unit_id) or any(self._counts(one) for one in stands)

    def _sides(self, unit_id: UnitId) -> set[UnitId]:
        return {unit_id}.union(*(self._sides(one) for one in self._merged.get(unit_id, ())))


def _steps(feedback: Feedback) -> dict[UnitId, tuple[float]]:
    worth = {"success": 1.0, "neutral": 0.0, "failure": -0.5}[feedback.outcome]
    return {share.unit_id: (0.1 * worth * share.share,) for share in feedback.shares}


def _weight(steps: list[tuple[datetime, float]]) -> float:
    """No day, of those that the judgements came in, moves it more than .3 from where it began."""
    weight = began = 0.0
    newest = None
    for at, step in steps:
        if newest is None or at.date() > newest:
            newest, began = at.date(), weight
        weight = round(min(max(weight + step, -1.0, began - 0.3), 1.0, began + 0.3), 9)
    return weight


async def life(seed: int) -> Counter[str]:
    """One of them; what happened in it, and under `wrong` what broke the promise."""
    chance = random.Random(seed)
    log = new_log(SPACE, options=LogOptions(clock=Clock(chance)))
    living = _Life(chance, log, await Ledger.open(log))
    for number in range(STEPS):
        await living.step(number)
        living.seen["wrong"] += await living.differs()
    return living.seen


class _Life:
    def __init__(self, chance: random.Random, log: PageLog, ledger: Ledger) -> None:
        self.seen: Counter[str] = Counter()
        self._chance, self._log, self._ledger = chance, log, ledger
        index = DictIndex()
        self._writer = Writer(ledger, index, Rules().engine)
        self._consolidator = Consolidator(self._writer, ledger, index, WriterOptions(idle_seal=math.inf))
        self._said: list[Turn] = []

    async def differs(self) -> bool:
        """Whether a weight is not what its definition says, now or in a fold of its own."""
        wanted = weights_by_definition(self._log)
        self.seen["weights"] += sum(map(bool, wanted.values()))
        again = (await Ledger.open(self._log)).tier1 if self._chance.random() < 0.2 else self._ledger.tier1
        known = {unit.id for unit in self._ledger.tier1.all_units()}
        told = {unit_id: self._ledger.tier1.weight(unit_id) for unit_id in known}
        return told != wanted or any(again.weight(unit_id) != told[unit_id] for unit_id in known)

    async def step(self, number: int) -> None:
        units, answers = self._ledger.tier1.all_units(), tuple(self._ledger.tier1.answers)
        steps = [self._say]
        if len(units) > 2:
            steps += 3 * [self._answer] + [*2 * [self._change], self._erase, self._merge]
        if answers:
            steps += [self._judge] * 8
        done = self._chance.choice(steps)
        self.seen[done.__name__.strip("_")] += 1
        await done(number)

    async def _say(self, number: int) -> None:
        said = turn(f"Ann visited {self._chance.choice(PLACES)} with {number} friends.", day=1 + number % 28)
        self._said.append(said)
        await self._writer.observe(S1, [said])
        await self._writer.seal()
        await self._writer.distil_pending()

    async def _merge(self, number: int) -> None:
        """Something is said again, on a page of its own, and a pass finds what is told twice."""
        again = replace(self._chance.choice(self._said), turn_id=f"again-{number}")
        self._said.append(again)
        await self._writer.observe(S1, [again])
        await self._writer.seal()
        await self._writer.distil_pending()
        self.seen["merged"] += len((await self._consolidator.run(START)).merged)

    async def _answer(self, number: int) -> None:
        units = self._chance.sample(self._ledger.tier1.all_units(), 2)
        await self._ledger.write(AnsweredEntry(answer=citing(f"a1:{number}", units[:1], shown=units)))

    async def _judge(self, number: int) -> None:
        outcome = self._chance.choice(OUTCOMES)
        if self._chance.random() < 0.2:
            unit = self._chance.choice(self._ledger.tier1.all_units() or [None])
            if unit is not None:
                await self._writer.feedback((unit.id,), outcome=outcome, output=None, by="user")  # type: ignore[arg-type]
            return
        judged = self._chance.choice(tuple(self._ledger.tier1.answers))
        said = self._chance.choice((None, "Piran", "Ann visited Oslo with friends."))
        await self._writer.feedback(judged, outcome=outcome, output=said, by="user")  # type: ignore[arg-type]

    async def _change(self, number: int) -> None:
        unit = self._chance.choice(self._ledger.tier1.all_units())
        try:
            match self._chance.randrange(4):
                case 0:
                    await self._writer.withdraw(unit.id, "no more")
                case 1:
                    await self._writer.reinstate(unit.id, "after all")
                case 2:
                    said = turn(f"Ann visited {self._chance.choice(PLACES)} with {number} cats.")
                    await self._writer.correct(unit.id, said)
                case _:
                    merged = replace(unit, revision=unit.revision + 1)
                    await self._ledger.write(wrote_back(f"f1:{number}", "UPDATE", merged))
        except InvalidInput:
            self.seen["refused"] += 1

    async def _erase(self, number: int) -> None:
        gone = self._chance.choice(self._said)
        try:
            await self._writer.eraser.erase(Selection(turn=gone.turn_id, session=S1), "asked to")
        except UnknownId:
            self.seen["erased before"] += 1
        tier1 = self._ledger.tier1
        known = {unit.id for unit in tier1.all_units()}
        left = [decode(record) for record in records_left(logged_entries(self._log, frozenset({"feedback"})))]
        for one in left:
            assert isinstance(one, Feedback)
            self.seen["wrong"] += not {share.unit_id for share in one.shares} <= known
            self.seen["wrong"] += one.answer_id is not None and one.answer_id not in tier1.answers


def citing(answer_id: str, cited: list[SummaryUnit], *, shown: list[SummaryUnit]) -> Answer:
    given = answer(answer_id, question="Where was Ann?")
    citations = tuple(
        Citation(
            number=number, claim=unit.text, quote=unit.text, spans=unit.spans, support="quoted",
            speaker="Ann", said_at=unit.said_at, unit_id=unit.id,
        )
        for number, unit in enumerate(cited)
    )  # fmt: skip
    candidates = tuple(
        Evidence(text=unit.text, spans=unit.spans, score=1.0, source="unit", unit_id=unit.id)
        for unit in shown
    )
    trace = replace(given.trace, candidates=candidates)
    return replace(given, id=AnswerId(answer_id), text=shown[0].text, citations=citations, trace=trace)
