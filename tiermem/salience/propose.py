"""Which units tell the same twice, as proposals. Pure: nothing is read and nothing is written here.

Vectors say which units are near each other, words which of those are the same. Nearness alone decides
nothing: "Ann moved from Rome to Oslo" and "Ann moved to Rome from Oslo" have a cosine of .996 with MiniLM,
"Ann loves the old mill" and "Ann really loves the old mill" one of .988 (decision 44).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from tiermem.model import SummaryUnit, UnitId
from tiermem.text import fold_text, is_negated, resolve_dates, unsupported_literals

NEAR: Mapping[str, float] = {"all-MiniLM-L6-v2": 0.9, "all-MiniLM-L6-v2-int8": 0.9}
"""From which cosine on two units are near each other, by the name of the embedder.

Of the recorded facts of five LoCoMo conversations, 1,456 units, 10 pairs come as near; none states the same.
"""
NEAR_ELSEWHERE = 0.95
"""The same for an embedder that was not measured: fewer pairs are looked at, and the words decide as ever."""

_LIGHT = frozenset(("a", "an", "the", "very", "really", "also"))
"""Words that a telling may have or lack and be the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two units, the older one first, and the cosine of their texts."""

    one: SummaryUnit
    other: SummaryUnit
    similarity: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge:
    """Units that state the same, the oldest first: its wording is used for all. The lowest cosine to it."""

    units: tuple[SummaryUnit, ...]
    similarity: float


@dataclass(frozen=True, slots=True, kw_only=True)
class NearUnits:
    """Two units that are near each other and are not merged, the older one first, and why not."""

    units: tuple[UnitId, UnitId]
    texts: tuple[str, str]
    similarity: float
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposals:
    """What may be merged, no unit in two of them, and what is near and may not."""

    merges: tuple[Merge, ...] = ()
    apart: tuple[NearUnits, ...] = ()


def near_for(embedder: str) -> float:
    """From which cosine on units are near each other, for an embedder of this name."""
    return NEAR.get(embedder, NEAR_ELSEWHERE)


def propose(pairs: Iterable[Pair], *, parted: Callable[[UnitId, UnitId], bool]) -> Proposals:
    """The merges that pairs, in the order of their age, come to, and the pairs that stay apart.

    `parted` says which two units somebody took apart again: these are not merged a second time. A unit that
    would be in two merges is in the first; the rest is proposed when that one is applied.
    """
    groups: dict[UnitId, list[Pair]] = {}
    taken: set[UnitId] = set()
    left: list[NearUnits] = []
    for pair in pairs:
        why = "they were merged once, and taken apart" if parted(pair.one.id, pair.other.id) else None
        why = why or difference(pair.one, pair.other)
        if why:
            left.append(near_but_distinct(pair.one, pair.other, pair.similarity, why))
        elif pair.other.id not in taken and (pair.one.id in groups or pair.one.id not in taken):
            groups.setdefault(pair.one.id, []).append(pair)
            taken |= {pair.one.id, pair.other.id}
    merges = tuple(
        Merge(
            units=(group[0].one, *(pair.other for pair in group)),
            similarity=min(pair.similarity for pair in group),
        )
        for group in groups.values()
    )
    return Proposals(merges=merges, apart=tuple(left))


def difference(one: SummaryUnit, other: SummaryUnit) -> str:
    """Why two units do not tell the same; "" where they do, so that leaving out either text loses nothing."""
    if "stated" in (one.kind, other.kind):
        return "one of them was stated by a person, to be kept as it is"
    if one.session != other.session:
        return "they are of different sessions"
    if one.trust != other.trust:
        return "they are trusted differently"
    if one.event_at != other.event_at or _days(one) != _days(other):
        return "they tell of different times"
    if is_negated(one.text) != is_negated(other.text):
        return "one of them denies what the other tells"
    lost = (*unsupported_literals(one.text, [other.text]), *unsupported_literals(other.text, [one.text]))
    if lost:
        return f"one of them alone holds {lost[0]!r}"
    return "" if telling(one.text) == telling(other.text) else "their wording differs"


def _days(unit: SummaryUnit) -> list[tuple[object, object]]:
    """The days that a unit names, counted from when it was said."""
    return [(found.first, found.last) for found in resolve_dates(unit.text, unit.said_at)]


def telling(text: str) -> tuple[str, ...]:
    """The words of a text as it has them, but for light ones, capitals and how it ends."""
    return tuple(word for word in fold_text(text).rstrip(" .!").split() if word not in _LIGHT)


def near_but_distinct(one: SummaryUnit, other: SummaryUnit, similarity: float, reason: str) -> NearUnits:
    """Two units that stay apart, and why."""
    return NearUnits(
        units=(one.id, other.id), texts=(one.text, other.text), similarity=similarity, reason=reason
    )
