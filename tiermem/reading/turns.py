"""Candidate turns with the words of their pages, as `ranking` scores them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pagestore import Page, PageId, PageLine, Span
from tiermem.embedding.interface import Lexicon
from tiermem.index.interface import TurnHit, turn_id
from tiermem.model import Evidence
from tiermem.reading.question import TurnQuery
from tiermem.reading.quoting import part_evidence, turn_evidence
from tiermem.reading.ranking import Candidate, RankingOptions, rescore
from tiermem.reasoning.interface import SaidTurn
from tiermem.trust import DEFAULT_TRUST, TrustLevels


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundTurn:
    """A turn at its place, and its score; `parts` are what is shown of it, if not all."""

    page: Page
    line: PageLine
    score: float
    similarity: float | None = None
    parts: tuple[Span, ...] = ()

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


def turns_on_pages(turns: Iterable[FoundTurn]) -> dict[PageId, list[FoundTurn]]:
    """The turns by their page, in the order given."""
    on_page: dict[PageId, list[FoundTurn]] = {}
    for turn in turns:
        on_page.setdefault(turn.page.id, []).append(turn)
    return on_page


@dataclass(frozen=True, slots=True, kw_only=True)
class GatheredTurns:
    """Candidates, each with its page, and the texts that they count in."""

    candidates: tuple[Candidate, ...]
    pages: tuple[Page, ...]
    texts: tuple[str, ...]


def gather(hits: Mapping[str, TurnHit | None], pages: Iterable[Page]) -> GatheredTurns:
    """The hits whose turn is on one of the pages and may be read, with what was said right beside."""
    said = _in_order(pages)
    places = {turn_id(line.seq): at for at, (_, line) in enumerate(said)}
    found = [(hit, places[id_]) for id_, hit in hits.items() if id_ in places]
    beside = [_neighbours(said, at) for _, at in found]
    needed = {at: place for place, at in enumerate(sorted({at for around in beside for at in around}))}
    return GatheredTurns(
        candidates=tuple(
            Candidate(hit=hit, line=said[at][1], own=needed[at], beside=tuple(needed[i] for i in around))
            for (hit, at), around in zip(found, beside, strict=True)
        ),
        pages=tuple(said[at][0] for _, at in found),
        texts=tuple(line.turn.text for at in needed if (line := said[at][1]).turn is not None),
    )


def ranked_turns(
    question: TurnQuery, gathered: GatheredTurns, lexicon: Lexicon, options: RankingOptions
) -> tuple[FoundTurn, ...]:
    """The candidates with their scores, best first. Blocking."""
    if not gathered.candidates:
        return ()
    scores = rescore(question, gathered.candidates, gathered.texts, lexicon, options)
    turns = (
        FoundTurn(page=page, line=one.line, score=score, similarity=one.hit.meaning if one.hit else None)
        for page, one, score in zip(gathered.pages, gathered.candidates, scores, strict=True)
    )
    return tuple(sorted(turns, key=lambda turn: (-turn.score, turn.line.seq)))


_PlacedTurn = tuple[Page, PageLine]


def _in_order(pages: Iterable[Page]) -> list[_PlacedTurn]:
    """The turns of pages that may be read, in the order they were said."""
    ordered = sorted(pages, key=lambda page: (page.session, page.agent or "", page.number))
    return [(page, line) for page in ordered for line in page.lines if line.turn]


def _neighbours(said: Sequence[_PlacedTurn], at: int) -> list[int]:
    """The turn and its neighbours; that may reach over to the next page, where that was read too."""
    page = said[at][0]
    return [
        i
        for i in (at - 1, at, at + 1)
        if 0 <= i < len(said)
        and (said[i][0].session, said[i][0].agent) == (page.session, page.agent)
        and abs(said[i][0].number - page.number) <= 1
    ]
