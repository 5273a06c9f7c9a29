"""What a learned route sees: numbers about a question and what was recalled for it, none from a model.

A file of a policy names its signals. A signal whose meaning changes gets another name, so that a policy
learned from the old one is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log1p
from typing import Final, get_args

from eval.research.entities import entities, entities_missing
from tiermem.model import Evidence
from tiermem.reasoning.rules.sufficiency import assess, features
from tiermem.text import stem, words
from tiermem.text.literals import Source
from tiermem.text.question import Kind, Question

_KINDS: Final[tuple[Kind, ...]] = tuple(kind for kind in get_args(Kind) if kind != "what")
"""Kinds of question, each a signal; "what" is none of them."""
_MOST_MISSING: Final = 3
"""Missing names, numbers and dates beyond which more of them say nothing more."""

_DIGITS: Final = 9
"""Of a sum whose order is not fixed: the same question has the same signals in every process."""

SIGNALS: Final[tuple[str, ...]] = (
    "coverage", "right person", "names", "detail", "rules answer",
    "similarity", "no similarity", "similarity above the mean",
    "terms", "named share", "named missing",
    "pieces", "units", "words recalled", "words asked",
    *(f"asks {kind}" for kind in _KINDS),
)  # fmt: skip
"""The names of the signals, in order."""


def signals(question: Question, evidence: Sequence[Evidence]) -> tuple[float, ...]:
    """One number for each of `SIGNALS`; finite for any text, and for no evidence at all."""
    return (
        *_by_rules(question, evidence),
        *_of_similarity(evidence),
        *_of_words(question, evidence),
        *_of_size(question, evidence),
        *(float(question.kind == kind) for kind in _KINDS),
    )


def _by_rules(question: Question, evidence: Sequence[Evidence]) -> tuple[float, ...]:
    """What the gate looks at, and what it decides."""
    seen = features(question, evidence)
    answers = assess(question, evidence).action == "ANSWER"
    flags = (seen.right_person, seen.names_held, seen.detail_held, answers)
    return (round(min(seen.coverage, 1.0), _DIGITS), *map(float, flags))


def _of_similarity(evidence: Sequence[Evidence]) -> tuple[float, ...]:
    near = [one.similarity for one in evidence if one.similarity is not None]
    if not near:
        return 0.0, 1.0, 0.0
    return max(near), 0.0, max(near) - sum(near) / len(near)


def _of_words(question: Question, evidence: Sequence[Evidence]) -> tuple[float, ...]:
    """How much of the question's words, and of what it names, is in anything recalled."""
    there = {stem(word) for one in evidence for word in words(f"{one.text} {one.quote}")}
    terms = question.terms
    named = entities(question.text, question.asked_at)
    missing = entities_missing(question.text, _sources(evidence), question.asked_at)
    return (
        sum(term in there for term in terms) / len(terms) if terms else 1.0,
        1 - len(missing) / len(named) if named else 1.0,
        float(min(len(missing), _MOST_MISSING)),
    )


def _sources(evidence: Sequence[Evidence]) -> tuple[Source, ...]:
    return tuple(Source(text, one.said_at) for one in evidence for text in (one.text, one.quote) if text)


def _of_size(question: Question, evidence: Sequence[Evidence]) -> tuple[float, ...]:
    units = sum(one.source == "unit" for one in evidence)
    return (
        log1p(len(evidence)),
        units / len(evidence) if evidence else 0.0,
        log1p(sum(len(words(one.text)) for one in evidence)),
        log1p(len(words(question.text))),
    )
