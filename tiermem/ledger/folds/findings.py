"""Findings that wait to be written back, and what became of the others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from tiermem.model import Finding, FindingId, WriteBack


class FindingsFold:
    """Every finding, pending or decided on; the first decision on one counts."""

    def __init__(self) -> None:
        super().__init__()
        self._pending: dict[FindingId, Finding] = {}
        self._decisions: dict[FindingId, WriteBack] = {}

    @property
    def pending(self) -> Mapping[FindingId, Finding]:
        """Findings that are not decided on yet, oldest first."""
        return MappingProxyType(self._pending)

    @property
    def decisions(self) -> Mapping[FindingId, WriteBack]:
        """What became of every decided finding, SKIP included."""
        return MappingProxyType(self._decisions)

    def put_findings(self, findings: Iterable[Finding]) -> None:
        """Findings wait for a decision, where none was made."""
        for finding in findings:
            if finding.id not in self._decisions:
                self._pending.setdefault(finding.id, finding)

    def decide(self, decision: WriteBack) -> None:
        """A finding is decided on."""
        self._decisions[decision.finding_id] = decision
        self._pending.pop(decision.finding_id, None)
