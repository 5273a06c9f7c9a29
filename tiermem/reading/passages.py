"""A turn that is too long for its place is cut to the passages that match a question."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain

from pagestore import Page, Span
from tiermem.model import Evidence
from tiermem.reading.turns import FoundTurn
from tiermem.text import sentences
from tiermem.text.taken_back import kept_spans

LONGEST_PIECE = 300
"""Characters of a piece."""
SHARE_OF_BEST = 0.5
"""A piece is among the best if its score is at least this share of the highest."""

ScorePieces = Callable[[Sequence[str]], Sequence[float]]
"""How much of a question each of some texts says."""


def cut_turn(turn: FoundTurn, score: ScorePieces, fits: Callable[[Evidence], bool]) -> FoundTurn | None:
    """Cut a turn to as many of its best passages, with their neighbours, as fit; `None` if none fits."""
    pieces = list(_find_pieces(turn))
    scores = score([turn.page.text[piece.start : piece.end] for piece in pieces])
    chosen: set[int] = set()
    best = None
    for place in _order_pieces(scores):
        parts = _join_pieces(turn.page, [pieces[at] for at in sorted({*chosen, place})])
        cut = replace(turn, parts=parts)
        if not fits(cut.evidence()):
            break
        chosen.add(place)
        best = cut
    return best


def _find_pieces(turn: FoundTurn) -> Iterator[Span]:
    """The sentences of a turn without what was taken back, each of at most `LONGEST_PIECE` characters."""
    for span in kept_spans(turn.page, turn.line.body, turn.line.end):
        for start, end in cut_sentences(turn.page.text[span.start : span.end], longest=LONGEST_PIECE):
            yield Span(page_id=span.page_id, start=span.start + start, end=span.start + end)


def cut_sentences(text: str, *, longest: int) -> Iterator[tuple[int, int]]:
    """The places of the sentences of a text; one of more than `longest` characters is cut between words
    where it can be.
    """
    for sentence in sentences(text):
        start, end = sentence.start, sentence.end
        while end - start > longest:
            blank = text.rfind(" ", start + 1, start + longest)
            cut = blank if blank > 0 else start + longest
            yield start, cut
            start = cut + (blank > 0)
        yield start, end


def _order_pieces(scores: Sequence[float]) -> Iterator[int]:
    """The places of the best pieces, each with its neighbours; of all pieces if none has a score."""
    least = SHARE_OF_BEST * max(scores, default=0.0)
    if not least:
        return iter(range(len(scores)))
    best = sorted((at for at, score in enumerate(scores) if score >= least), key=lambda at: -scores[at])
    places = chain.from_iterable((at, at + 1, at - 1) for at in best)
    return (at for at in dict.fromkeys(places) if 0 <= at < len(scores))


def _join_pieces(page: Page, pieces: Sequence[Span]) -> tuple[Span, ...]:
    """Join pieces, in their order, that have nothing but white space between them."""
    joined: list[Span] = []
    for piece in pieces:
        if joined and not page.text[joined[-1].end : piece.start].strip():
            joined[-1] = Span(page_id=piece.page_id, start=joined[-1].start, end=piece.end)
        else:
            joined.append(piece)
    return tuple(joined)
