"""Who may see whose, and which units everybody may."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType

from tiermem.ledger.folds.tiers import TiersFold
from tiermem.ledger.visibility import EVERYTHING_SEEN, Visibility
from tiermem.model import SummaryUnit, UnitId

ALL = "*"
"""In place of an agent's name: every agent's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """That `agent` may see what is of agent `to_see` (`"*"`: of every agent), and since when."""

    agent: str
    to_see: str
    at: datetime


class SharingFold(TiersFold):
    """The grants in force, the units that are shared, and the groups to whom units belong together."""

    def __init__(self) -> None:
        super().__init__()
        self._grants: dict[str, dict[str, Grant]] = {}
        self._shared: dict[UnitId, str] = {}
        self._once_shared: set[UnitId] = set()
        self._groups: dict[tuple[str, ...], None] = {}

    @property
    def grants(self) -> tuple[Grant, ...]:
        """The grants in force, those of one agent together, in the order they were given."""
        return tuple(grant for granted in self._grants.values() for grant in granted.values())

    @property
    def shared(self) -> Mapping[UnitId, str]:
        """The units that are shared, and why."""
        return MappingProxyType(self._shared)

    def may_see(self, agent: str, other: str) -> bool:
        """Whether a grant to `agent` that names `other`, an agent or `*`, is in force."""
        return other in self._grants.get(agent, ())

    def sees(self, agent: str | None, *, all_units: bool = False) -> Visibility:
        """What an agent sees now, or the owner; with `all_units`, every unit whosever it is."""
        if agent is None:
            return EVERYTHING_SEEN
        granted = self._grants.get(agent, {})
        return Visibility(
            agent=agent,
            agents=None if ALL in granted else frozenset((agent, *granted)),
            shared=self.shared,
            all_units=all_units,
            groups=tuple(self._groups),
        )

    def put_unit(self, unit: SummaryUnit, seq: int) -> None:
        """See `TiersFold.put_unit`; whose it is, is noted."""
        super().put_unit(unit, seq)
        if len(unit.agents) > 1:
            self._groups[unit.agents] = None

    def grant(self, agent: str, to_see: str, at: datetime) -> None:
        """An agent may see another one's."""
        grant = Grant(agent=agent, to_see=to_see, at=at)
        self._grants.setdefault(agent, {}).setdefault(to_see, grant)

    def revoke(self, agent: str, to_see: str) -> None:
        """It may no longer."""
        granted = self._grants.get(agent, {})
        granted.pop(to_see, None)
        if not granted:
            self._grants.pop(agent, None)

    def is_indexed(self, unit: SummaryUnit) -> bool:
        """Whether an index holds the words of the unit.

        An extract is found by its turn, unless it is or was shared with agents who may not see that.
        """
        return not unit.is_extract or unit.id in self._once_shared

    def share_units(self, unit_ids: Iterable[UnitId], reason: str, seq: int) -> None:
        """Units are everybody's from record `seq` on."""
        for unit_id in unit_ids:
            if unit_id not in self._shared:
                self._shared[unit_id] = reason
                self._once_shared.add(unit_id)
                self._touch(unit_id, seq)

    def unshare_units(self, unit_ids: Iterable[UnitId], seq: int) -> None:
        """They are no longer."""
        for unit_id in unit_ids:
            if self._shared.pop(unit_id, None) is not None:
                self._touch(unit_id, seq)
