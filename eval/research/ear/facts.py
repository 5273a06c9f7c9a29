"""The synthetic facts of HTM-EAR: one machine event each, a question about it, and how important it is."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

SEEDS: Final = (42, 43, 44, 45, 46)
IMPORTANT: Final = 0.95
ORDINARY: Final = 0.5
_REGIONS: Final = tuple(f"Region-{number}" for number in range(25))
_CAUSES: Final = (
    "Memory Overflow",
    "CPU Throttling",
    "Disk Saturation",
    "Kernel Panic",
    "I/O Wait",
    "OOM Killer",
)
_SERVICES: Final = ("Auth-Svc", "Inference-Engine", "Data-Lake", "API-Gateway", "Stream-Processor")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """How many facts are told, and what the two tiers hold."""

    name: str
    facts: int
    first: int
    second: int

    @property
    def active(self) -> range:
        """The newest facts, as the source takes them: 101 of them, not the 100 its text says."""
        return range(self.facts - 100, self.facts + 1)

    @property
    def history(self) -> range:
        """The first hundred facts."""
        return range(1, 101)


SCENARIOS: Final[Mapping[str, Scenario]] = {
    "A": Scenario(name="A", facts=3_000, first=500, second=5_000),
    "B": Scenario(name="B", facts=15_000, first=500, second=5_000),
    "C": Scenario(name="C", facts=5_000, first=1_000, second=14_000),
}


@dataclass(frozen=True, slots=True)
class Fact:
    """One event."""

    number: int
    region: str
    cause: str
    service: str

    @property
    def importance(self) -> float:
        """Every tenth fact and every panic is important."""
        return IMPORTANT if self.number % 10 == 0 or "Panic" in self.cause else ORDINARY

    @property
    def text(self) -> str:
        """What is remembered."""
        event = f"ENTRY {self.number}: {self.service} in {self.region} logged {self.cause}"
        return f"{event} at {self._subsystem}. Hex: 0x{self.number:04X}."

    @property
    def query(self) -> str:
        """What is asked; it names no number that is the fact's own."""
        event = f"the {self.cause} event in {self.region} involving {self.service}"
        return f"Retrieve the Hex Code for {event} at {self._subsystem}."

    @property
    def _subsystem(self) -> str:
        return f"Subsystem-{self.number % 1000}"


def facts_of(count: int, seed: int) -> list[Fact]:
    """The facts of one seed, numbered from 1; the draws are those of the source, in its order."""
    drawn = random.Random(seed)  # noqa: S311  (the source's own generator)
    return [
        Fact(number, drawn.choice(_REGIONS), drawn.choice(_CAUSES), drawn.choice(_SERVICES))
        for number in range(1, count + 1)
    ]
