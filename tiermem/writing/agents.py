"""Names of agents: a new one must not look like one that is there."""

from __future__ import annotations

from collections.abc import Iterable

from tiermem.errors import InvalidInput
from tiermem.ledger import Ledger
from tiermem.text import fold_text


class AgentNames:
    """The names of the agents that have turns. Agents are compared exactly: each name is somebody else."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._names: set[str] | None = None

    async def check(self, names: Iterable[str | None]) -> None:
        """Raise `InvalidInput` for a new name that differs from a known one in case or Unicode form alone."""
        wanted = {name for name in names if name is not None}
        if self._names is None and wanted:
            sealed = [page.agent for page in await self._ledger.pages()]
            filling = [page.agent for page in await self._ledger.filling()]
            self._names = {agent for agent in (*sealed, *filling) if agent is not None}
        for name in sorted(wanted - (self._names or set())):
            self._add(name)

    def _add(self, name: str) -> None:
        known = self._names or set()
        similar = sorted(one for one in known if fold_text(one) == fold_text(name))
        if similar:
            raise InvalidInput(
                f"agent {name!r} differs from agent {similar[0]!r} in case or Unicode form alone: "
                f"write {similar[0]!r}, or choose another name"
            )
        self._names = {*known, name}
