"""Whether outcomes of some questions help others of the same conversation.

Half of the questions of a conversation are looked up, and their gold evidence says how that turned out: the
units found that rest on evidence succeeded, the others failed. All of it is recorded by `memory.feedback`.
Then the other half is looked up, and ranked with and without what was learnt, for several weights: two
neighbours change places where their signals, by MemTier's weights, differ by more than their scores. The id
of a question alone decides which half it is of.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final

from eval.corpus import placed, turn_passage
from eval.metrics.intervals import Estimate, estimate
from eval.research.memtier.score import DEFAULT, FADES, MULTIPLIERS
from eval.types import Case, CaseId, LabelledQuestion, Passage
from pagestore import PageId, Span
from tiermem import AsyncMemory, Evidence, Signals, UnitId
from tiermem.embedding.interface import Embedder
from tiermem.reasoning import Engine

TOP: Final = 5
"""Units of which the share of evidence is counted."""
LISTENS: Final = {"a little (.02)": 0.02, "some (.1)": 0.1, "all it may": 1_000.0}
"""How much ranking listens; whatever that is, no unit moves more than one place."""
DECAY, FEEDBACK, TIER = DEFAULT[2:]
"""MemTier's weights of age, of outcomes and of tiers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """One way of ranking: by outcomes or by all signals, how much they count, and with outcomes or not."""

    name: str
    by_feedback: bool
    listens: float
    judged: bool


VARIANTS: Final = tuple(
    Variant(name=f"{signals}, {how}", by_feedback=by_feedback, listens=listens, judged=judged)
    for signals, by_feedback, judged in (
        ("feedback alone", True, True),
        ("all signals", False, True),
        ("all signals but feedback", False, False),
    )
    for how, listens in LISTENS.items()
)


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomesOfQuestion:
    """One question of the second half: the share of its evidence that five units rest on, as ranked so."""

    case: CaseId
    before: float
    after: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Learnt:
    """What became of a conversation: the questions asked, and the outcomes that were recorded before."""

    asked: tuple[OutcomesOfQuestion, ...]
    outcomes: int
    units: int
    moved: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A variant: recall with it, its difference to recall without, and how often anything changed."""

    name: str
    recall: Estimate
    difference: Estimate
    changed: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Halves:
    """What came of it all, and of what: the digest of the data, and who made the units."""

    data: str
    engine: str
    questions: int
    outcomes: int
    units: int
    moved: int
    rows: tuple[Row, ...]


def halves_of(learnt: Sequence[Learnt], *, data: str, engine: str) -> Halves:
    """All conversations together."""
    return Halves(
        data=data,
        engine=engine,
        questions=sum(len(one.asked) for one in learnt),
        outcomes=sum(one.outcomes for one in learnt),
        units=sum(one.units for one in learnt),
        moved=sum(one.moved for one in learnt),
        rows=rows(learnt),
    )


async def learnt(case: Case, *, engine: Engine, embedder: Embedder, swapped: bool = False) -> Learnt:
    """Tell a memory one conversation, judge what half A of its questions finds, and look up half B.

    With `swapped` half B is judged, and half A looked up.
    """
    memory = await AsyncMemory.open(
        ":memory:", engine=engine, embedder=embedder, index="memory", distil="deferred"
    )
    async with memory:
        for session in case.sessions:
            if session.turns:
                await memory.add(placed(session), session=session.id)
        await memory.flush()
        looking = _Looking(memory, await _lines(memory))
        first, second = halves(case.questions)[:: -1 if swapped else 1]
        outcomes = 0
        for question in first:
            outcomes += await looking.judge(question)
        units = await memory.units()
        signals = {unit.id: await memory.signals(unit.id) for unit in units}
        asked = [await looking.asked(case, question, signals) for question in second]
    moved = sum(one.weight != 0 for one in signals.values())
    return Learnt(asked=tuple(asked), outcomes=outcomes, units=len(units), moved=moved)


def halves(questions: Iterable[LabelledQuestion]) -> tuple[list[LabelledQuestion], list[LabelledQuestion]]:
    """Questions that name evidence, in two halves: by a hash of the id, so that none knows the other."""
    parted: tuple[list[LabelledQuestion], list[LabelledQuestion]] = ([], [])
    for question in questions:
        if question.evidence:
            parted[hashlib.sha256(question.id.encode()).digest()[0] % 2].append(question)
    return parted


def rows(learnt: Sequence[Learnt]) -> tuple[Row, ...]:
    """Every variant over all conversations; intervals resample conversations."""
    asked = [one for conversation in learnt for one in conversation.asked]
    clusters = [one.case for one in asked]

    def row(name: str, recall: Callable[[OutcomesOfQuestion], float]) -> Row:
        return Row(
            name=name,
            recall=estimate([recall(one) for one in asked], clusters),
            difference=estimate([recall(one) - one.before for one in asked], clusters),
            changed=sum(recall(one) != one.before for one in asked) / len(asked),
        )

    variants = (row(variant.name, lambda one, name=variant.name: one.after[name]) for variant in VARIANTS)  # type: ignore[misc]
    return row("no signals", lambda one: one.before), *variants


class _Looking:
    """Looks up units of one memory, and knows on which turns they rest."""

    def __init__(
        self, memory: AsyncMemory, lines: Mapping[PageId, Sequence[tuple[int, int, Passage]]]
    ) -> None:
        self._memory = memory
        self._lines = lines

    async def judge(self, question: LabelledQuestion) -> int:
        """Record, by the gold evidence, which of the units that are found first helped; how many outcomes."""
        found = (await self._units(question))[:TOP]
        good = [one for one in found if self._evidence((one,), question)]
        poor = [one for one in found if not self._evidence((one,), question)]
        if good:
            await self._memory.feedback(sources=good, outcome="success")
        if poor:
            await self._memory.feedback(sources=poor, outcome="failure")
        return bool(good) + bool(poor)

    async def asked(
        self, case: Case, question: LabelledQuestion, signals: Mapping[UnitId, Signals]
    ) -> OutcomesOfQuestion:
        """What five units hold of a question's evidence, ranked without signals and in every variant."""
        found, at = await self._units(question), question.asked_at or _end(case)

        def recall(variant: Variant) -> float:
            ranked = _ranked(found, signals, variant, at)
            return len(self._evidence(ranked[:TOP], question)) / len(set(question.evidence))

        return OutcomesOfQuestion(
            case=case.id,
            before=len(self._evidence(found[:TOP], question)) / len(set(question.evidence)),
            after={variant.name: recall(variant) for variant in VARIANTS},
        )

    async def _units(self, question: LabelledQuestion) -> tuple[Evidence, ...]:
        found = await self._memory.search(
            question.text, kind="units", limit=2 * TOP, asked_at=question.asked_at
        )
        return tuple(one for one in found if one.source == "unit")

    def _evidence(self, units: Sequence[Evidence], question: LabelledQuestion) -> set[Passage]:
        turns = {turn for unit in units for span in unit.spans for turn in self._turns(span)}
        return turns & set(question.evidence)

    def _turns(self, span: Span) -> Iterable[Passage]:
        return (
            turn for start, end, turn in self._lines[span.page_id] if start < span.end and span.start < end
        )


def _ranked(
    found: Sequence[Evidence], signals: Mapping[UnitId, Signals], variant: Variant, at: datetime
) -> list[Evidence]:
    known = [signals[unit_id] for one in found if (unit_id := one.unit_id) is not None]
    used = known if variant.judged else [replace(one, weight=0.0) for one in known]
    strengths = [strength(one, at, by_feedback=variant.by_feedback) for one in used]
    order = order_by_signals([one.score for one in found], strengths, variant.listens)
    return [found[place] for place in order]


def strength(signals: Signals, at: datetime, *, by_feedback: bool) -> float:
    """MemTier's score of a unit at some moment, without the question, as a share of the highest one."""
    outcome = (signals.weight + 1) / 2
    if by_feedback:
        return outcome
    days = max((at - signals.said_at).total_seconds() / 86_400, 0.0) if signals.said_at else math.inf
    most = DECAY + FEEDBACK + TIER * (MULTIPLIERS["procedural"] - 1)
    tier = TIER * (MULTIPLIERS[signals.tier] - 1)
    return (DECAY * math.exp(-FADES * days) + FEEDBACK * outcome + tier) / most


def order_by_signals(scores: Sequence[float], strengths: Sequence[float], weight: float) -> list[int]:
    """The places of what is ranked, in an order in which each may have changed places with the one before it.

    It does where its signals, by their weight, exceed that one's by more than their scores differ.
    """
    order, at = list(range(len(scores))), 1
    while at < len(order):
        before, this = order[at - 1], order[at]
        if weight * (strengths[this] - strengths[before]) > scores[before] - scores[this]:
            order[at - 1], order[at] = this, before
            at += 1
        at += 1
    return order


async def _lines(memory: AsyncMemory) -> dict[PageId, list[tuple[int, int, Passage]]]:
    pages = [await memory.page(info.id) for info in await memory.pages()]
    return {
        page.id: [
            (line.start, line.end, turn_passage(line.turn.turn_id))
            for line in page.lines
            if line.turn and line.turn.turn_id
        ]
        for page in pages
    }


def _end(case: Case) -> datetime:
    """When the last session of a conversation began: questions about it are asked no earlier."""
    begun = (session.started_at for session in case.sessions if session.started_at is not None)
    return max(begun, default=datetime.now(UTC))
