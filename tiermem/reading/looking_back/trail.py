"""How what is known came to stand: a unit, what it replaced and what replaced it, each with its words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from pagestore import Page, PageId
from tiermem.ledger import Tier1
from tiermem.model import SummaryUnit, UnitId
from tiermem.reading.looking_back.audit import Standing, standings
from tiermem.salience import Judgement


@dataclass(frozen=True, slots=True, kw_only=True)
class Standpoint:
    """One unit of a trail. `holds` says whether recall shows it; if not, `because` says why.

    `outcomes` are the judgements that make up its weight, oldest first.
    """

    unit: SummaryUnit
    standing: tuple[Standing, ...]
    holds: bool
    state: Literal["holds", "superseded", "withdrawn"]
    superseded_by: tuple[UnitId, ...] = ()
    because: str | None = None
    outcomes: tuple[Judgement, ...] = ()


def related(tier1: Tier1, unit_id: UnitId) -> tuple[SummaryUnit, ...]:
    """Every unit that supersedes or is superseded, directly or through others, in order of creation."""
    beside: dict[UnitId, set[UnitId]] = {}
    for unit in tier1.all_units():
        for older in unit.supersedes:
            beside.setdefault(unit.id, set()).add(older)
            beside.setdefault(older, set()).add(unit.id)
    found, waiting = {unit_id}, [unit_id]
    while waiting:
        new = beside.get(waiting.pop(), set()) - found
        found |= new
        waiting += new
    return tuple(unit for unit in tier1.all_units() if unit.id in found)


def standpoint(tier1: Tier1, unit: SummaryUnit, pages: Mapping[PageId, Page], *, context: int) -> Standpoint:
    """How a unit stands now."""
    because, newer = tier1.retired_because(unit.id), tier1.superseded_by(unit.id)
    return Standpoint(
        unit=unit,
        standing=standings(unit.spans, pages, context=context),
        holds=tier1.is_active(unit.id),
        state="withdrawn" if because is not None else "superseded" if newer else "holds",
        superseded_by=newer,
        because=because,
        outcomes=tier1.judgements(unit.id),
    )
