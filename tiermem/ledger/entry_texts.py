"""What an entry tells in words, apart from what code names, counts and dates in it.

The rule: a string of an entry is somebody's words, a person's or a model's, unless it is `Named` or its
type is an id or a closed set. Erasing looks for what was said among the words alone: the digits of a time,
a hash or a record number are no words of a turn.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from typing import Any, get_args, get_type_hints

from tiermem.ledger.kind import LedgerEntry
from tiermem.model import Named, Usage


@dataclass(frozen=True, slots=True)
class Fields:
    """Of a class that entries are made of: the fields that hold words, and those that hold more values."""

    words: tuple[str, ...]
    values: tuple[str, ...]


def entry_texts(entry: LedgerEntry) -> Iterator[str]:
    """Every text in an entry that is somebody's words."""
    for value in values_in(entry):
        for name in fields_of(value.__class__).words:
            texts = getattr(value, name)
            yield from (texts,) if isinstance(texts, str) else texts if isinstance(texts, tuple) else ()


def values_in(value: Any) -> Iterator[Any]:
    """An entry and every value in it, at any depth: units, facts, spans and what they are made of."""
    if isinstance(value, tuple):
        for item in value:
            yield from values_in(item)
    elif is_dataclass(value):
        yield value
        for name in fields_of(value.__class__).values:
            yield from values_in(getattr(value, name))


def paid_for(entry: LedgerEntry) -> Usage:
    """What an entry says that was paid for it."""
    return next((value for value in values_in(entry) if isinstance(value, Usage)), Usage())


@cache
def fields_of(kind: type) -> Fields:
    """Which fields of a class hold words, and which hold values that may."""
    hints = get_type_hints(kind, include_extras=True)
    names = [field.name for field in fields(kind)]
    return Fields(
        words=tuple(n for n in names if str in _parts(hints[n])),
        values=tuple(n for n in names if any(map(is_dataclass, _parts(hints[n])))),
    )


def _parts(hint: Any) -> frozenset[Any]:
    """The types a hint is made of; an id is a type of its own, and the members of a closed set are none."""
    if hint == Named:
        return frozenset()
    args = get_args(hint)
    return frozenset((hint,)).union(*map(_parts, (a for a in args if not isinstance(a, str))))
