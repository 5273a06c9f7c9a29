"""HTM-EAR on BGL's log lines: each line a fact, each question two of the names in it.

The source compares modes that differ in more than eviction. Here all modes are asked the same 200 questions,
names are drawn from a sorted list (the source draws from a set, whose order is another in every process),
and the gate may know the log's own names.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from eval.research.ear.facts import IMPORTANT, ORDINARY, Scenario
from eval.research.ear.search import RETURNED, entities
from tiermem.errors import InvalidInput

PATTERNS: Final = (
    re.compile(r"R\d+-M\d+"),
    re.compile(r"Node-\d+"),
    re.compile(r"FATAL|ERROR|panic"),
    re.compile(r"core\.\d+"),
    re.compile(r"0x[0-9a-fA-F]+"),
    re.compile(r"Kernel|Linux"),
)
"""What the source makes questions of; its gate does not know these."""
_ALARM: Final = re.compile(r"fatal|error|panic|fail", re.IGNORECASE)
_TEMPLATES: Final = (
    "Find the log entry containing {focus}",
    "Show me the system logs regarding {focus}",
    "What was the recorded error status involving {focus}?",
    "Retrieve the log entry with {focus}",
)
ASKED: Final = 200
PREDICTION: Final = (
    "Written before the first run: nothing is deleted in any mode (2,000 lines, room for 5,500), so eviction "
    "cannot tell the modes apart. The source's gap between `full` (.336) and `lru` (.069) is then the "
    "cross-encoder, which its `lru` switches off: `lru` with a cross-encoder comes out near `full`, and "
    "`full` without one near `lru`. Without a cross-encoder, on the same questions: `no_ce` and `lru` within "
    ".05 of each other, the unbounded memory within .05 of both; with the log's own names in gate and score "
    "all of them higher, and none above what names alone can tell."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of the log, the question made of it, and the names that question was made of."""

    number: int
    text: str
    importance: float
    query: str
    focus: tuple[str, ...]

    def named(self, *, own: bool) -> frozenset[str]:
        """The names in the line: the log's own, or what the source's engine sees."""
        return entities(self.text, PATTERNS) if own else entities(self.text)

    def asked(self, *, own: bool) -> frozenset[str]:
        """The names in the question: those it was made of, or what the source's engine sees."""
        return frozenset(self.focus) if own else entities(self.query)


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """The lines, which of them are asked for, and the digest of the file."""

    lines: tuple[Line, ...]
    asked: tuple[int, ...]
    checksum: str

    @property
    def scenario(self) -> Scenario:
        """The source's tiers over as many facts as there are lines."""
        return Scenario(name="BGL", facts=len(self.lines), first=500, second=5_000)


def read_log(path: Path, *, seed: int = 42) -> Log:
    """The lines of a log file with their questions, drawn by `seed`; `InvalidInput` when it has too few."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise InvalidInput(f"cannot read {str(path)!r}: {error}") from error
    drawn = random.Random(seed)  # noqa: S311  (the source's own generator)
    written = [text.strip() for text in raw.decode("utf-8", "replace").splitlines()]
    lines = tuple(_line(number, text, drawn) for number, text in enumerate(written, start=1) if text)
    if len(lines) < ASKED:
        raise InvalidInput(f"{str(path)!r} has {len(lines)} lines: {ASKED} are asked for")
    asked = tuple(drawn.sample([line.number for line in lines], ASKED))
    return Log(lines=lines, asked=asked, checksum=hashlib.sha256(raw).hexdigest())


def _line(number: int, text: str, drawn: random.Random) -> Line:
    there = sorted(entities(text, PATTERNS))
    focus = tuple(drawn.sample(there, min(2, len(there))))
    query = (
        drawn.choice(_TEMPLATES).format(focus=" and ".join(focus))
        if focus
        else f"Retrieve log entry {number}"
    )
    importance = IMPORTANT if _ALARM.search(text) else ORDINARY
    return Line(number=number, text=text, importance=importance, query=query, focus=focus)


def by_names_alone(lines: Sequence[Line], asked: Sequence[int]) -> float:
    """The MRR of whoever returns exactly the lines that hold all names of a question, in random order.

    A question without a name is as good as lost: 0.
    """
    named = {line.number: line.named(own=True) for line in lines}
    found = []
    for line in lines:
        if line.number in set(asked):
            ties = sum(set(line.focus) <= names for names in named.values()) if line.focus else 0
            found.append(sum(1 / rank for rank in range(1, min(RETURNED, ties) + 1)) / ties if ties else 0.0)
    return sum(found) / len(found)
