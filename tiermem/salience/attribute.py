"""Whose an outcome is: credit shared out among the units that an answer was made of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tiermem.model import UnitId
from tiermem.text import stems


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """How much of the credit is one unit's, from 0 to 1."""

    unit_id: UnitId
    share: float


def shares(
    cited: Iterable[UnitId], in_view: Mapping[UnitId, str], output: str | None = None
) -> tuple[Share, ...]:
    """What part of the credit each unit has; together they have all of it, or nobody has any.

    What was cited counts 1. What was in view and not cited, by its text, counts as much as its stems are
    those of the output (Jaccard): an answer says itself what it rests on, so that comes first.
    """
    told = set(stems(output or ""))
    credit = dict.fromkeys(cited, 1.0)
    for unit_id, text in in_view.items():
        credit.setdefault(unit_id, _jaccard(set(stems(text)), told))
    total = sum(credit.values())
    return tuple(Share(unit_id=unit_id, share=part / total) for unit_id, part in credit.items() if part)


def _jaccard(one: set[str], other: set[str]) -> float:
    return len(one & other) / len(one | other) if one and other else 0.0
