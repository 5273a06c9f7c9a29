"""What goes when turns go: everything that rests on their words or repeats them. Pure.

Each kind of record says what of its entries may stay (`Kind.may_stay` in `tiermem.ledger.kinds`); here is
what these rules share. The rules of units:
- A unit loses its spans in the turns, and then stays only if the words that are left support it.
- A unit on a page of the turns, or whose maker was shown them or a unit that goes with them, stays only if
  each of its content words is on what is left of its pages, and no word of the turns is in it that its own
  quoted turns do not have. Its scene and its paraphrase go.
- A unit that code derived goes with any turn that holds a term of the derivation.

And of every record:
- No record names a unit that goes, because the id is made of its words, and none decides on a finding that
  no answer has any more.
- What may stay of a record that goes replaces it, so the fold of the log never holds what went.
- Where the rule of a kind raises something unexpected, nothing of the record stays but the cost.
- A record of a kind that a newer version added goes where it holds the words, or names what goes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from pagestore import Page, PageId, SessionId, Span, TurnAddress
from pagestore.errors import Closed, Inaccessible
from tiermem.errors import unexpected
from tiermem.ledger import LedgerEntry, LoggedEntry, Spent
from tiermem.ledger.entries import decode_body, encode
from tiermem.ledger.entry_texts import paid_for, values_in
from tiermem.ledger.kind import Past
from tiermem.ledger.kinds import kind_of
from tiermem.model import Claim, SummaryUnit, Term
from tiermem.proof import in_words_of, is_still_supported, stems_of_turns
from tiermem.text import omissions_and_count
from tiermem.text.fingerprints import Fingerprints
from tiermem.text.withheld import withheld
from tiermem.text.words import stems
from tiermem.writing.importance import UNKNOWN, told_under

Replacement = tuple[int, str, Mapping[str, Any]]


@dataclass(frozen=True, kw_only=True)
class ErasedTurns:
    """The turns that go: their pages as they were (under every id), their numbers, what betrays them.

    `read` brings the other pages that units rest on; `also` are turns that stay and say some of the same.
    `chats` are those with a title of which no turn of the agent stays.
    """

    pages: Mapping[PageId, Page]
    read: Callable[[PageId], Page]
    seqs: frozenset[int]
    words: Fingerprints
    also: tuple[TurnAddress, ...] = ()
    sessions: frozenset[SessionId] = frozenset()
    chats: frozenset[tuple[str, str | None]] = frozenset()
    everything: bool = False

    def has_turns_left(self, chat: str, agent: str | None) -> bool:
        """Whether any turn of the agent stays in a chat that has a title."""
        return (chat, agent) not in self.chats

    def touches(self, span: Span) -> bool:
        """Whether the span is, in part at least, in a turn that goes."""
        page = self.pages.get(span.page_id)
        return page is not None and any(line.seq in self.seqs and line.touches(span) for line in page.lines)

    def after(self, page_id: PageId) -> Page:
        """A page as it will be."""
        if page_id not in self.pages:
            return self.read(page_id)
        return withheld(self.pages[page_id], lambda line: line.seq not in self.seqs)

    def repeated_in(self, texts: Iterable[str | None]) -> bool:
        """Whether any of some texts repeats the words."""
        return any(text and self.words.are_in(text) for text in texts)

    def lost_on(self, page_id: PageId, texts: Sequence[str]) -> tuple[tuple[str, ...], int]:
        """The literals of a page, as it will be, that some texts do not keep; and how many it has."""
        return omissions_and_count(self.after(page_id), texts)

    def _importance_left(self, unit: SummaryUnit, left: SummaryUnit) -> float:
        """The unit's importance; where it may be that of a turn that goes, what the turns left tell."""
        going = [span for span in unit.spans if span not in left.spans]
        pages = {page.id: page for page in self.pages.values()}.values()
        if max(told_under(going, pages), default=-1.0) < unit.importance:
            return unit.importance
        return max(told_under(left.spans, _pages_of(left, self.after)), default=UNKNOWN)

    def unit_left(self, unit: SummaryUnit, *, shown: bool) -> SummaryUnit | None:
        """The unit as it may stay: itself, with fewer spans, or not at all.

        `shown`: whether the step that worded it was shown the turns, or what goes with them.
        """
        values = [one.value for one in unit.derivations]
        terms = [term for one in unit.derivations for term in one.terms]
        if self.everything or self.repeated_in([unit.text, *values]) or any(map(self._has_term, terms)):
            return None
        is_on_pages = any(span.page_id in self.pages for span in unit.spans)
        if not is_on_pages and not shown:
            repeats = self.repeated_in([unit.scene, unit.paraphrase])
            return replace(unit, scene=None, paraphrase=None) if repeats else unit
        # A scene and a paraphrase may repeat anything that was shown, and no spans prove them.
        spans = tuple(span for span in unit.spans if not self.touches(span))
        left = replace(unit, spans=spans, scene=None, paraphrase=None)
        if not left.spans:
            return None
        if left.spans != unit.spans:
            left = replace(left, importance=self._importance_left(unit, left))
            if not _is_supported(left, self.after):
                return None
        pages = _pages_of(left, self.after)
        borrowed = self._stems.intersection(stems(left.text)) - stems_of_turns(left.spans, pages)
        return left if not borrowed and in_words_of(left.text, pages, computed=values) else None

    def _has_term(self, term: Term) -> bool:
        """Whether a term of a derivation is, in part at least, of the turns."""
        return self.repeated_in([term.text]) or any(map(self.touches, term.spans))

    @cached_property
    def _stems(self) -> frozenset[str]:
        """Stems of the content words of the turns that go."""
        return frozenset(
            stem
            for page in self.pages.values()
            for line in page.lines
            if line.turn is not None and line.seq in self.seqs
            for stem in stems(line.turn.text)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Closure:
    """Records to erase, and what replaces them: for `stripped` of them, what of their own may stay."""

    records: frozenset[int]
    instead: tuple[Replacement, ...]
    stripped: int


def closure(entries: Iterable[LoggedEntry], erased: ErasedTurns) -> Closure:
    """Which of all entries must go with the turns, and what of it may stay."""
    records: list[int] = []
    instead: list[Replacement] = []
    stripped, past = 0, Past()
    for one in entries:
        if one.place is None:
            records.append(one.logged_at)
            continue
        entry = decode_body(one.kind, one.body, seq=one.logged_at)
        if entry is None:
            if _unknown_goes(one, erased, past):
                records.append(one.logged_at)
            continue
        left = _left_of(entry, one, erased, past)
        if left == entry:
            continue
        records.append(one.logged_at)
        if left is not None:
            instead.append((one.place, kind_of(left).name, encode(left)))
            stripped += type(left) is type(entry)
    return Closure(records=frozenset(records), instead=tuple(instead), stripped=stripped)


def _left_of(entry: LedgerEntry, one: LoggedEntry, erased: ErasedTurns, past: Past) -> LedgerEntry | None:
    """What may stay of an entry by the rule of its kind; where that rule fails, only what was paid."""
    kind = kind_of(entry)
    try:
        return kind.may_stay(entry, erased, past)
    except (Closed, Inaccessible):
        raise  # nothing is erased yet, and what was announced is finished later
    except Exception as error:  # noqa: BLE001  # logged; an entry that cannot be checked goes
        unexpected(error, f"telling what may stay of record {one.logged_at}")
    for value in values_in(entry):
        if isinstance(value, SummaryUnit):
            past.note(value, None)
    usage = paid_for(entry)
    return Spent(step=kind.name, usage=usage) if usage.calls else None


def _pages_of(unit: SummaryUnit, page_of: Callable[[PageId], Page]) -> tuple[Page, ...]:
    return tuple(page_of(page_id) for page_id in dict.fromkeys(span.page_id for span in unit.spans))


def _is_supported(unit: SummaryUnit, page_of: Callable[[PageId], Page]) -> bool:
    """Whether the words the unit rests on support it: all of them together, or those of one page alone.

    A unit that was merged from two stays when the page of either supports all of it.
    """
    pages = _pages_of(unit, page_of)
    choices = [pages, *((page,) for page in pages if len(pages) > 1)]
    return any(_is_supported_by(unit, choice) for choice in choices)


def _is_supported_by(unit: SummaryUnit, pages: tuple[Page, ...]) -> bool:
    by_id = {page.id: page for page in pages}
    spans = [span for span in unit.spans if span.page_id in by_id]
    quotes = tuple(by_id[span.page_id].text[span.start : span.end] for span in spans)
    return is_still_supported(Claim(text=unit.text, quotes=quotes, event_at=unit.event_at), pages)


def _unknown_goes(one: LoggedEntry, erased: ErasedTurns, past: Past) -> bool:
    """Of a record of a kind that a newer version added: whether it holds the words, or names what goes."""
    values = list(_values(one.body))
    texts = [value for value in values if isinstance(value, str)]
    places = (v for v in values if isinstance(v, Mapping) and v.keys() == {"page_id", "start", "end"})
    return (
        erased.everything
        or any(text in erased.pages or text in past.changed for text in texts)
        or erased.repeated_in(texts)
        or any(erased.touches(Span(**place)) for place in places)
    )


def _values(value: Any) -> Iterator[Any]:
    """A JSON value, and every value in it, wherever it is."""
    yield value
    inner = value.values() if isinstance(value, Mapping) else value
    if not isinstance(value, str) and isinstance(inner, Iterable):
        for item in inner:
            yield from _values(item)
