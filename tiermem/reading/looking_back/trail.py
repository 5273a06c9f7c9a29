"""How what is known came to stand: a unit, what it replaced and what replaced it, each with its words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from pagestore import Page, PageId
from tiermem.ledger import Tier1
from tiermem.model import SummaryUnit, UnitId
from tiermem.reading.looking_back.audit import WordsOnPage, words_on_pages


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitHistory:
    """One unit of a trail. `holds` says whether recall shows it; if not, `because` says why."""

    unit: SummaryUnit
    words_on_page: tuple[WordsOnPage, ...]
    holds: bool
    state: Literal["holds", "superseded", "withdrawn"]
    superseded_by: tuple[UnitId, ...] = ()
    because: str | None = None


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


def unit_history(
    tier1: Tier1, unit: SummaryUnit, pages: Mapping[PageId, Page], *, context: int
) -> UnitHistory:
    """How a unit stands now."""
    because, newer = tier1.retired_because(unit.id), tier1.superseded_by(unit.id)
    return UnitHistory(
        unit=unit,
        words_on_page=words_on_pages(unit.spans, pages, context=context),
        holds=tier1.is_active(unit.id),
        state="withdrawn" if because is not None else "superseded" if newer else "holds",
        superseded_by=newer,
        because=because,
    )
