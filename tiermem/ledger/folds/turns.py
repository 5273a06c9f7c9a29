"""What is known of turns by their own words: the answers that cited them, and how they were judged.

Units inherit both from the turns that they rest on, also units that are made later. A turn may have been
cited while its page was being filled, under the id that the page had then.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from pagestore import PageId, Span
from tiermem.ledger.folds.units import UnitsFold
from tiermem.model import AnswerId, UnitId
from tiermem.salience import Judgement


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnJudgement:
    """A judgement of the words of a turn, by record `seq`, at `place` among those of the record."""

    seq: int
    place: int
    spans: tuple[Span, ...]
    judgement: Judgement


class TurnsFold(UnitsFold):
    """Citations and judgements of turns, by the pages of the turns."""

    def __init__(self) -> None:
        super().__init__()
        self._open_ids: dict[PageId, PageId] = {}
        self._turn_citations: dict[PageId, list[tuple[Span, AnswerId, datetime]]] = {}
        self._turn_judgements: dict[PageId, dict[str, tuple[TurnJudgement, ...]]] = {}
        self._pages_judged: dict[str, tuple[PageId, ...]] = {}

    def put_open_id(self, page_id: PageId, open_id: PageId) -> None:
        """Note the id that a sealed page had while it was being filled."""
        self._open_ids[page_id] = open_id

    def cite_turns(self, answer_id: AnswerId, spans: Iterable[Span], at: datetime) -> None:
        """An answer cites words of turns."""
        for span in spans:
            self._turn_citations.setdefault(span.page_id, []).append((span, answer_id, at))

    def turn_citations(self, unit_id: UnitId) -> dict[AnswerId, datetime]:
        """The answers that cited words of turns on which the unit rests, and when."""
        if not self._turn_citations:
            return {}
        return {
            answer_id: at
            for page_id, span in self._resting_on(unit_id)
            for cited, answer_id, at in self._turn_citations.get(page_id, ())
            if _overlaps(cited, span)
        }

    def units_on(self, spans: Iterable[Span]) -> tuple[UnitId, ...]:
        """The active units that rest on some of these words."""
        return tuple(
            dict.fromkeys(
                unit.id
                for span in spans
                for unit in self.units_of_page(span.page_id)
                if any(span.overlaps(other) for other in unit.spans)
            )
        )

    def put_turn_judgements(self, key: str, judgements: Sequence[TurnJudgement]) -> None:
        """Take in the judgements of one answer, or of sources, in place of earlier ones of the same `key`."""
        for page_id in self._pages_judged.pop(key, ()):
            self._turn_judgements[page_id].pop(key, None)
        pages = tuple(dict.fromkeys(span.page_id for one in judgements for span in one.spans))
        for page_id in pages:
            on_page = [one for one in judgements if any(span.page_id == page_id for span in one.spans)]
            self._turn_judgements.setdefault(page_id, {})[key] = tuple(on_page)
        if pages:
            self._pages_judged[key] = pages

    def turn_judgements(self, unit_id: UnitId) -> dict[tuple[int, int], Judgement]:
        """The judgements of turns on which the unit rests, by their place among all."""
        if not self._pages_judged:
            return {}
        return {
            (one.seq, one.place): one.judgement
            for page_id, span in self._resting_on(unit_id)
            for judgements in self._turn_judgements.get(page_id, {}).values()
            for one in judgements
            if any(other.page_id == page_id and _overlaps(other, span) for other in one.spans)
        }

    def _resting_on(self, unit_id: UnitId) -> Iterator[tuple[PageId, Span]]:
        """The spans of a unit, under each id of their pages."""
        unit = self.unit(unit_id)
        for span in unit.spans if unit is not None else ():
            yield span.page_id, span
            open_id = self._open_ids.get(span.page_id)
            if open_id is not None:
                yield open_id, span


def _overlaps(one: Span, other: Span) -> bool:
    """Whether two spans of one page, under whichever id, have characters in common."""
    return one.start < other.end and other.start < one.end
