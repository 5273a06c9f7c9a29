"""Recall: the units and single turns at hand for a question, best first, within one budget of tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import zip_longest

from pagestore import Page, PageId, Span
from tiermem.model import Evidence, Recalled
from tiermem.reading.exact import Exact
from tiermem.reading.options import ReadingOptions
from tiermem.reading.quoting import page_evidence, quote_spans, size, with_turn
from tiermem.reading.search import FoundEvidence, LookUp, Turns
from tiermem.reading.turns import FoundTurn, turns_on_pages
from tiermem.text import STOP_WORDS, stem, stems, words
from tiermem.text.question import Question

Count = Callable[[str], int]
Fits = Callable[[Evidence], bool]
"""Whether there is room for evidence."""
MOST_CUT = 3
"""Turns of a recall that are cut at most."""


async def recall(
    question: Question,
    lookup: LookUp,
    *,
    count: Count,
    options: ReadingOptions,
    fits: Fits = lambda _: True,
    fits_cut: Fits = lambda _: True,
) -> Recalled:
    """The best units and turns; pages where search is degraded and finds neither.

    A turn that does not fit by itself is cut to passages that match the question and satisfy `fits_cut`; of
    all else that does not fit nothing is included. Never fails for want of an index: keywords in the log
    answer then, and a `Degradation` says so.
    """
    found = await lookup.units(question, limit=options.units)
    best, turns = await _fitting(question, lookup, most=options.recall_turns, fits=fits, fits_cut=fits_cut)
    if found.degradations and not found.units and not turns.turns:
        found = await _pages_instead(question, lookup, found, limit=options.units)
    fetched = await lookup.view.fetch(span.page_id for unit in found.units for span in unit.spans)
    units = tuple(unit for unit in found.units if fits(with_quote(unit, best, fetched.pages)))
    items = side_by_side(units, best, fetched.pages, options.recall_tokens, count)
    degradations = tuple(dict.fromkeys((*found.degradations, *turns.degradations)))
    dropped = found.dropped + turns.dropped
    return Recalled(items=items, dropped=dropped, degradations=degradations)


async def _fitting(
    question: Question, lookup: LookUp, *, most: int, fits: Fits, fits_cut: Fits
) -> tuple[tuple[FoundTurn, ...], Turns]:
    """The first turns that fit, and the first ones of those that do not, cut; and all that were read."""
    fitting: list[FoundTurn] = []
    cuts, limit, found = 0, most, Turns()
    while len(fitting) < most:
        looked_at, found = len(found.turns), await lookup.turns(question, limit=limit)
        for turn in found.turns[looked_at:]:
            if len(fitting) == most:
                break
            if fits(turn.evidence()):
                fitting.append(turn)
            elif cuts < MOST_CUT:
                cuts += 1
                cut = await lookup.cut(question, turn, fits_cut)
                fitting += [cut] if cut is not None else []
        if len(found.turns) < limit:
            break
        limit *= 2
    return tuple(fitting), found


async def _pages_instead(
    question: Question, lookup: LookUp, found: FoundEvidence, *, limit: int
) -> FoundEvidence:
    ranked = await lookup.pages(question, limit=limit, mode="words")
    pages = await lookup.read(ranked.pages, limit=limit)
    return FoundEvidence(
        units=tuple(page_evidence(page, score=hit.score) for hit, page in pages.read if page.sealed_at),
        dropped=found.dropped + pages.dropped,
        degradations=(*found.degradations, *ranked.degradations, *pages.degradations),
    )


def side_by_side(
    units: Sequence[Evidence],
    turns: Sequence[FoundTurn],
    pages: Mapping[PageId, Page],
    limit: int,
    count: Count,
) -> tuple[Evidence, ...]:
    """Units and turns by turns, as many as fit. A turn for which there is no room takes no unit's place."""
    count_once = cache(count)
    while True:
        items = fit_to_budget(interleave(units, turns, pages), limit, count_once)
        kept = set(items)
        fitting = tuple(turn for turn in turns if turn.evidence() in kept)
        if len(fitting) == len(turns):
            return items
        turns = fitting


def interleave(
    units: Sequence[Evidence], turns: Sequence[FoundTurn], pages: Mapping[PageId, Page]
) -> Iterator[Evidence]:
    """Turns and units by turns, each ranking in its order. A unit that only repeats a turn gives way to it.

    A unit whose words are not among the turns has them beside it as its `quote`.
    """
    on_page = turns_on_pages(turns)
    for turn, unit in zip_longest(turns, units):
        if turn is not None:
            yield turn.evidence()
        if unit is None:
            continue
        page_ids = dict.fromkeys(span.page_id for span in unit.spans)
        near = [other for page_id in page_ids for other in on_page.get(page_id, ())]
        if not any(repeats(unit, other) for other in near):
            yield with_quote(unit, near, pages)


def list_once(
    units: Sequence[Evidence], turns: Sequence[FoundTurn], pages: Mapping[PageId, Page], exact: Exact
) -> tuple[Evidence, ...]:
    """Units and turns by their scores, best first; what both say is listed once.

    A turn is listed as the unit that has all its words, since a unit has an id and a history. A unit that has
    some of the words of a turn and no others gives way to it.
    """
    as_unit: dict[int, Evidence] = {}
    others: list[Evidence] = []
    on_page = turns_on_pages(turns)
    for unit in units:
        nearby = dict.fromkeys(turn for span in unit.spans for turn in on_page.get(span.page_id, ()))
        repeated = [turn for turn in nearby if repeats(unit, turn)]
        whole = [turn for turn in repeated if _has_all_words(unit, turn, exact)]
        for turn in whole:
            as_unit.setdefault(turn.line.seq, replace(unit, score=turn.score))
        if not repeated:
            others.append(with_quote(unit, turns, pages))
    listed = (as_unit.get(turn.line.seq) or turn.evidence() for turn in turns)
    return tuple(sorted((*listed, *others), key=lambda item: -item.score))


def _has_all_words(unit: Evidence, turn: FoundTurn, exact: Exact) -> bool:
    said = turn.words()
    if exact.count_in(unit.text) < exact.count_in(said) or not exact.is_allowed(unit.text):
        return False
    return {stem(word) for word in words(said) if word not in STOP_WORDS} <= set(stems(unit.text))


def repeats(unit: Evidence, turn: FoundTurn) -> bool:
    """Whether the unit rests on this turn alone and says nothing that the turn does not say."""
    if unit.source != "unit" or not all(turn.holds(span) for span in unit.spans):
        return False
    said = {stem(word) for word in words(turn.evidence().text)}
    return all(stem(word) in said for word in words(unit.text) if word not in STOP_WORDS)


def with_quote(unit: Evidence, turns: Iterable[FoundTurn], pages: Mapping[PageId, Page]) -> Evidence:
    """The unit with its turn, and with those of its words that are in none of the turns."""
    if unit.source != "unit":
        return unit
    beside: list[Span] = [span for span in unit.spans if not any(turn.holds(span) for turn in turns)]
    return replace(with_turn(unit, pages), quote=quote_spans(beside, pages))


def deduplicate(items: Iterable[Evidence]) -> tuple[Evidence, ...]:
    """Every turn, unit and page at its first place, whatever score it was found with later."""
    first: dict[object, Evidence] = {}
    for item in items:
        first.setdefault((item.source, item.unit_id, item.spans, item.text), item)
    return tuple(first.values())


def fit_to_budget(items: Iterable[Evidence], limit: int, count: Count) -> tuple[Evidence, ...]:
    """As many items, in order, as fit in `limit` tokens; the first always does."""
    kept: list[Evidence] = []
    left = limit
    for item in items:
        tokens = size((item,), count)
        if tokens <= left or not kept:
            kept.append(item)
            left -= tokens
    return tuple(kept)
