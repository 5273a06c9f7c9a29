"""The value of a fact that has one at a time: that of the latest statement, or the earlier one asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from tiermem.model import Evidence
from tiermem.text.histories import SaidTurn, find_fact
from tiermem.text.readings import speech
from tiermem.text.statements import Statement
from tiermem.trust import DEFAULT_TRUST, TrustLevels


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedValue:
    """A value with the number of the evidence that states it; `turn` is what is said there."""

    at: int
    turn: SaidTurn
    statement: Statement


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedFact:
    """What evidence states of the fact that a question asks for.

    `answer` is the value asked for, `None` if the last one holds no more; `values` are all that were stated,
    oldest first, the answer among them.
    """

    answer: StatedValue | None
    values: tuple[StatedValue, ...]


def find_stated_fact(
    question: str, evidence: Sequence[Evidence], asked_at: datetime, trust: TrustLevels = DEFAULT_TRUST
) -> StatedFact | None:
    """The fact that a question asks for; `None` if nothing states it, or none is asked for."""
    spoken = [(at, turn) for at, item in enumerate(evidence) if (turn := _said_turn(item, trust)) is not None]
    known = find_fact(question, [turn for _, turn in spoken], asked_at)
    if known is None:
        return None
    values = {
        id(one): StatedValue(at=spoken[one.turn][0], turn=spoken[one.turn][1], statement=one.statement)
        for one in known.values
    }
    answer = values[id(known.answer)] if known.answer is not None else None
    return StatedFact(answer=answer, values=tuple(values.values()))


def _said_turn(item: Evidence, trust: TrustLevels) -> SaidTurn | None:
    """Evidence as what somebody said; `None` for a page, and for a unit in words of its own."""
    spoken = speech(item.quote or item.text) if item.source != "page" else None
    if spoken is None:
        return None
    said = spoken.said.strip('"') if item.quote else spoken.said
    return SaidTurn(speaker=spoken.speaker, text=said, said_at=item.said_at, rank=trust.rank(item.trust))
