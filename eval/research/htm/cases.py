"""The cases that HTM's documents print, and the algorithm they print beside them, word for word.

The algorithm is the measure here, and no part of the library: least important first, among equals the oldest,
until enough tokens are free.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

_HOUR: Final = 1.0
_DAY: Final = 24.0


@dataclass(frozen=True, slots=True)
class WorkingMemoryItem:
    """A memory in the working memory: its age is in hours."""

    name: str
    importance: float
    age: float
    tokens: int = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A printed case: what is items, how many tokens are needed, and what is said to go.

    `ordered` is False where the source does not say in which order.
    """

    title: str
    items: tuple[WorkingMemoryItem, ...]
    needed: int
    printed: tuple[str, ...]
    ordered: bool = True
    remark: str = ""

    @property
    def gone(self) -> tuple[str, ...]:
        """Who goes by the algorithm, in order."""
        return tuple(one.name for one in evicted(self.items, self.needed))

    @property
    def holds(self) -> bool:
        """True where what is printed is what the algorithm does."""
        if self.ordered:
            return self.gone == self.printed
        return set(self.gone) == set(self.printed)


def order(items: Sequence[WorkingMemoryItem]) -> list[WorkingMemoryItem]:
    """Who goes first."""
    return sorted(items, key=lambda one: (one.importance, -one.age))


def evicted(items: Sequence[WorkingMemoryItem], needed: int) -> list[WorkingMemoryItem]:
    """Who goes until enough is free; all of them where that is not enough."""
    gone: list[WorkingMemoryItem] = []
    for one in order(items):
        if sum(other.tokens for other in gone) >= needed:
            break
        gone.append(one)
    return gone


def balanced(importance: float, hours: float) -> float:
    """HTM's score for a balanced context: importance over one plus the age in hours."""
    return importance / (1 + hours)


CASES: Final = (
    Case(
        title="the drawing, 5,000 tokens needed",
        items=(
            WorkingMemoryItem("random_note", 1.0, _HOUR, 2_000),
            WorkingMemoryItem("debug_log", 2.0, 2 * _DAY, 1_500),
            WorkingMemoryItem("temp_calc", 1.5, 5 * _DAY, 1_600),
            WorkingMemoryItem("user_pref", 8.0, 5 * _DAY, 100),
            WorkingMemoryItem("architecture_decision", 10.0, 3 * _DAY, 3_000),
        ),
        needed=5_000,
        printed=("random_note", "debug_log", "temp_calc"),
        ordered=False,
    ),
    Case(
        title="use case 1, 4,500 tokens needed",
        items=(
            WorkingMemoryItem("user_pref", 8.0, 5 * _DAY, 100),
            WorkingMemoryItem("random_note", 1.0, _HOUR, 2_000),
            WorkingMemoryItem("architecture_decision", 10.0, 3 * _DAY, 3_000),
            WorkingMemoryItem("debug_log", 2.0, 2 * _DAY, 1_500),
        ),
        needed=4_500,
        printed=("random_note", "debug_log"),
        remark="“Stop (4,500 > needed)” is printed at 3,500 tokens freed: it cannot stop there",
    ),
    Case(
        title="use case 2, equal importance, 2,000 tokens needed",
        items=(
            WorkingMemoryItem("note_1", 5.0, 5 * _DAY),
            WorkingMemoryItem("note_2", 5.0, 3 * _DAY),
            WorkingMemoryItem("note_3", 5.0, _HOUR),
        ),
        needed=2_000,
        printed=("note_1", "note_2"),
    ),
    Case(
        title="order example, all but the last",
        items=(
            WorkingMemoryItem("1.0, 5 days", 1.0, 5 * _DAY),
            WorkingMemoryItem("1.0, 1 hour", 1.0, _HOUR),
            WorkingMemoryItem("5.0, 5 days", 5.0, 5 * _DAY),
            WorkingMemoryItem("5.0, 1 hour", 5.0, _HOUR),
            WorkingMemoryItem("10.0, 5 days", 10.0, 5 * _DAY),
            WorkingMemoryItem("10.0, 1 hour", 10.0, _HOUR),
        ),
        needed=5_000,
        printed=("1.0, 5 days", "1.0, 1 hour", "5.0, 5 days", "5.0, 1 hour", "10.0, 5 days"),
    ),
    Case(
        title="the drawing's tiers, all but the last two",
        items=(
            WorkingMemoryItem("1.0, 5 days", 1.0, 5 * _DAY),
            WorkingMemoryItem("2.0, 3 days", 2.0, 3 * _DAY),
            WorkingMemoryItem("1.0, 1 hour", 1.0, _HOUR),
            WorkingMemoryItem("2.0, 30 min", 2.0, _HOUR / 2),
            WorkingMemoryItem("9.0, 30 days", 9.0, 30 * _DAY),
            WorkingMemoryItem("10.0, 90 days", 10.0, 90 * _DAY),
            WorkingMemoryItem("9.0, 1 hour", 9.0, _HOUR),
            WorkingMemoryItem("10.0, 5 min", 10.0, _HOUR / 12),
        ),
        needed=6_000,
        printed=(
            "1.0, 5 days",
            "2.0, 3 days",
            "1.0, 1 hour",
            "2.0, 30 min",
            "9.0, 30 days",
            "10.0, 90 days",
        ),
        remark="tiers by importance and age together are not what the sort does: all of importance 1 go "
        "before any of 2, however new",
    ),
)


@dataclass(frozen=True, slots=True)
class Score:
    """A printed score of a balanced context."""

    importance: float
    hours: float
    printed: float


SCORES: Final = (
    Score(1.0, 0.0, 1.0),
    Score(1.0, 1.0, 0.5),
    Score(1.0, 3.0, 0.25),
    Score(1.0, 24.0, 0.04),
    Score(7.0, 1 / 6, 42.0),
    Score(10.0, 72.0, 0.14),
    Score(6.0, 1.0, 3.0),
)
"""The decay table, then the three lines of the example context, in the order printed."""
EXAMPLE: Final = SCORES[4:]
