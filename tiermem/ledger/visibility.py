"""Who looks, and what of a space that one may see: the one rule of what agents keep from each other. Pure.

- What belongs to no agent is everybody's.
- What belongs to one agent, or to several together, is seen by those who may see all of them.
- A unit that was shared is everybody's too; the words that it rests on are not.
- An answer belongs to who asked: one that was asked by no agent is seen by none.

No agent, the owner of the space, sees everything.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterable
from dataclasses import dataclass

from pagestore import Page, PageInfo, Turn
from pagestore.values import OpenInfo
from tiermem.ledger.folds.answers import AnswerInfo
from tiermem.model import SummaryUnit, UnitId


@dataclass(frozen=True, slots=True, kw_only=True)
class Visibility:
    """What `agent` may see, the owner where there is none: what is of no agent, and what is of `agents`.

    `agents` is `None` where it sees those of every agent. `shared` are the units that were shared, and with
    `all_units` all are. `groups` are the several agents to whom some unit belongs together.
    """

    agent: str | None = None
    agents: frozenset[str] | None = None
    shared: Container[UnitId] = ()
    all_units: bool = False
    groups: tuple[tuple[str, ...], ...] = ()

    @property
    def all(self) -> bool:
        """Whether nothing is kept from it."""
        return self.agent is None

    def includes(self, agents: Iterable[str | None]) -> bool:
        """Whether what belongs to these agents together may be seen."""
        return self.agents is None or all(one is None or one in self.agents for one in agents)

    def turn(self, turn: Turn) -> bool:
        """Whether the turn may be seen."""
        return self.includes((turn.agent,))

    def page(self, page: Page | PageInfo | OpenInfo) -> bool:
        """Whether the page, with its turns, may be seen."""
        return self.includes((page.agent,))

    def unit(self, unit: SummaryUnit) -> bool:
        """Whether the unit, as it reads, may be seen."""
        return self.all_units or unit.id in self.shared or self.includes(unit.agents)

    def answer(self, answer: AnswerInfo) -> bool:
        """Whether it is known that the answer was given, and to which question."""
        return self.all or (answer.agent is not None and self.includes((answer.agent,)))

    def owns(self, agents: Iterable[str | None]) -> bool:
        """Whether what belongs to these agents is this one's alone, to be changed by it."""
        return self.all or set(agents) == {self.agent}

    @property
    def owners(self) -> frozenset[str] | None:
        """Whose turns and pages an index is to find, besides those without an owner; `None` for all."""
        if self.agents is None:
            return None
        seen = (group for group in self.groups if self.includes(group))
        return frozenset(map(owner_of, (*((one,) for one in self.agents), *seen)))

    @property
    def owners_of_units(self) -> frozenset[str] | None:
        """The same of units."""
        return None if self.all_units else self.owners


EVERYTHING_SEEN = Visibility()
"""What the owner sees."""


def owner_of(agents: Iterable[str]) -> str:
    """The one name under which an index knows what belongs to these agents together."""
    return json.dumps(sorted(set(agents)), ensure_ascii=True)
