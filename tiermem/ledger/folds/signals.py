"""How units were used, and how answers turned out that rested on them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from pagestore import Span
from tiermem.ledger.folds.turns import TurnJudgement, TurnsFold
from tiermem.model import AnswerId, SummaryUnit, UnitId
from tiermem.salience import Judgement, Weight, promote, promotion, weight_of

_UNJUDGED = Weight()


class SignalsFold(TurnsFold):
    """The uses of every unit, and the judgements that move its weight, in the order of the log.

    A judgement moves the units that hold when it is given, and takes the place of an earlier one of the same
    answer: for a unit that does not hold then, the earlier one stays. A merged unit has the uses and the
    judgements of all that were merged into it, and these hold as long as it does. A unit inherits the uses
    and the judgements of the turns that it rests on.
    """

    def __init__(self) -> None:
        super().__init__()
        self._used_by: dict[UnitId, dict[AnswerId, None]] = {}
        self._last_used: dict[UnitId, datetime] = {}
        self._judged: dict[UnitId, dict[str, tuple[int, Judgement]]] = {}
        self._weights: dict[UnitId, Weight] = {}
        self._judged_by: dict[str, tuple[UnitId, ...]] = {}

    def uses(self, unit_id: UnitId) -> int:
        """How many answers cited the unit, one merged into it, or words that these rest on."""
        all_of_them = (unit_id, *self.merged_units(unit_id))
        answers: set[AnswerId] = set()
        return len(
            answers.union(
                *(self._used_by.get(one, ()) for one in all_of_them), *map(self.turn_citations, all_of_them)
            )
        )

    def last_used(self, unit_id: UnitId) -> datetime | None:
        """When an answer last cited the unit, one merged into it, or words that these rest on."""
        all_of_them = (unit_id, *self.merged_units(unit_id))
        by_unit = [self._last_used[one] for one in all_of_them if one in self._last_used]
        by_turn = [at for one in all_of_them for at in self.turn_citations(one).values()]
        return max((*by_unit, *by_turn), default=None)

    def weight(self, unit_id: UnitId) -> float:
        """How answers turned out that rested on the unit: -1 to 1, 0 where that is not known."""
        if self.merged_units(unit_id) or self.turn_judgements(unit_id):
            return weight_of(self.judgements(unit_id)).value
        return self._weights.get(unit_id, _UNJUDGED).value

    def promotion(self, unit_id: UnitId) -> str | None:
        """Why the unit matters more than its maker thought; `None` where it does not, or was withdrawn."""
        withdrawn = self.retired_because(unit_id) is not None
        return None if withdrawn else promotion(self.uses(unit_id), self.weight(unit_id))

    def importance(self, unit: SummaryUnit) -> float:
        """How much the unit matters, 0 to 1: as its maker judged, and more while it is promoted."""
        return unit.importance if self.promotion(unit.id) is None else promote(unit.importance)

    def judgements(self, unit_id: UnitId) -> tuple[Judgement, ...]:
        """The judgements that make up the unit's weight, in their order."""
        all_of_them = (*self.merged_units(unit_id), unit_id)
        judged = [((seq, -1), one) for of in all_of_them for seq, one in self._judged.get(of, {}).values()]
        inherited = {place: one for of in all_of_them for place, one in self.turn_judgements(of).items()}
        ordered = sorted((*judged, *inherited.items()), key=lambda one: one[0])
        return tuple(judgement for _, judgement in ordered)

    def use_units(self, answer_id: AnswerId, unit_ids: Iterable[UnitId], at: datetime) -> None:
        """An answer cites some units."""
        for unit_id in unit_ids:
            self._used_by.setdefault(unit_id, {})[answer_id] = None
            self._last_used[unit_id] = max(at, self._last_used.get(unit_id, at))

    def judge(
        self,
        seq: int,
        answer_id: AnswerId | None,
        judged: Mapping[UnitId, Judgement],
        turns: Sequence[tuple[tuple[Span, ...], Judgement]] = (),
    ) -> None:
        """Record `seq` says what came of an answer, or of sources, and whose that is: units', and turns'."""
        key = f"record {seq}" if answer_id is None else answer_id
        of_turns = (
            TurnJudgement(seq=seq, place=place, spans=spans, judgement=judgement)
            for place, (spans, judgement) in enumerate(turns)
        )
        self.put_turn_judgements(key, tuple(of_turns))
        before = self._judged_by.get(key, ())
        for unit_id in dict.fromkeys((*before, *judged)):
            if self._counts(unit_id):
                self._replace(unit_id, key, seq, judged.get(unit_id))
        if answer_id is not None:
            units = dict.fromkeys((*before, *judged))
            self._judged_by[key] = tuple(one for one in units if key in self._judged.get(one, {}))

    def _counts(self, unit_id: UnitId) -> bool:
        """Whether the unit holds, or one that it was merged into does."""
        while not self.is_active(unit_id):
            merged = self.merged_into(unit_id)
            if merged is None:
                return False
            unit_id, _ = merged
        return True

    def _replace(self, unit_id: UnitId, key: str, seq: int, judgement: Judgement | None) -> None:
        """Put a judgement last, in place of the one that has its key."""
        own = self._judged.setdefault(unit_id, {})
        replaced = own.pop(key, None)
        if judgement is not None:
            own[key] = (seq, judgement)
        if replaced is not None:
            self._weights[unit_id] = weight_of(judged for _, judged in own.values())
        elif judgement is not None:
            self._weights[unit_id] = self._weights.get(unit_id, _UNJUDGED).with_judgement(judgement)
