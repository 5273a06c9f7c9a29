"""Whether what was recalled holds the answer, judged from features alone: no model, no network, pure.

It errs towards the pages: a question that asks for all of
something, has a name that is in no unit, or asks for a kind of detail that no unit holds, escalates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tiermem.model import Action, Decision, Evidence
from tiermem.reasoning.rules.sentences import Matcher, ScoredSentence, evidence_sentences
from tiermem.text import resolve_dates, stem, words
from tiermem.text.literals import names, numbers
from tiermem.text.question import Kind, Question

_COVERAGE = 0.65
"""The share of the question's weighted terms that one statement must hold."""
_COMPLETE = 0.95
"""What a list or a count needs: summaries may hold some of it and look as if they held all."""
_SIMILARITY = 0.35
"""Cosine below which even full coverage of words is not trusted."""
_VERY_SIMILAR = 0.75
"""Cosine from which `_COVERAGE` may be `_RELIEF` lower."""
_RELIEF = 0.15


@dataclass(frozen=True, slots=True, kw_only=True)
class Features:
    """What the decision rests on, for one question and its recalled units."""

    kind: Kind
    coverage: float
    right_person: bool
    names_held: bool
    detail_held: bool
    similarity: float | None


_AS_GOOD = 0.75
"""Share of the best score from which another statement that holds the detail is taken instead."""
_MANY: frozenset[Kind] = frozenset({"list", "how many"})


def features(question: Question, units: Sequence[Evidence]) -> Features:
    """Measure how well the best statement among `units` answers `question`."""
    found = evidence_sentences(units)
    ranked = Matcher(question, found).best(found)
    near = [one for one in ranked if one.score >= _AS_GOOD * ranked[0].score]
    best = next((one for one in near if holds_detail(question, one)), ranked[0] if ranked else None)
    similarities = [unit.similarity for unit in units if unit.similarity is not None]
    return Features(
        kind=question.kind,
        coverage=best.coverage if best else 0.0,
        right_person=best is not None and best.right_person,
        names_held=_names_held(question, units),
        detail_held=best is not None and holds_detail(question, best),
        similarity=max(similarities, default=None),
    )


def _names_held(question: Question, units: Sequence[Evidence]) -> bool:
    """Whether every name of the question occurs in some unit."""
    there = {stem(word) for unit in units for word in words(unit.text)}
    return all(name in there for name in question.names)


def holds_detail(question: Question, best: ScoredSentence) -> bool:
    """Whether the statement holds a detail of the kind asked for."""
    sentence = best.sentence
    if question.kind == "when":
        return bool(resolve_dates(sentence.text, sentence.said_at)) or sentence.said_at is not None
    if question.kind in ("how many", "how much"):
        return bool(numbers(sentence.text, loose=True))
    if question.kind == "how long":
        return bool(numbers(sentence.text, loose=True)) or bool(
            resolve_dates(sentence.text, sentence.said_at, durations=True)
        )
    if question.kind == "who":
        return bool(names(sentence.text))
    return True


async def gate(question: Question, evidence: Sequence[Evidence]) -> Decision:
    """Judge by terms, people and the kind of detail asked for. Nothing recalled escalates."""
    return assess(question, evidence)


def assess(question: Question, evidence: Sequence[Evidence]) -> Decision:
    """ANSWER when the evidence states what is asked, else ESCALATE; the score is the coverage."""
    seen = features(question, evidence)
    reason = _refusal(seen) or _too_little(seen)
    action: Action = "ESCALATE" if reason else "ANSWER"
    return Decision(
        action=action,
        score=round(min(seen.coverage, 1.0), 2),
        reason=reason or f"a unit covers {seen.coverage:.0%} of the question",
        router="gate",
    )


def _refusal(seen: Features) -> str | None:
    if seen.coverage == 0:
        return "no unit is about the question"
    if not seen.names_held:
        return "a name of the question is in no unit"
    if not seen.right_person:
        return "the best unit is about somebody else"
    if not seen.detail_held:
        return f"no unit holds the detail a {seen.kind!r} question asks for"
    if seen.similarity is not None and seen.similarity < _SIMILARITY:
        return f"the nearest unit is far away (similarity {seen.similarity:.2f})"
    return None


def _too_little(seen: Features) -> str | None:
    needed = _COMPLETE if seen.kind in _MANY else _COVERAGE
    if seen.kind not in _MANY and seen.similarity is not None and seen.similarity >= _VERY_SIMILAR:
        needed -= _RELIEF
    if seen.coverage >= needed:
        return None
    return f"units cover {seen.coverage:.0%} of the question, {needed:.0%} needed"
