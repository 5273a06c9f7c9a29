"""Whose an outcome is: credit shared out among the units that an answer was made of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from pagestore import Span
from tiermem.model import UnitId
from tiermem.text import stems

K = TypeVar("K")


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """How much of the credit is one unit's, from 0 to 1."""

    unit_id: UnitId
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnShare:
    """How much of the credit belongs to words of a turn on which no unit rests yet, from 0 to 1.

    Units that are made of these words inherit it.
    """

    spans: tuple[Span, ...]
    share: float


def credit_shares(cited: Iterable[K], in_view: Mapping[K, str], output: str | None = None) -> dict[K, float]:
    """Return the part of the credit of each source; together they have all of it, or none has any.

    What was cited counts 1. What was in view and not cited, by its text, counts as much as its stems are
    those of the output (Jaccard): an answer says itself what it rests on, so that comes first.
    """
    output_stems = set(stems(output or ""))
    credit = dict.fromkeys(cited, 1.0)
    for source, text in in_view.items():
        credit.setdefault(source, _jaccard(set(stems(text)), output_stems))
    total = sum(credit.values())
    return {source: part / total for source, part in credit.items() if part}


def _jaccard(one: set[str], other: set[str]) -> float:
    return len(one & other) / len(one | other) if one and other else 0.0
