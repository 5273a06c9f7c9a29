"""What was said about a question: at most three turns in their own words.

A line is a turn, or the part of a long one around the sentence that fits the question best. It does not run
over a line break: rows of a list are about different things. The best line is first, the others are in the
order in which they were said. Nothing is worded and nothing is concluded here. A later line is displayed as
later, unless it is less trusted, and is not put first: it may be about something else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import count

from pagestore import PageLine, Span
from tiermem.model import Citation, CitedSentence, Degradation, Order
from tiermem.reading.passages import cut_sentences
from tiermem.reading.quoting import words
from tiermem.reading.search import LookUp
from tiermem.reading.turns import FoundTurn
from tiermem.reasoning.interface import LikelyWords, PointAtTurns
from tiermem.text import search_stems
from tiermem.text.dates import timestamp
from tiermem.text.long_runs import blank_runs
from tiermem.text.question import Question
from tiermem.text.taken_back import LEFT_OUT, kept_spans
from tiermem.text.unicode import replace_surrogates
from tiermem.text.withheld import without_unsearched
from tiermem.trust import TrustLevels

MOST_LINES = 3
"""Lines that are given; three hold the answer to more questions than one (docs/results/probability.md)."""
LONGEST_LINE = 240
"""Characters of a turn in a line."""
LONGEST_NEXT = 160
"""Characters of what was said next."""
_RANKED = 10
"""Turns that the lines are chosen from, the best by search."""
_FAR_BEHIND = 6.0
"""A line that is older than the first and this much below it by score is left out."""
_LINE_BREAK = re.compile(r"[\r\n]")
_SOON = timedelta(hours=1)
"""How long after a line something was said next; the same holds for turns without a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidLines:
    """Lines, best first, and what could not run as meant.

    `probability` is that of the first line holding what is asked for, `None` where it is not known.
    `is_likely` says that it is high enough for the risk that was chosen.
    """

    lines: tuple[CitedSentence, ...] = ()
    citations: tuple[Citation, ...] = ()
    probability: float | None = None
    is_likely: bool = False
    degradations: tuple[Degradation, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _RankedTurn:
    """A turn, the text that may be read of it, the place of its best sentence, and the words to be marked."""

    turn: FoundTurn
    score: float
    text: str
    best: tuple[int, int]
    marked: tuple[int, int] | None = None


async def find_lines(question: Question, lookup: LookUp, point: PointAtTurns | None = None) -> SaidLines:
    """The lines for a question, of turns that the view of `lookup` shows.

    They are in the order of the scores by `point`; without it, or where it tells nothing, of the search.
    """
    found = await lookup.turns(question, limit=_RANKED)
    turns = found.turns
    texts = [readable_text(turn) for turn in turns]
    said = [replace(turn.said_turn(), text=text) for turn, text in zip(turns, texts, strict=True)]
    pointed = await point(question, said, [turn.score for turn in turns]) if point is not None else None
    asked = frozenset(search_stems(question.text))
    ranked = [_by_words(turn, text, asked) for turn, text in zip(turns, texts, strict=True)]
    if pointed is not None:
        scored = zip(ranked, pointed.words, pointed.scores, strict=True)
        ranked = [_by_likely_words(*one) for one in scored]
    chosen = choose_lines(ranked, lookup.view.trust)
    lines = tuple(_as_lines(chosen, lookup.view.trust))
    return SaidLines(
        lines=lines,
        citations=tuple(map(_cite_line, count(1), chosen, lines)),
        probability=pointed.probability if pointed is not None else None,
        is_likely=pointed is not None and pointed.is_likely,
        degradations=found.degradations,
    )


def _by_words(turn: FoundTurn, text: str, asked: frozenset[str]) -> _RankedTurn:
    """The turn with its score of the search; its best sentence shares most words with the question.

    It is no run of encoded data and no heading (a sentence that ends in a colon) where there is any other.
    """
    pieces = list(cut_sentences(text, longest=LONGEST_LINE)) or [(0, len(text))]
    blanked = blank_runs(text)
    pieces = [piece for piece in pieces if _is_readable(blanked[slice(*piece)])] or pieces
    pieces = [piece for piece in pieces if not text[slice(*piece)].endswith((":", "："))] or pieces
    best = max(pieces, key=lambda piece: len(asked.intersection(search_stems(text[slice(*piece)]))))
    return _RankedTurn(turn=turn, score=turn.score, text=text, best=best)


def _is_readable(blanked: str) -> bool:
    """Whether less than half of a piece is blank, where long runs are blanked."""
    return sum(map(str.isspace, blanked)) * 2 < len(blanked)


def _by_likely_words(one: _RankedTurn, words: LikelyWords, score: float) -> _RankedTurn:
    """The same with this score, and the sentence with these words as its best.

    The words are marked if they are likelier than "there is no answer". In a run of encoded data none are.
    """
    if words.start == words.end:
        return replace(one, score=score)
    pieces = cut_sentences(one.text, longest=LONGEST_LINE)
    best = next((piece for piece in pieces if words.start < piece[1]), one.best)
    if not _is_readable(blank_runs(one.text)[slice(*best)]):
        return replace(one, score=score)
    marked = (words.start, words.end) if words.lead > 0 else None
    return replace(one, score=score, best=best, marked=marked)


def readable_text(turn: FoundTurn) -> str:
    """The words of a turn as they are on its page, without those that were taken back."""
    page = turn.page
    spans = kept_spans(page, turn.line.body, turn.line.end)
    text = f" {LEFT_OUT} ".join(page.text[span.start : span.end] for span in spans)
    return replace_surrogates(text).rstrip("\n")


def choose_lines(ranked: Iterable[_RankedTurn], trust: TrustLevels) -> tuple[_RankedTurn, ...]:
    """The best candidate, then others in the order in which they were said.

    One that is older than the best, of no higher trust and far behind it is left out, and so are further
    parts of one turn.
    """
    ordered = sorted(ranked, key=lambda one: -one.score)
    if not ordered:
        return ()
    best, *others = ordered
    parts = {_first_part(best.turn.line)}
    chosen: list[_RankedTurn] = []
    for one in others:
        is_near = one.score > best.score - _FAR_BEHIND or _order(one.turn, best.turn, trust) != "before"
        if is_near and len(chosen) < MOST_LINES - 1 and _first_part(one.turn.line) not in parts:
            parts.add(_first_part(one.turn.line))
            chosen.append(one)
    return (best, *sorted(chosen, key=_time_and_place))


def _first_part(line: PageLine) -> int:
    """The record number of the first part of a turn that is on several lines."""
    return line.seq - line.part + 1


def _time_and_place(one: _RankedTurn) -> tuple[float, int, int]:
    said = one.turn.line.turn
    return timestamp(said.said_at if said is not None else None), one.turn.page.number, one.turn.line.start


def _as_lines(chosen: Sequence[_RankedTurn], trust: TrustLevels) -> Iterable[CitedSentence]:
    shown = {one.turn.line.seq for one in chosen}
    for one in chosen:
        seen = replace(one.turn, page=without_unsearched(one.turn.page, ()))
        following = _next_line(seen, one.text, shown)
        if following is not None:
            shown.add(following.seq)
        part = excerpt_range(one.text, one.best, longest=LONGEST_LINE)
        yield replace(
            _as_line(one.turn, one.text, part, trust, marked=one.marked),
            order=None if one is chosen[0] else _order(one.turn, chosen[0].turn, trust),
            next=None if following is None else _as_next(seen, following, trust),
        )


def _as_line(
    turn: FoundTurn,
    text: str,
    part: tuple[int, int],
    trust: TrustLevels,
    *,
    marked: tuple[int, int] | None = None,
) -> CitedSentence:
    """The part of a turn's text as a line; an ellipsis is in place of the rest."""
    said, (start, end) = turn.line.turn, part
    before = f"{LEFT_OUT} " if text[:start].strip() else ""
    after = f" {LEFT_OUT}" if text[end:].strip() else ""
    spans = kept_spans(turn.page, turn.line.body, turn.line.end)
    place = Span(page_id=turn.page.id, start=spans[0].start, end=spans[-1].end)
    if len(spans) == 1:
        place = replace(place, start=place.start + start, end=place.start + end)
    marks = [marked] if marked is not None and start <= marked[0] < marked[1] <= end else []
    moved = len(before) - start
    return CitedSentence(
        marks=tuple((first + moved, last + moved) for first, last in marks),
        text=before + text[start:end] + after,
        speaker=replace_surrogates(said.speaker) if said is not None else "",
        said_at=said.said_at if said is not None else None,
        span=place,
        turn=turn.line.address,
        session=turn.page.session,
        role=said.role if said is not None else None,
        trust=trust.of(said) if said is not None else None,
    )


def _cite_line(number: int, one: _RankedTurn, line: CitedSentence) -> Citation:
    page = one.turn.page
    spans = kept_spans(page, one.turn.line.body, one.turn.line.end)
    if len(spans) == 1 and line.span is not None:
        spans = (line.span,)
    quote = f" {LEFT_OUT} ".join(words(page, span) for span in spans)
    return Citation(
        number=number,
        claim=quote,
        quote=quote,
        spans=spans,
        support="quoted",
        speaker=line.speaker,
        said_at=line.said_at,
        trust=line.trust,
        turn=line.turn,
        session=line.session,
        role=line.role,
    )


def excerpt_range(text: str, best: tuple[int, int], *, longest: int) -> tuple[int, int]:
    """The range of a text with whole sentences around its best one, of at most `longest` characters.

    It stays within the row of `best`, from line break to line break, and is all of a row that is not longer.
    The sentence after comes first, then the one before, and so on.
    """
    row_start, row_end = _row_range(text, best[0])
    pieces = [
        piece
        for piece in cut_sentences(text, longest=longest)
        if row_start <= piece[0] <= piece[1] <= row_end
    ]
    if not pieces:
        return best
    if pieces[-1][1] - pieces[0][0] <= longest:
        return pieces[0][0], pieces[-1][1]
    first = last = next((at for at, piece in enumerate(pieces) if piece[1] >= best[1]), len(pieces) - 1)
    while True:
        has_grown = False
        if last + 1 < len(pieces) and pieces[last + 1][1] - pieces[first][0] <= longest:
            last, has_grown = last + 1, True
        if first > 0 and pieces[last][1] - pieces[first - 1][0] <= longest:
            first, has_grown = first - 1, True
        if not has_grown:
            return pieces[first][0], pieces[last][1]


def _row_range(text: str, place: int) -> tuple[int, int]:
    """The range from the line break before a place to the one after it."""
    before = [found.end() for found in _LINE_BREAK.finditer(text, 0, place)]
    after = _LINE_BREAK.search(text, place)
    return (before[-1] if before else 0, after.start() if after else len(text))


def _next_line(turn: FoundTurn, text: str, shown: set[int]) -> PageLine | None:
    """The turn right after on the page: by the same speaker, or by another after a question.

    None of those that are `shown`, none that was said long after, and none that no search finds.
    """
    lines = turn.page.lines
    at = next(place for place, line in enumerate(lines) if line.seq == turn.line.seq)
    after = lines[at + 1] if at + 1 < len(lines) else None
    if after is None or after.turn is None or turn.line.turn is None or after.seq in shown:
        return None
    is_same = after.turn.speaker == turn.line.turn.speaker
    is_reply = not is_same and text.rstrip().endswith(("?", "？"))
    times = [timestamp(one.said_at) for one in (turn.line.turn, after.turn)]
    is_soon = float("-inf") in times or times[1] - times[0] <= _SOON.total_seconds()
    return after if is_soon and (is_same or is_reply) else None


def _as_next(turn: FoundTurn, following: PageLine, trust: TrustLevels) -> CitedSentence:
    shown = FoundTurn(page=turn.page, line=following, score=0.0)
    text = readable_text(shown)
    first = next(cut_sentences(text, longest=LONGEST_NEXT), (0, 0))
    return _as_line(shown, text, excerpt_range(text, first, longest=LONGEST_NEXT), trust)


def _order(turn: FoundTurn, first: FoundTurn, trust: TrustLevels) -> Order | None:
    """When the turn was said, compared with the first; what is of lower trust outdates nothing.

    It is not called later than a first line of higher trust, nor is that one called earlier than it.
    """
    order = _compare_times(turn, first)
    rank, first_rank = turn.said_turn(trust).rank, first.said_turn(trust).rank
    is_of_lower_trust = {"later": rank < first_rank, "before": first_rank < rank}
    return None if order is None or is_of_lower_trust.get(order) else order


def _compare_times(turn: FoundTurn, other: FoundTurn) -> Order | None:
    """When a turn was said, compared with another one: by time, within a session by place; else `None`."""
    times = [timestamp(one.line.turn.said_at if one.line.turn else None) for one in (turn, other)]
    are_known = float("-inf") not in times
    if are_known and times[0] != times[1]:
        return "later" if times[0] > times[1] else "before"
    if turn.page.session == other.page.session and turn.page.agent == other.page.agent:
        places = [(one.page.number, one.line.start) for one in (turn, other)]
        return "later" if places[0] > places[1] else "before"
    return "same" if are_known else None
