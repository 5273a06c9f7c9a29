"""The decision on one finding.

It goes with its unit; its finding, where the answer stays, is pending again. Its reason goes with the answer,
and with any unit that it was weighed against.
"""

from dataclasses import dataclass, field, replace

from pagestore import Record
from tiermem.ledger.folds import Folds
from tiermem.ledger.kind import Kind, LedgerEntry, Past, WhatGoes
from tiermem.ledger.kinds.spent import Spent
from tiermem.model import SummaryUnit, UnitId, Usage, WriteBack


@dataclass(frozen=True, slots=True, kw_only=True)
class WroteBack(LedgerEntry):
    """The decision on one finding. `unit` is the added or the merged one (same id, next revision).

    What findings cost together (verifying those of one answer) is in the first of them. `shown` are the
    units that were shown to the judgement with the fact.
    """

    write_back: WriteBack
    unit: SummaryUnit | None = None
    usage: Usage = field(default_factory=Usage)
    shown: tuple[UnitId, ...]


def _fold(entry: WroteBack, record: Record, folds: Folds) -> None:
    folds.pay(record.at, entry.usage)
    if entry.write_back.finding_id in folds.decisions:
        return
    folds.decide(entry.write_back)
    if entry.unit is not None:
        folds.put_unit(entry.unit, record.seq)


def _may_stay(entry: WroteBack, goes: WhatGoes, past: Past) -> LedgerEntry | None:
    decision, unit = entry.write_back, entry.unit
    spent = Spent(step="write-back", usage=entry.usage) if entry.usage.calls else None
    if goes.everything:
        return spent
    # The fact is of its answer's wording; a merged text and the reason are those of the judge of the units.
    astray = decision.finding_id not in past.findings_left
    weighed = not past.changed.isdisjoint(entry.shown)
    if unit is not None:
        left = goes.unit_left(unit, shown=astray or (weighed and decision.op == "UPDATE"))
        # The scene is that of the unit it was merged into.
        kept = past.keep_unit(unit, left, told_by=(unit.id, *entry.shown))
        if kept is None:
            return spent
        entry = replace(entry, unit=kept)
        weighed = weighed or unit.id in past.changed
    elif astray:
        return spent
    decision = replace(decision, superseded=past.left_of(decision.superseded))
    named = any(unit_id in decision.reason for unit_id in past.erased)
    if astray or weighed or named or goes.repeated_in([decision.reason]):
        decision = replace(decision, reason="")
    return replace(entry, write_back=decision, shown=past.left_of(entry.shown))


KIND = Kind(name="wrote-back", entry=WroteBack, fold=_fold, may_stay=_may_stay)
