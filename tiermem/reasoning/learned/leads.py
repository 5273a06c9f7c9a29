"""How likely each of some turns holds the answer, by a reader: the lead of its best words.

The turns are read as answers are read from them, five at once, but less of each, so that ten take two
readings however long they are. The lead is that of the likeliest words over "there is no answer", in logits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from tiermem.reasoning.learned.calibration import FARTHEST
from tiermem.reasoning.learned.decode import best_span
from tiermem.reasoning.learned.passage import READ, passage_of
from tiermem.text.histories import SaidTurn

if TYPE_CHECKING:
    from tiermem.reasoning.learned.graph import LearnedReader

LONGEST: Final = 160
"""Characters read of a turn: five such turns with their names and days, and a question, are what is read at
once.
"""
_KNOWN: Final = 2 * LONGEST
"""Characters of a turn from which most of it is not read."""


def leads(reader: LearnedReader, question: str, turns: Sequence[SaidTurn]) -> list[float]:
    """One number a turn, from -`FARTHEST` to `FARTHEST`. Of a turn that is mostly not read, a low lead says
    nothing: it has at least the mean of all.
    """
    found = [
        lead
        for start in range(0, len(turns), READ)
        for lead in _leads(reader, question, turns[start : start + READ])
    ]
    usual = sum(found) / max(1, len(found))
    return [
        max(lead, usual) if len(turn.text) > _KNOWN else lead for lead, turn in zip(found, turns, strict=True)
    ]


def _leads(reader: LearnedReader, question: str, turns: Sequence[SaidTurn]) -> Iterator[float]:
    passage = passage_of(question, turns, longest=LONGEST)
    pieces = reader.pieces(question, passage.text)
    scores = reader.outputs(pieces)["span"]
    for line in passage.lines:
        best = best_span(scores, *pieces.inside(line.start, line.end))
        yield max(-FARTHEST, min(FARTHEST, best.margin)) if best is not None else -FARTHEST
