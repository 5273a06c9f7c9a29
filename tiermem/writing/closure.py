"""What goes when turns go: everything that rests on their words or repeats them. Pure.

The rules:
- A unit loses the spans that stood in the turns. It stays when the words that are left prove it, linked
  again as if the turns had never been said; a unit beside them stays unless it needed them (a name, a
  question) to be proved.
- A unit that code derived goes with any turn that a term of the derivation stands in.
- An answer goes when any evidence it was shown stood in the turns, when it read a page of theirs whole,
  or when it repeats their words; what it cost stays. A finding goes with its answer; a decision goes with
  its unit, and its finding, where the answer stays, is pending again.
- What may stay of a record that goes stands in for it, so the fold of the log never holds what went.
- Where telling what may stay raises something unexpected, nothing stays but the cost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pagestore import Page, PageId, SessionId, Span
from tiermem.errors import unexpected
from tiermem.ledger import (
    Answered,
    Distilled,
    Entry,
    Erasing,
    Held,
    Redistilled,
    Retired,
    SetAside,
    Spent,
    WroteBack,
)
from tiermem.ledger.entries import decode_body, encode, kind_of
from tiermem.model import Claim, SummaryUnit, Usage
from tiermem.text import Telltales, omissions, page_literals, still_proved, withheld

StandIn = tuple[int, str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gone:
    """The turns that go: their pages as they were (under every id), their numbers, what betrays them.

    `others` are the pages that units of these pages rest on as well.
    """

    pages: Mapping[PageId, Page]
    others: Mapping[PageId, Page]
    seqs: frozenset[int]
    words: Telltales
    sessions: frozenset[SessionId] = frozenset()
    everything: bool = False

    def touches(self, span: Span) -> bool:
        """Whether the span stands, in part at least, in a turn that goes."""
        page = self.pages.get(span.page_id)
        return page is not None and any(
            line.seq in self.seqs and line.start < span.end and span.start < line.end for line in page.lines
        )

    def after(self, page_id: PageId) -> Page:
        """A page as it will be."""
        if page_id not in self.pages:
            return self.others[page_id]
        return withheld(self.pages[page_id], lambda line: line.seq not in self.seqs)

    def before(self, page_id: PageId) -> Page:
        """A page as it was."""
        return self.pages[page_id] if page_id in self.pages else self.others[page_id]

    def repeated_in(self, value: object) -> bool:
        """Whether any text in a JSON value repeats the words."""
        return any(next(self.words.found_in(text), None) is not None for text in _texts(value))


@dataclass(frozen=True, slots=True, kw_only=True)
class Closure:
    """Records to erase, and what stands in for them."""

    records: tuple[int, ...]
    instead: tuple[StandIn, ...]


@dataclass
class _Taken:
    records: list[int] = field(default_factory=list)
    instead: list[StandIn] = field(default_factory=list)


def closure(held: Iterable[Held], gone: Gone) -> Closure:
    """Which of everything held must go with the turns, and what of it may stay."""
    taken = _Taken()
    for one in held:
        if one.place is None:
            taken.records.append(one.held_in)
            continue
        entry = decode_body(one.kind, one.body, seq=one.held_in)
        left = _told(entry, one, gone)
        if left == entry if entry is not None else not _unknown_goes(one, gone):
            continue
        taken.records.append(one.held_in)
        if left is not None:
            taken.instead.append((one.place, kind_of(left), encode(left)))
    return Closure(records=tuple(taken.records), instead=tuple(taken.instead))


def _told(entry: Entry | None, one: Held, gone: Gone) -> Entry | None:
    """What may stay of an entry, and what was paid where that cannot be told."""
    try:
        return _left_of(entry, one, gone)
    except Exception as error:  # noqa: BLE001  # logged; what nobody can tell apart from what goes, goes
        unexpected(error, f"telling what may stay of record {one.held_in}")
        usage = entry.answer.usage if isinstance(entry, Answered) else getattr(entry, "usage", Usage())
        return Spent(step=one.kind, usage=usage) if usage.calls else None


def _left_of(entry: Entry | None, one: Held, gone: Gone) -> Entry | None:
    """The entry itself when all of it may stay, what may stay of it, or `None`."""
    match entry:
        case Distilled() | Redistilled():
            return _distilled(entry, gone)
        case Answered():
            return _cost_of(entry) if _answer_goes(entry, one, gone) else entry
        case WroteBack():
            return _wrote_back(entry, gone)
        case SetAside():
            # Its reason holds what an error said of the page; the step tries the page again.
            goes = entry.page_id in gone.pages or gone.everything or gone.repeated_in(entry.reason)
            return None if goes else entry
        case Retired() | Erasing():
            return replace(entry, reason="") if gone.repeated_in(entry.reason) else entry
        case _:
            return entry


def _distilled(entry: Distilled | Redistilled, gone: Gone) -> Distilled | Redistilled:
    units = tuple(left for unit in entry.units if (left := unit_left(unit, gone)) is not None)
    if entry.page_id not in gone.pages:
        if units == entry.units and not gone.repeated_in([encode(entry)]):
            return entry
        # Rejected claims and omissions hold words of this page alone, which stays; the claims may not.
        told = tuple(one for one in entry.rejected if not gone.repeated_in([one.claim, *one.quotes]))
        return replace(entry, units=units, rejected=told)
    page = gone.after(entry.page_id)
    lost = omissions(page, [unit.text for unit in units])
    literals = len(page_literals(page))
    if isinstance(entry, Redistilled):
        return replace(entry, units=units, rejected=(), omissions=lost, literals=literals, hints=())
    return replace(entry, units=units, rejected=(), omissions=lost, literals=literals)


def unit_left(unit: SummaryUnit, gone: Gone) -> SummaryUnit | None:
    """The unit as it may stay: itself, with fewer spans, or not at all."""
    terms = [term for one in unit.derivations for term in one.terms]
    if gone.everything or gone.repeated_in([unit.text, *(term.text for term in terms)]):
        return None
    if any(gone.touches(span) for term in terms for span in term.spans):
        return None
    spans = tuple(span for span in unit.spans if not gone.touches(span))
    beside = any(span.page_id in gone.pages for span in unit.spans)
    if not beside:
        return replace(unit, scene=None) if gone.repeated_in([unit.scene]) else unit
    # A scene is told by all of a page, and nothing on the page proves it.
    left = replace(unit, spans=spans, scene=None)
    if spans == unit.spans:
        needed = _proved(left, gone.before) and not _proved(left, gone.after)
        return None if needed else left
    return left if spans and _proved(left, gone.after) else None


def _proved(unit: SummaryUnit, page_of: Callable[[PageId], Page]) -> bool:
    """Whether the words the unit rests on prove it: all of them together, or those of one page alone.

    A unit that was merged from two holds when either side's page tells all of it.
    """
    ids = tuple(dict.fromkeys(span.page_id for span in unit.spans))
    pages = tuple(page_of(page_id) for page_id in ids)
    return _proved_by(unit, pages) or (len(pages) > 1 and any(_proved_by(unit, (page,)) for page in pages))


def _proved_by(unit: SummaryUnit, pages: tuple[Page, ...]) -> bool:
    by_id = {page.id: page for page in pages}
    spans = [span for span in unit.spans if span.page_id in by_id]
    quotes = tuple(by_id[span.page_id].text[span.start : span.end] for span in spans)
    return still_proved(Claim(text=unit.text, quotes=quotes, event_at=unit.event_at), pages)


def _wrote_back(entry: WroteBack, gone: Gone) -> Entry | None:
    decision, unit = entry.write_back, entry.unit
    if gone.everything:
        return _spent("write-back", entry)
    left = unit_left(unit, gone) if unit is not None else None
    if unit is not None and left is None:
        return _spent("write-back", entry)
    if left != unit:
        entry = replace(entry, unit=left)
    return (
        replace(entry, write_back=replace(decision, reason=""))
        if gone.repeated_in(decision.reason)
        else entry
    )


def _answer_goes(entry: Answered, one: Held, gone: Gone) -> bool:
    trace = entry.answer.trace
    return (
        gone.everything
        or trace.session in gone.sessions
        or any(page_id in gone.pages for a_round in trace.rounds for page_id in a_round.pages)
        or any(gone.touches(span) for span in _spans(one.body))
        or gone.repeated_in(one.body)
    )


def _cost_of(entry: Answered) -> Spent:
    return Spent(step="ask", usage=entry.answer.usage)


def _spent(step: str, entry: WroteBack) -> Spent | None:
    return Spent(step=step, usage=entry.usage) if entry.usage.calls else None


def _unknown_goes(one: Held, gone: Gone) -> bool:
    return gone.everything or gone.repeated_in(one.body) or any(map(gone.touches, _spans(one.body)))


def _spans(value: object) -> Iterator[Span]:
    """Every span in a JSON value, wherever it stands."""
    if isinstance(value, Mapping):
        if value.keys() == {"page_id", "start", "end"}:
            yield Span(page_id=PageId(value["page_id"]), start=value["start"], end=value["end"])
        for item in value.values():
            yield from _spans(item)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for item in value:
            yield from _spans(item)


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, Sequence):
        for item in value:
            yield from _texts(item)
