"""What a row of the failure table is made of: shares of work, and what became of them."""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field


class Missing(Exception):
    """What the row needs is not here; its message says what."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """Cases `first` to `first + count - 1` of a row. `seed` differs from share to share and run to run."""

    seed: int
    first: int
    count: int

    @classmethod
    def of(cls, row: str, run: int, first: int, count: int) -> Share:
        """The share of a row in the run with seed `run`."""
        digest = hashlib.sha256(f"{run}/{row}/{first}".encode()).digest()
        return cls(seed=int.from_bytes(digest[:4], "big"), first=first, count=count)

    @property
    def cases(self) -> range:
        """The numbers of its cases within the row."""
        return range(self.first, self.first + self.count)

    def chance(self) -> random.Random:
        """Random choices that come out the same for the same share."""
        return random.Random(self.seed)


@dataclass(slots=True)
class Outcome:
    """How many cases were gone through, what broke a promise, and what else was counted on the way."""

    count: int = 0
    violations: Counter[str] = field(default_factory=Counter)
    seen: Counter[str] = field(default_factory=Counter)

    def add(self, other: Outcome) -> None:
        """Put what another share found to this."""
        self.count += other.count
        self.violations.update(other.violations)
        self.seen.update(other.seen)

    def demand(self, kept: bool, promise: str) -> None:
        """Count a violation unless the promise was kept."""
        if not kept:
            self.violations[promise] += 1


def in_words(counted: Counter[str]) -> str:
    """Counts in words, the largest first."""
    return "; ".join(f"{n:,} {name}" for name, n in counted.most_common())


Work = Callable[[Share], Outcome]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One promise: the failure it stands against, what is done to it, and how often.

    `work` is a function at the top of a module, so that other processes can be given it. `fixed` rows
    have as many cases as there are; scaling does not change them. After `minutes` of every processor in
    use no new share of the row is started any more.
    """

    name: str
    failure: str
    done: str
    unit: str
    count: int
    share: int
    work: Work
    fixed: bool = False
    minutes: float = 8.0
    note: Callable[[Counter[str]], str] | None = None
    """What is worth saying of the things counted on the way; by default all of them."""

    def shares(self, run: int, scale: float = 1.0) -> Iterator[Share]:
        """All shares of a run at a scale."""
        count = self.count if self.fixed else max(1, round(self.count * scale))
        for first in range(0, count, self.share):
            yield Share.of(self.name, run, first, min(self.share, count - first))
