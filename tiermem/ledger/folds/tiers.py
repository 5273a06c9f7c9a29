"""Which units an index holds, the hot ones: all of them, or where a limit was set, no more than so many of
each owner. What an agent may not see makes none of its units cold.

The others are cold. A unit is hot again when it is changed, brought back or cited by an answer, and goes cold
only for room. What is hot at a record depends on nothing but the records up to it, so an index that is
rebuilt holds the same units, and one that is hot and moved by no later record was hot all the time since.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from tiermem.ledger.folds.signals import SignalsFold
from tiermem.ledger.folds.units import newer_than
from tiermem.model import SummaryUnit, UnitId
from tiermem.salience.tiers import Tier, worth


class TiersFold(SignalsFold):
    """Hot and cold units; without a limit all are hot."""

    def __init__(self) -> None:
        super().__init__()
        self._limit: int | None = None
        self._hot: dict[tuple[str, ...], Tier[UnitId]] = {}
        self._cold: dict[UnitId, None] = {}
        self._moved: dict[UnitId, int] = {}

    @property
    def hot_units(self) -> int | None:
        """The most units of one owner that are hot; `None` without a limit."""
        return self._limit

    @property
    def cold(self) -> Collection[UnitId]:
        """The units that an index does not hold, those first that went first."""
        return self._cold.keys()

    def is_cold(self, unit_id: UnitId) -> bool:
        """Whether an index does not hold this unit."""
        return unit_id in self._cold

    def moved_since(self, seq: int) -> tuple[UnitId, ...]:
        """The units that went cold or became hot again after record `seq`, oldest first."""
        return newer_than(self._moved, seq)

    def limit_hot_units(self, limit: int, seq: int) -> None:
        """From record `seq` on no more than `limit` of each owner are hot: those that a tier keeps."""
        if limit == self.hot_units:
            return
        before = set(self._cold)
        self._limit, self._hot, self._cold = limit, {}, {}
        for unit_id in self._units:
            self._take_in(unit_id)
        for unit_id in self._units:
            if (unit_id in before) != (unit_id in self._cold):
                self._move(unit_id, seq)

    def put_unit(self, unit: SummaryUnit, seq: int) -> None:
        """See `UnitsFold.put_unit`; the unit is hot."""
        super().put_unit(unit, seq)
        self._warm(unit.id, seq)

    def retire_units(self, unit_ids: Sequence[UnitId], reason: str, seq: int) -> None:
        """See `UnitsFold.retire_units`; what these had superseded and holds again is hot."""
        retired = [self.unit(unit_id) for unit_id in unit_ids if self.retired_because(unit_id) is None]
        super().retire_units(unit_ids, reason, seq)
        self.warm_units([older for unit in retired if unit is not None for older in unit.supersedes], seq)

    def reinstate_units(self, unit_ids: Sequence[UnitId], seq: int) -> None:
        """See `UnitsFold.reinstate_units`; what holds again is hot."""
        retired = [unit_id for unit_id in unit_ids if self.retired_because(unit_id) is not None]
        super().reinstate_units(unit_ids, seq)
        self.warm_units(retired, seq)

    def _worth_of(self, unit_id: UnitId) -> float:
        """What it is worth to be found by meaning; units that do not hold go first."""
        if not self.is_active(unit_id):
            return -1.0
        return worth(self.importance(self._units[unit_id]), self.uses(unit_id))

    def warm_units(self, unit_ids: Iterable[UnitId], seq: int) -> None:
        """Record `seq`, an answer that cites these units among others, makes those hot that hold."""
        for unit_id in filter(self.is_active, unit_ids):
            self._warm(unit_id, seq)

    def _warm(self, unit_id: UnitId, seq: int) -> None:
        """Have a unit hot, and note whom that moves."""
        tier = self._tier_of(unit_id)
        if tier is None or unit_id in tier:
            return
        if unit_id in self._cold:
            self._move(unit_id, seq)
        for left in self._take_in(unit_id):
            self._move(left, seq)

    def _take_in(self, unit_id: UnitId) -> tuple[UnitId, ...]:
        """Give a unit a place among the hot ones; those that leave for it are cold."""
        self._cold.pop(unit_id, None)
        tier = self._tier_of(unit_id)
        left = () if tier is None else tier.add(unit_id)
        self._cold.update(dict.fromkeys(left))
        return left

    def _tier_of(self, unit_id: UnitId) -> Tier[UnitId] | None:
        """The hot units of those to whom a unit belongs; `None` without a limit."""
        if self._limit is None:
            return None
        return self._hot.setdefault(self._units[unit_id].agents, Tier(self._limit, self._worth_of))

    def _move(self, unit_id: UnitId, seq: int) -> None:
        """Note the newest record that moved a unit; the mapping stays in order of moves."""
        self._moved.pop(unit_id, None)
        self._moved[unit_id] = seq
