"""How a fact joins what is known, without a model."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tiermem.model import LinkedFact, SummaryUnit
from tiermem.reasoning.interface import Operation
from tiermem.reasoning.rules.alike import is_entailed, share_held, speaker
from tiermem.text import is_negated, literals, unsupported_literals
from tiermem.text.readings import speech

_VAGUE = 0.6
"""Share of a unit's content words that a fact must hold to be a more specific telling of the same."""
_SAME_SUBJECT = 0.5
"""Share of a unit's content words that a fact must hold to correct it."""
_CHANGE = re.compile(
    r"\b(?:now|no longer|any ?more|changed|switched|moved|instead|actually|used to|quit|stopped|new)\b",
    re.IGNORECASE,
)


async def reconcile(fact: LinkedFact, neighbours: Sequence[SummaryUnit]) -> Operation:
    """SKIP what is known, UPDATE what was vague, supersede what has clearly changed, else ADD."""
    for unit in neighbours:
        if is_entailed(fact.claim, unit.text):
            return Operation(op="SKIP", reason=f"entailed by {unit.id}", target=unit.id)
    for unit in neighbours:
        if _is_change(fact.claim, unit.text):
            return Operation(op="ADD", reason="tells a change", supersedes=(unit.id,))
    for unit in neighbours:
        merged = _merge_texts(fact.claim, unit.text)
        if merged is not None:
            return Operation(op="UPDATE", reason="adds details", target=unit.id, text=merged)
    return Operation(op="ADD", reason="new")


def _is_change(fact: str, unit: str) -> bool:
    """The same person on the same subject, with other numbers or the opposite, and a word of change."""
    if speaker(fact) != speaker(unit) or not _CHANGE.search(fact):
        return False
    if share_held(unit, fact) < _SAME_SUBJECT:
        return False
    new, old = literals(fact).numbers, literals(unit).numbers
    return is_negated(fact) != is_negated(unit) or bool(new and old and new.isdisjoint(old))


def _merge_texts(fact: str, unit: str) -> str | None:
    """The more specific telling, when it holds every literal of the vague one; `None` when it is no such."""
    if speaker(fact) != speaker(unit) or is_negated(fact) != is_negated(unit):
        return None
    if (
        share_held(unit, fact) < _VAGUE
        or unsupported_literals(unit, [fact])
        or not unsupported_literals(fact, [unit])
    ):
        return None
    own, old = speech(fact), speech(unit)
    if own is None or old is None or share_held(unit, fact) == 1.0:
        return fact
    return f"{unit} {own.said}"
