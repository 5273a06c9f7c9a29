"""How units were used, and how answers turned out that rested on them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime

from tiermem.model import AnswerId, UnitId
from tiermem.salience import Judgement, Weight, weight_of

_UNJUDGED = Weight()


class SignalsFold:
    """The uses of every unit, and the judgements that move its weight, in the order of the log.

    A judgement moves the units that hold when it is given, and takes the place of an earlier one of the same
    answer: for a unit that does not hold then, the earlier one stays.
    """

    def __init__(self) -> None:
        super().__init__()
        self._uses: dict[UnitId, int] = {}
        self._last_used: dict[UnitId, datetime] = {}
        self._judged: dict[UnitId, dict[str, Judgement]] = {}
        self._weights: dict[UnitId, Weight] = {}
        self._judged_by: dict[str, tuple[UnitId, ...]] = {}

    def uses(self, unit_id: UnitId) -> int:
        """How many answers cited the unit."""
        return self._uses.get(unit_id, 0)

    def last_used(self, unit_id: UnitId) -> datetime | None:
        """When an answer last cited the unit."""
        return self._last_used.get(unit_id)

    def weight(self, unit_id: UnitId) -> float:
        """How answers turned out that rested on the unit: -1 to 1, 0 where nobody said."""
        return self._weights.get(unit_id, _UNJUDGED).value

    def judgements(self, unit_id: UnitId) -> tuple[Judgement, ...]:
        """The judgements that make up the unit's weight, in their order."""
        return tuple(self._judged.get(unit_id, {}).values())

    def use_units(self, unit_ids: Iterable[UnitId], at: datetime) -> None:
        """An answer cites some units."""
        for unit_id in unit_ids:
            self._uses[unit_id] = self.uses(unit_id) + 1
            self._last_used[unit_id] = max(at, self._last_used.get(unit_id, at))

    def judge(
        self,
        seq: int,
        answer_id: AnswerId | None,
        judged: Mapping[UnitId, Judgement],
        holds: Callable[[UnitId], bool],
    ) -> None:
        """Record `seq` says what came of an answer, or of sources, and whose that is."""
        key = f"record {seq}" if answer_id is None else answer_id
        before = self._judged_by.get(key, ())
        for unit_id in dict.fromkeys((*before, *judged)):
            if holds(unit_id):
                self._replace(unit_id, key, judged.get(unit_id))
        if answer_id is not None:
            units = dict.fromkeys((*before, *judged))
            self._judged_by[key] = tuple(one for one in units if key in self._judged.get(one, {}))

    def _replace(self, unit_id: UnitId, key: str, judgement: Judgement | None) -> None:
        """Put a judgement last, in place of the one that has its key."""
        own = self._judged.setdefault(unit_id, {})
        replaced = own.pop(key, None)
        if judgement is not None:
            own[key] = judgement
        if replaced is not None:
            self._weights[unit_id] = weight_of(own.values())
        elif judgement is not None:
            self._weights[unit_id] = self._weights.get(unit_id, _UNJUDGED).moved(judgement)
