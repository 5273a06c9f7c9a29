"""What a reader answers: words of one turn, or the day that they mean; and the best words of other turns.

It points at places in the turns it was given, so its answer appears there character for character. A day
is worked out by rules from the words pointed at and the time of their turn.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING, Final

from tiermem.reasoning.learned.changes import choose_by_time
from tiermem.reasoning.learned.decode import BestSpan, best_spans
from tiermem.reasoning.learned.fitting import NOTHING, ExpectedAnswer, expected_answer
from tiermem.reasoning.learned.passage import (
    READ,
    ReadingPassage,
    Words,
    passage_of,
)
from tiermem.reasoning.learned.pieces import Pieces
from tiermem.reasoning.rules.extract import date_words
from tiermem.text import stems
from tiermem.text.dates import resolve_dates
from tiermem.text.histories import SaidTurn

if TYPE_CHECKING:
    from tiermem.reasoning.learned.graph import LearnedReader

_TRIED: Final = 40
"""Spans of a turn that are looked at, from the best on."""
_SPREAD: Final = 1.5
"""What leads are divided by before they weigh spans of a turn against each other: decision 59."""
_LISTED_WITHIN: Final = 3.0
"""How far behind the best words (in logits) those of another turn may be to be listed with them."""
_WHOLE: Final = re.compile(r"\d{1,20}(?:[.,:/]\d{1,20}){1,4}|\w{1,60}")
"""Words and numbers, which no answer cuts in two."""
_EDGES: Final = " \t\n.,;:!?\"'"
"""What is left out at the ends of words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PointedAt:
    """The best words and, where a day is asked for, `day`, which they mean. `others` are the best of each
    other turn, best first; `suffices` is what the head for that says of the whole passage; `ahead` how far
    the best lead the others that do not lead them (infinite where there are none).

    `own` is how far the best words of the person asked about lead the best of another speaker, from which
    nothing is subtracted here; infinite where only that person speaks or no one is asked about, and less than
    0 where the other leads. `theirs` is the share of turns that others say. `is_clear` is `False` if
    other words may hold at the time that is asked for.
    """

    best: Words
    day: str
    others: tuple[Words, ...]
    suffices: float
    own: float = inf
    theirs: float = 0.0
    is_clear: bool = True

    @property
    def text(self) -> str:
        """The answer where one thing is asked for."""
        return self.day or self.best.text

    @property
    def margin(self) -> float:
        """How far the answer leads "there is none", in logits."""
        return self.best.margin

    @property
    def ahead(self) -> float:
        """How far it leads the best words of any other turn, in logits, except words that it replaces."""
        margins = (words.margin for words in self.others)
        return min((self.margin - other for other in margins if other <= self.margin), default=inf)

    @property
    def is_replacing(self) -> bool:
        """Whether other words lead it, and it is chosen since it holds at the time that is asked for."""
        return any(words.margin > self.margin for words in self.others)

    @property
    def listed(self) -> tuple[Words, ...]:
        """The answer where several things are asked for: of each turn the words that come near the best, and
        none that only repeat others.
        """
        kept: list[Words] = []
        for one in (self.best, *self.others):
            said = set(stems(one.text))
            near = one.margin >= self.best.margin - _LISTED_WITHIN
            if near and not any(said <= set(stems(other.text)) for other in kept):
                kept.append(one)
        return tuple(kept)


def point(reader: LearnedReader, question: str, turns: Sequence[SaidTurn]) -> PointedAt | None:
    """The likeliest answer in the turns, best first; `None` where they hold no words that can be one."""
    passage = passage_of(question, turns)
    pieces = reader.pieces(question, passage.text)
    made = reader.outputs(pieces)
    asked = expected_answer(question, [turn.speaker for turn in turns[:READ]])
    against = [asked.against_turn(turn) for turn in turns[:READ]]
    found = []
    for number, line in enumerate(passage.lines):
        spans = best_spans(made["span"], *pieces.inside(line.start, line.end), count=_TRIED)
        placed = [(span.margin, *_characters(passage, pieces, number, span)) for span in spans]
        candidates = list(_weigh(asked, turns[number], number, placed, against[number]))
        found += [choose_by_agreement(candidates)] if candidates else []
    if not found:
        return None
    first, *rest = sorted(found, key=lambda words: (-words.margin, words.turn))
    chosen = choose_by_time(question, asked, (first, *rest), turns)
    best = chosen or first
    others = [words for words in (first, *rest) if words is not best]
    return PointedAt(
        best=best,
        day=_day(turns[best.turn], best) if asked.day else "",
        others=tuple(others),
        suffices=float(made["suffices"][0]),
        own=_own(found, against),
        theirs=sum(loss > 0 for loss in against) / len(against),
        is_clear=chosen is not None,
    )


def _own(found: Sequence[Words], against: Sequence[float]) -> float:
    """How far the best words of turns that nothing speaks against lead the best of the others."""
    mine = max((words.margin for words in found if not against[words.turn]), default=-inf)
    other = max((words.margin + against[words.turn] for words in found if against[words.turn]), default=-inf)
    return inf if other == -inf else mine - other


def choose_by_agreement(candidates: Sequence[Words]) -> Words:
    """Of likely words of one turn those that have most in common with all of them, each counted by its lead:
    not the likeliest, which are often a word too short or too long.

    In common is twice the characters in both over the characters of both (F1). The expected best, and not the
    likeliest, is what minimum Bayes risk decoding chooses (Kumar and Byrne, 2004).
    """
    import numpy as np

    leads = np.array([words.margin for words in candidates])
    starts = np.array([words.start for words in candidates])
    ends = np.array([words.end for words in candidates])
    weights = np.exp((leads - leads.max()) / _SPREAD)
    shared = np.minimum(ends[:, None], ends) - np.maximum(starts[:, None], starts)
    lengths = ends - starts
    common = 2 * np.clip(shared, 0, None) / (lengths[:, None] + lengths)
    chosen = candidates[int((common @ weights).argmax())]
    return replace(chosen, margin=float(leads.max()))


def _weigh(
    asked: ExpectedAnswer,
    turn: SaidTurn,
    number: int,
    placed: Iterable[tuple[float, int, int]],
    loss: float,
) -> Iterator[Words]:
    """What of the likely words of a turn may be an answer, each with what speaks against it subtracted."""
    whole = [match.span() for match in _WHOLE.finditer(turn.text)]
    for lead, first, last in placed:
        start, end = _trim(turn.text, _around(whole, first)[0], _around(whole, last)[1])
        against = asked.against(turn.text, start, end)
        if start < end and against < NOTHING:
            margin = lead - against - loss
            yield Words(text=turn.text[start:end], turn=number, start=start, end=end, margin=margin)


def _around(whole: Sequence[tuple[int, int]], place: int) -> tuple[int, int]:
    """The word or number that this place would cut in two, or the place itself."""
    before = bisect_left(whole, (place,))
    inside = before > 0 and whole[before - 1][1] > place
    return whole[before - 1] if inside else (place, place)


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    words = text[start:end]
    return start + len(words) - len(words.lstrip(_EDGES)), end - len(words) + len(words.rstrip(_EDGES))


def _characters(passage: ReadingPassage, pieces: Pieces, number: int, best: BestSpan) -> tuple[int, int]:
    moved = passage.lines[number].offset - passage.lines[number].start
    start = pieces.offsets[best.start - pieces.second][0]
    end = pieces.offsets[best.end - pieces.second][1]
    return start + moved, end + moved


def _day(said: SaidTurn, words: Words) -> str:
    """The day that is meant: the date nearest the words, else the day of saying it, else the words."""
    mentions = resolve_dates(said.text, said.said_at)
    if mentions:
        nearest = min(mentions, key=lambda one: max(one.start - words.end, words.start - one.end, 0))
        return date_words(nearest, said.said_at)
    if said.said_at is None:
        return words.text
    return f"{said.said_at.day} {said.said_at:%B %Y}"
