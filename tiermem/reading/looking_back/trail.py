"""The history of a unit: what it replaced and what replaced it, each with its words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from pagestore import Page, PageId
from tiermem.ledger import Tier1
from tiermem.model import SummaryUnit, UnitId
from tiermem.reading.looking_back.audit import WordsOnPage, words_on_pages
from tiermem.salience import Judgement

State = Literal["holds", "superseded", "merged", "withdrawn", "in_parts"]


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitHistory:
    """One unit of a trail. `holds` says whether recall shows it; if not, `because` says why.

    One that was `merged` says the same as the unit that replaced it (the first of `superseded_by`). A whole
    turn that was restored is `in_parts` where there are units of parts of it.
    `outcomes` are the judgements that make up its weight, oldest first,
    and `promoted` says why it matters more than its maker judged, where they make it.
    """

    unit: SummaryUnit
    words_on_page: tuple[WordsOnPage, ...]
    holds: bool
    state: State
    superseded_by: tuple[UnitId, ...] = ()
    because: str | None = None
    outcomes: tuple[Judgement, ...] = ()
    promoted: str | None = None


def related_units(tier1: Tier1, unit_id: UnitId) -> tuple[SummaryUnit, ...]:
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
    """The state of a unit now."""
    withdrawn, newer = tier1.retired_because(unit.id), tier1.superseded_by(unit.id)
    because, merged = withdrawn, tier1.merged_into(unit.id)
    if withdrawn is None and merged is not None:
        because, newer = merged[1], (merged[0], *(one for one in newer if one != merged[0]))
    return UnitHistory(
        unit=unit,
        words_on_page=words_on_pages(unit.spans, pages, context=context),
        holds=tier1.is_active(unit.id),
        state=_state(
            withdrawn=withdrawn is not None,
            merged=merged is not None,
            superseded=bool(newer),
            is_in_parts=tier1.is_in_parts(unit.id),
        ),
        superseded_by=newer,
        because=because,
        outcomes=tier1.judgements(unit.id),
        promoted=tier1.promotion(unit.id),
    )


def _state(*, withdrawn: bool, merged: bool, superseded: bool, is_in_parts: bool) -> State:
    if withdrawn:
        return "withdrawn"
    if merged or superseded:
        return "merged" if merged else "superseded"
    return "in_parts" if is_in_parts else "holds"
