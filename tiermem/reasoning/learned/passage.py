"""The passage a reader reads: the turns found best, each with who said it and on what day, one a line.

Training and use make it here and nowhere else. Of a long turn it holds the part that shares most words with
the question. A span of the passage's words is a span of one turn's words, character for character.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tiermem.reasoning.interface import SaidTurn
from tiermem.text import sentences, stems

READ: Final = 5
"""Turns read at once."""
LONGEST: Final = 400
"""Characters read of a turn."""
_CANDIDATES: Final = 60
"""Places in a long turn that are tried as a beginning, evenly drawn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRange:
    """The range of a turn's words in the passage (half open), and how far into the turn they begin."""

    start: int
    end: int
    offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingPassage:
    """The text, and the range of each turn's words in it, in the order given."""

    text: str
    lines: tuple[TurnRange, ...]


def passage_of(question: str, turns: Sequence[SaidTurn], *, longest: int = LONGEST) -> ReadingPassage:
    """The turns as one passage, in the order given, no more than are read at once; of each no more than
    `longest` characters.
    """
    parts: list[str] = []
    lines: list[TurnRange] = []
    length = 0
    for turn in turns[:READ]:
        header = f"{heading(turn)}: "
        offset = _beginning(question, turn.text, longest)
        words = turn.text[offset : offset + longest]
        start = length + len(header)
        lines.append(TurnRange(start=start, end=start + len(words), offset=offset))
        parts.append(f"{header}{words}\n")
        length += len(parts[-1])
    return ReadingPassage(text="".join(parts), lines=tuple(lines))


def heading(turn: SaidTurn) -> str:
    """Who, and the day if it is known: `Ann (8 May 2023)`."""
    said = turn.said_at
    return turn.speaker if said is None else f"{turn.speaker} ({said.day} {said:%b %Y})"


def _beginning(question: str, text: str, longest: int) -> int:
    """Where the part begins that shares most words with the question; of equals the first."""
    if len(text) <= longest:
        return 0
    asked = set(stems(question))
    starts = [piece.start for piece in sentences(text)] or [0]
    step = len(starts) // _CANDIDATES + 1
    return max(starts[::step], key=lambda at: (len(asked & set(stems(text[at : at + longest]))), -at))
