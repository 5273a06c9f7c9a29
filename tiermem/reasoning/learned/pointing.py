"""Which words of each of some turns a reader takes for the likeliest answer, and how far these lead "none".

The turns are read five at once, but of each no more than `LONGEST` characters, so that ten take two readings
however long they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from tiermem.reasoning.interface import LikelyWords, SaidTurn
from tiermem.reasoning.learned.decode import best_span
from tiermem.reasoning.learned.passage import READ, passage_of
from tiermem.text import search_stems
from tiermem.text.words import ends_at_spaces

if TYPE_CHECKING:
    from tiermem.reasoning.learned.graph import LearnedReader

LONGEST: Final = 160
"""Characters read of a turn: five such turns with their names and days, and a question, are what is read at
once.
"""
FARTHEST: Final = 12.0
"""Logits beyond which a lead says no more."""
_KNOWN: Final = 2 * LONGEST
"""Characters of a turn from which most of it is not read."""
_ROW: Final = re.compile(r"[^\r\n]+")
_COLONS: Final = (":", "：")
_EDGES: Final = " \t\n.,;:!?\"'()[]{}“”„‘’«»。，！？；：「」『』（）"
"""What is left out at the ends of words."""


def point_at_words(reader: LearnedReader, question: str, turns: Sequence[SaidTurn]) -> list[LikelyWords]:
    """The likeliest words of each turn, with a lead from -`FARTHEST` to `FARTHEST`.

    Of a turn that is mostly not read, a low lead says nothing: it has at least the mean of all.
    """
    found = [
        words
        for start in range(0, len(turns), READ)
        for words in _point(reader, question, turns[start : start + READ])
    ]
    usual = sum(words.lead for words in found) / max(1, len(found))
    return [
        LikelyWords(start=words.start, end=words.end, lead=max(words.lead, usual))
        if len(turn.text) > _KNOWN
        else words
        for words, turn in zip(found, turns, strict=True)
    ]


def _point(reader: LearnedReader, question: str, turns: Sequence[SaidTurn]) -> Iterator[LikelyWords]:
    passage = passage_of(question, turns, longest=LONGEST)
    pieces = reader.pieces(question, passage.text)
    scores = reader.outputs(pieces)["span"]
    asked = frozenset(search_stems(question))
    for line, turn in zip(passage.lines, turns, strict=True):
        spans = [
            best_span(scores, *pieces.inside(*row))
            for row in _rows_to_point_at(asked, passage.text, line.start, line.end)
        ]
        best = max((span for span in spans if span is not None), key=lambda span: span.margin, default=None)
        if best is None:
            yield LikelyWords(start=0, end=0, lead=-FARTHEST)
            continue
        moved = line.offset - line.start
        first = pieces.offsets[best.start - pieces.second][0] + moved
        last = pieces.offsets[best.end - pieces.second][1] + moved
        start, end = _whole_words(turn.text, first, last)
        yield LikelyWords(start=start, end=end, lead=max(-FARTHEST, min(FARTHEST, best.margin)))


def _rows_to_point_at(asked: frozenset[str], text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The rows of `text[start:end]` with most of the stems that are asked for, each as its range.

    Rows of a list are about different things, so likely words are those of one row: of "Mia: 38" and
    "Tom: 44" the reader alone takes any number for Tom's. A row that ends in a colon is a heading, and is
    only taken where there is no other.
    """
    rows = [found.span() for found in _ROW.finditer(text, start, end)]
    rows = [row for row in rows if not text[slice(*row)].rstrip().endswith(_COLONS)] or rows
    shared = [len(asked.intersection(search_stems(text[slice(*row)]))) for row in rows]
    most = max(shared, default=0)
    return [row for row, count in zip(rows, shared, strict=True) if count == most]


def _whole_words(text: str, start: int, end: int) -> tuple[int, int]:
    """The range with what is at its ends whole, up to blanks, and without the marks around it.

    In scripts without spaces it is left as it is.
    """
    while 0 < start < len(text) and not text[start - 1].isspace() and not _is_unspaced(text[start - 1]):
        start -= 1
    while 0 < end < len(text) and not text[end].isspace() and not _is_unspaced(text[end]):
        end += 1
    words = text[start:end]
    left, right = len(words) - len(words.lstrip(_EDGES)), len(words.rstrip(_EDGES))
    return (start + left, start + right) if left < right else (start, start)


def _is_unspaced(character: str) -> bool:
    return character.isalnum() and not ends_at_spaces(character)
