"""Turns that may hold what is asked: as they are ranked, and with the words of their pages."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from pagestore import Page, PageId, PageLine, Span
from tiermem.index.candidates import Candidates, gather_candidates, pack_without_vectors
from tiermem.index.features import turn_features
from tiermem.model import Evidence
from tiermem.reading.quoting import part_evidence, turn_evidence
from tiermem.reasoning.interface import SaidTurn
from tiermem.trust import DEFAULT_TRUST, TrustLevels


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedTurn:
    """A turn by its number in the log, its place, and its score; its words are not read."""

    seq: int
    page_id: PageId
    start: int
    end: int
    score: float
    similarity: float | None = None

    def holds(self, span: Span) -> bool:
        """Whether a span touches the turn."""
        return span.page_id == self.page_id and self.start < span.end and span.start < self.end


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundTurn:
    """A turn at its place, and its score; `parts` are what is shown of it, if not all."""

    page: Page
    line: PageLine
    score: float
    similarity: float | None = None
    parts: tuple[Span, ...] = ()

    @property
    def seq(self) -> int:
        """Its number in the log."""
        return self.line.seq

    @property
    def page_id(self) -> PageId:
        """The id of its page."""
        return self.page.id

    def holds(self, span: Span) -> bool:
        """Whether a span touches the turn, or what is shown of it."""
        if span.page_id != self.page.id or not self.line.touches(span):
            return False
        return not self.parts or any(part.start < span.end and span.start < part.end for part in self.parts)

    def words(self) -> str:
        """The text of the turn."""
        return "" if self.line.turn is None else self.line.turn.text

    def said_turn(self, trust: TrustLevels = DEFAULT_TRUST) -> SaidTurn:
        """Who said what in it, when, and how trusted; of a turn without words that is not known."""
        turn = self.line.turn
        if turn is None:
            return SaidTurn(speaker="", text="")
        rank = trust.rank_of(turn)
        return SaidTurn(speaker=turn.speaker, text=turn.text, said_at=turn.said_at, rank=rank)

    def evidence(self) -> Evidence:
        """The turn as evidence."""
        found = turn_evidence(self.page, self.line, score=self.score, similarity=self.similarity)
        return part_evidence(self.page, self.line, found, self.parts) if self.parts else found


_Turn = TypeVar("_Turn", RankedTurn, FoundTurn, RankedTurn | FoundTurn)


def turns_on_pages(turns: Iterable[_Turn]) -> dict[PageId, list[_Turn]]:
    """The turns by their page, in the order given."""
    on_page: dict[PageId, list[_Turn]] = {}
    for turn in turns:
        on_page.setdefault(turn.page_id, []).append(turn)
    return on_page


def candidates_on_pages(
    seqs: Collection[int], pages: Iterable[Page], cut: Callable[[str], Iterable[int]] | None = None
) -> Candidates:
    """Turns of pages as candidates, and those right before and after them; nothing but their words is known.

    `cut` gives the word pieces of a text. Turns that may not be read are left out.
    """
    said = sorted(pages, key=lambda page: (page.session, page.agent or "", page.number))
    turns = [
        (page, number) for page in said for number, line in enumerate(page.lines) if line.turn is not None
    ]
    places = {page.lines[number].seq: at for at, (page, number) in enumerate(turns)}
    found = [places[seq] for seq in sorted(set(seqs)) if seq in places]
    beside = {at for place in found for at in (place - 1, place + 1) if _are_adjacent(turns, place, at)}
    order = [*found, *sorted(beside.difference(found))]
    rows = [turn_features(*turns[at], cut=cut) for at in order]
    adjacent = [
        [
            turns[at][0].lines[turns[at][1]].seq
            for at in (place - 1, place + 1)
            if _are_adjacent(turns, place, at)
        ]
        for place in order
    ]
    return gather_candidates(pack_without_vectors(rows), adjacent, len(found))


def _are_adjacent(turns: Sequence[tuple[Page, int]], place: int, other: int) -> bool:
    """Whether two turns, one after the other, are of one thread, on one page or on this and the next."""
    if not 0 <= other < len(turns):
        return False
    page, beside = turns[place][0], turns[other][0]
    return (page.session, page.agent) == (beside.session, beside.agent) and abs(
        page.number - beside.number
    ) <= 1


def lines_by_number(pages: Iterable[Page]) -> Mapping[int, tuple[Page, PageLine]]:
    """The turns of pages that may be read, by their numbers in the log."""
    return {line.seq: (page, line) for page in pages for line in page.lines if line.turn is not None}
