"""What an entry tells in words, apart from what code names, counts and dates in it.

The rule: a string of an entry is somebody's words, a person's or a model's, unless `NAMED` lists it or its
type is an id or a closed set. Erasing looks for what was said among the words alone: the digits of a time,
a hash or a record number are nobody's words.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from typing import Any, get_args, get_type_hints

from tiermem.ledger.entries import Distilled, Entry, Redistilled, SetAside, Spent
from tiermem.model import (
    Answer,
    Citation,
    Decision,
    Degradation,
    Evidence,
    LinkedFact,
    StepUsage,
    SummaryUnit,
    Trace,
)

NAMED = frozenset(
    {
        (Distilled, "made_by"),
        (Distilled, "prompts"),
        (Redistilled, "made_by"),
        (Redistilled, "prompts"),
        (SetAside, "step"),
        (Spent, "step"),
        (SummaryUnit, "made_by"),
        (SummaryUnit, "trust"),
        (SummaryUnit, "event_at"),
        (LinkedFact, "event_at"),
        (Evidence, "event_at"),
        (Evidence, "trust"),
        (Citation, "trust"),
        (Answer, "trust"),
        (Decision, "router"),
        (Degradation, "stage"),
        (Degradation, "fallback"),
        (StepUsage, "step"),
        (Trace, "engine"),
        (Trace, "prompts"),
        (Trace, "models"),
        (Trace, "min_trust"),
    }
)
"""Strings that code or settings choose: names of engines, models, prompts, steps and levels, and dates."""


@dataclass(frozen=True, slots=True)
class Fields:
    """Of a class that entries are made of: the fields that hold words, and those that hold more values."""

    words: tuple[str, ...]
    values: tuple[str, ...]


def told_in(entry: Entry) -> Iterator[str]:
    """Every text in an entry that is somebody's words."""
    return _told(entry)


def _told(value: Any) -> Iterator[str]:
    if isinstance(value, tuple):
        for item in value:
            yield from _told(item)
    elif is_dataclass(value):
        shape = fields_of(value.__class__)
        for name in shape.words:
            held = getattr(value, name)
            yield from (held,) if isinstance(held, str) else held if isinstance(held, tuple) else ()
        for name in shape.values:
            yield from _told(getattr(value, name))


@cache
def fields_of(kind: type) -> Fields:
    """Which fields of a class hold words, and which hold values that may."""
    hints = get_type_hints(kind)
    names = [field.name for field in fields(kind)]
    return Fields(
        words=tuple(n for n in names if str in _parts(hints[n]) and (kind, n) not in NAMED),
        values=tuple(n for n in names if any(map(is_dataclass, _parts(hints[n])))),
    )


def _parts(hint: Any) -> frozenset[Any]:
    """The types a hint is made of; an id is a type of its own, and the members of a closed set are none."""
    args = get_args(hint)
    return frozenset((hint,)).union(*map(_parts, (a for a in args if not isinstance(a, str))))
