"""What a reader answers: the words of one turn, or the day that they mean.

It points at a place in the turns it was given, so what it says stands there character for character. A day
is worked out by rules from the words pointed at and the time of their turn.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Final

from tiermem.reasoning.learned.decode import BestSpan, best_span
from tiermem.reasoning.learned.passage import READ, ReadingPassage, SpokenTurn, TurnLine, passage_of
from tiermem.reasoning.learned.pieces import Pieces
from tiermem.text.dates import resolve_dates
from tiermem.text.literals import names

if TYPE_CHECKING:
    from tiermem.reasoning.learned.graph import LearnedReader

_WHEN: Final = re.compile(
    r"(?:when\b|(?:on |in |since )?(?:what|which) (?:date|day|month|year)\b)", re.IGNORECASE
)
_NOT_THE_ONE: Final = 4.0
"""What a lead loses where the question names another of the speakers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PointedAt:
    """The answer, and where its words stand: `start` to `end` of the text of a turn, by its place in the
    list. `margin` is how far they lead "there is no answer" (in logits), less where somebody else is asked
    about; `suffices` what the head for that says of the whole passage; `ahead` how far they lead the best
    words of any other turn (infinite where there are none).
    """

    text: str
    turn: int
    start: int
    end: int
    margin: float
    suffices: float
    ahead: float


def point(reader: LearnedReader, question: str, turns: Sequence[SpokenTurn]) -> PointedAt | None:
    """The likeliest answer in the turns, best first; `None` where they hold no words that can be one."""
    passage = passage_of(question, turns)
    pieces = reader.pieces(question, passage.text)
    made = reader.outputs(pieces)
    found = [
        (number, best)
        for number, line in enumerate(passage.lines)
        if (best := best_span(made["span"], *_range(pieces, line))) is not None
    ]
    weighed = [(best.margin - _penalty(question, turns, number), number, best) for number, best in found]
    if not weighed:
        return None
    (margin, number, best), *others = sorted(weighed, key=lambda one: (-one[0], one[1]))
    start, end = _characters(passage, pieces, number, best)
    said = turns[number]
    return PointedAt(
        text=_day(said, start, end) if asks_for_day(question) else said.text[start:end],
        turn=number,
        start=start,
        end=end,
        margin=margin,
        suffices=float(made["suffices"][0]),
        ahead=margin - others[0][0] if others else inf,
    )


def asks_for_day(question: str) -> bool:
    """Whether a date is asked for."""
    return _WHEN.match(question.strip()) is not None


def _range(pieces: Pieces, line: TurnLine) -> tuple[int, int]:
    """The pieces that are of a turn's words."""
    inside = [
        number for number, (start, end) in enumerate(pieces.offsets) if line.start <= start < end <= line.end
    ]
    return (pieces.second + inside[0], pieces.second + inside[-1] + 1) if inside else (0, 0)


def _characters(passage: ReadingPassage, pieces: Pieces, number: int, best: BestSpan) -> tuple[int, int]:
    moved = passage.lines[number].offset - passage.lines[number].start
    start = pieces.offsets[best.start - pieces.second][0]
    end = pieces.offsets[best.end - pieces.second][1]
    return start + moved, end + moved


def _penalty(question: str, turns: Sequence[SpokenTurn], number: int) -> float:
    """Against a turn of somebody else than the one speaker whom the question names."""
    speakers = {turn.speaker.lower() for turn in turns[:READ]}
    asked = {part.lower() for name in names(question) for part in (name, *name.split())} & speakers
    other = len(asked) == 1 and turns[number].speaker.lower() not in asked
    return _NOT_THE_ONE if other else 0.0


def _day(said: SpokenTurn, start: int, end: int) -> str:
    """The day that is meant: the date nearest the words, else the day of saying it, else the words."""
    mentions = resolve_dates(said.text, said.said_at)
    if mentions:
        nearest = min(mentions, key=lambda one: max(one.start - end, start - one.end, 0))
        return nearest.display
    if said.said_at is None:
        return said.text[start:end]
    return f"{said.said_at.day} {said.said_at:%B %Y}"
