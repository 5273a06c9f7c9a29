"""What becomes of proved facts without a model: which are worth keeping, and how one joins what is known."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tiermem.model import LinkedFact, SummaryUnit
from tiermem.reasoning.interface import Operation
from tiermem.reasoning.passages import Matcher, passages_of
from tiermem.reasoning.questions import read_question
from tiermem.text import literals, negated, normalise, stems, unsupported_literals
from tiermem.text.readings import speech

_RELEVANT = 0.45
_ENTAILED = 0.8
_VAGUE = 0.6
"""Share of a unit's content words that a fact must hold to be a more specific telling of the same."""
_SAME_SUBJECT = 0.5
_CHANGE = re.compile(
    r"\b(?:now|no longer|any ?more|changed|switched|moved|instead|actually|used to|quit|stopped|new)\b",
    re.IGNORECASE,
)


def select(question: str, facts: Sequence[LinkedFact]) -> tuple[int, ...]:
    """Indices of proved facts that are about the question, hold a detail, and repeat no other."""
    asked = read_question(question)
    found = [passage for at, fact in enumerate(facts) for passage in passages_of(fact.claim, at, None)]
    relevant = {one.passage.source for one in Matcher(asked, found).best(found, least=_RELEVANT)}
    kept: list[int] = []
    for at, fact in enumerate(facts):
        if fact.grade != "verbatim" or at not in relevant or not _specific(fact, asked.terms):
            continue
        if not any(_entailed(fact.claim, facts[other].claim) for other in kept):
            kept.append(at)
    return tuple(kept)


def _specific(fact: LinkedFact, known: Sequence[str]) -> bool:
    return len(literals(fact.claim)) > 1 or len(set(stems(fact.claim)) - set(known)) >= 3


def reconcile(fact: LinkedFact, neighbours: Sequence[SummaryUnit]) -> Operation:
    """SKIP what is known, UPDATE what was vague, supersede what has clearly changed, else ADD."""
    for unit in neighbours:
        if _entailed(fact.claim, unit.text):
            return Operation(op="SKIP", reason=f"entailed by {unit.id}", target=unit.id)
    for unit in neighbours:
        if _changed(fact.claim, unit.text):
            return Operation(op="ADD", reason="tells a change", supersedes=(unit.id,))
    for unit in neighbours:
        merged = _merged(fact.claim, unit.text)
        if merged is not None:
            return Operation(op="UPDATE", reason="adds details", target=unit.id, text=merged)
    return Operation(op="ADD", reason="new")


def _speaker(text: str) -> str:
    own = speech(text)
    return own.speaker if own else ""


def _held(part: str, whole: str) -> float:
    """Share of the content words of `part` that `whole` holds."""
    wanted = set(stems(part))
    return len(wanted & set(stems(whole))) / len(wanted) if wanted else 0.0


def _entailed(fact: str, unit: str) -> bool:
    if normalise(fact).text in normalise(unit).text:
        return True
    same = _speaker(fact) == _speaker(unit) and negated(fact) == negated(unit)
    return same and _held(fact, unit) >= _ENTAILED and not unsupported_literals(fact, [unit])


def _changed(fact: str, unit: str) -> bool:
    """The same person on the same subject, with other numbers or the opposite, and a word of change."""
    if _speaker(fact) != _speaker(unit) or not _CHANGE.search(fact):
        return False
    if _held(unit, fact) < _SAME_SUBJECT:
        return False
    new, old = literals(fact).numbers, literals(unit).numbers
    return negated(fact) != negated(unit) or bool(new and old and new.isdisjoint(old))


def _merged(fact: str, unit: str) -> str | None:
    """The more specific telling, when it holds every literal of the vague one; `None` when it is no such."""
    if _speaker(fact) != _speaker(unit) or negated(fact) != negated(unit):
        return None
    if (
        _held(unit, fact) < _VAGUE
        or unsupported_literals(unit, [fact])
        or not unsupported_literals(fact, [unit])
    ):
        return None
    own, old = speech(fact), speech(unit)
    if own is None or old is None or _held(unit, fact) == 1.0:
        return fact
    return f"{unit} {own.said}"
