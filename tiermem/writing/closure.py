"""What goes when turns go: everything that rests on their words or repeats them. Pure.

What a step was shown is what its record rests on. The rules, one for each kind of entry (`RULES`):
- A unit loses the spans that stood in the turns. It stays when the words that are left prove it, linked
  again as if the turns had never been said; a unit beside them stays unless it needed them (a name, a
  question) to be proved. Where its maker was shown the turns, or a unit that goes with them, it stays only
  when each of its words stands in what is left of its own pages: the wording may tell of the turns what no
  rule can see. Its scene goes in either case.
- A unit that code derived goes with any turn that a term of the derivation stands in.
- Of a page's other claims, those that were rejected go with the words of any page that was read with it.
- An answer goes when any evidence it was shown stood in the turns or was a unit that goes or changes, when it
  read a page of theirs whole, or when it repeats their words; what it cost stays. A finding goes with its
  answer; a decision goes with its unit, and its finding, where the answer stays, is pending again. The
  reason of a decision goes with the answer, and with any unit that it was weighed against.
- The reason why a unit was withdrawn or reinstated goes with the unit. What was stated rests on its own turn
  alone, and a correction stays when what it corrects goes. No record names a unit that goes, whose id is made
  of its words, nor decides on a finding that nobody has any more.
- An entry that does not say what it was shown (older versions kept no note of it) counts as shown the turns;
  of its units the wording is held to its words only where the turns stood on their own pages.
- What may stay of a record that goes stands in for it, so the fold of the log never holds what went.
- Where telling what may stay raises something unexpected, nothing stays but the cost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pagestore import Page, PageId, SessionId, Span
from pagestore.errors import Closed, Inaccessible
from tiermem.errors import unexpected
from tiermem.ledger import (
    Answered,
    Distilled,
    Entry,
    Erased,
    Erasing,
    Held,
    Redistilled,
    Reinstated,
    Retired,
    SetAside,
    Spent,
    Stated,
    TurnAt,
    WroteBack,
    told_in,
)
from tiermem.ledger.entries import decode_body, encode, kind_of
from tiermem.model import Claim, Degradation, FindingId, SummaryUnit, UnitId, Usage
from tiermem.proof import Fingerprints, in_words_of, still_proved, withheld
from tiermem.text import omissions, page_literals

StandIn = tuple[int, str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gone:
    """The turns that go: their pages as they were (under every id), their numbers, what betrays them.

    `read` brings the other pages that units rest on; `also` are turns that stay and say some of the same.
    """

    pages: Mapping[PageId, Page]
    read: Callable[[PageId], Page]
    seqs: frozenset[int]
    words: Fingerprints
    also: tuple[TurnAt, ...] = ()
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
            return self.read(page_id)
        return withheld(self.pages[page_id], lambda line: line.seq not in self.seqs)

    def before(self, page_id: PageId) -> Page:
        """A page as it was."""
        return self.pages[page_id] if page_id in self.pages else self.read(page_id)

    def repeated_in(self, texts: Iterable[str | None]) -> bool:
        """Whether any of some texts repeats the words."""
        return any(text and self.words.are_in(text) for text in texts)


@dataclass(slots=True)
class Past:
    """What the records up to here come to, in the order of the log: a step was shown only what was before it.

    `changed` are units that go, or lose words or a revision, `gone` those that go, whose ids, made of their
    words, are named no more, and `held` those of which some revision stays, the newest of them; `sceneless`
    lose their scene, and `standing` are the findings of answers that stay.
    """

    changed: set[UnitId | None] = field(default_factory=set)
    gone: set[UnitId] = field(default_factory=set)
    held: dict[UnitId, SummaryUnit] = field(default_factory=dict)
    superseded: set[UnitId] = field(default_factory=set)
    sceneless: set[UnitId] = field(default_factory=set)
    standing: set[FindingId] = field(default_factory=set)

    def note(self, unit: SummaryUnit, left: SummaryUnit | None) -> None:
        """Note what became of a unit."""
        if left is None or (left.text, left.spans) != (unit.text, unit.spans):
            self.changed.add(unit.id)
        if left is not None and left.scene != unit.scene:
            self.sceneless.add(unit.id)
        if left is not None:
            self.held[unit.id] = left
            self.superseded.update(left.supersedes)
            self.gone.discard(unit.id)
        elif unit.id not in self.held:  # else an earlier revision of it stays
            self.gone.add(unit.id)

    def told_of(self, page_id: PageId) -> list[str]:
        """What the units tell that rest on a page, those superseded or withdrawn aside."""
        left = (unit for unit in self.held.values() if unit.id not in self.superseded)
        return [unit.text for unit in left if any(span.page_id == page_id for span in unit.spans)]

    def left_of(self, ids: Iterable[UnitId]) -> tuple[UnitId, ...]:
        """Those of some units that do not go."""
        return tuple(unit_id for unit_id in ids if unit_id not in self.gone)


@dataclass(frozen=True, slots=True, kw_only=True)
class Closure:
    """Records to erase, and what stands in for them: for `stripped` of them, what of their own may stay."""

    records: tuple[int, ...]
    instead: tuple[StandIn, ...]
    stripped: int


@dataclass
class _Taken:
    records: list[int] = field(default_factory=list)
    instead: list[StandIn] = field(default_factory=list)
    stripped: int = 0


def closure(held: Iterable[Held], gone: Gone) -> Closure:
    """Which of everything held must go with the turns, and what of it may stay."""
    taken, past = _Taken(), Past()
    for one in held:
        if one.place is None:
            taken.records.append(one.held_in)
            continue
        entry = decode_body(one.kind, one.body, seq=one.held_in)
        if entry is None:
            if _unknown_goes(one, gone, past):
                taken.records.append(one.held_in)
            continue
        left = _left_of(entry, one, gone, past)
        if left == entry:
            continue
        taken.records.append(one.held_in)
        if left is not None:
            taken.instead.append((one.place, kind_of(left), encode(left)))
            taken.stripped += type(left) is type(entry)
    return Closure(records=tuple(taken.records), instead=tuple(taken.instead), stripped=taken.stripped)


def _left_of(entry: Entry, one: Held, gone: Gone, past: Past) -> Entry | None:
    """What may stay of an entry by the rule of its kind, and what was paid where that cannot be told."""
    try:
        return RULES[type(entry)](entry, gone, past)
    except (Closed, Inaccessible):
        raise  # nothing is erased yet, and what was announced is finished later
    except Exception as error:  # noqa: BLE001  # logged; what nobody can tell apart from what goes, goes
        unexpected(error, f"telling what may stay of record {one.held_in}")
    match entry:
        case Distilled() | Redistilled():
            for unit in entry.units:
                past.note(unit, None)
        case WroteBack() if entry.unit is not None:
            past.note(entry.unit, None)
        case Stated():
            past.note(entry.unit, None)
        case _:
            pass
    usage = entry.answer.usage if isinstance(entry, Answered) else getattr(entry, "usage", Usage())
    return Spent(step=one.kind, usage=usage) if usage.calls else None


def _distilled(entry: Distilled | Redistilled, gone: Gone, past: Past) -> Entry:
    beside = entry.beside if isinstance(entry, Distilled) else ()
    shown = any(page_id in gone.pages for page_id in (entry.page_id, *(beside or ())))
    units = []
    for unit in entry.units:
        left = unit_left(unit, gone, shown=shown)
        past.note(unit, left)
        if left is not None:
            units.append(left if beside is not None else replace(left, scene=None))
    if shown or beside is None:
        rejected: tuple[Any, ...] = ()
    else:
        rejected = tuple(r for r in entry.rejected if not gone.repeated_in((r.claim, *r.quotes, r.reason)))
    left_of = replace(entry, units=tuple(units), rejected=rejected)
    if entry.page_id not in gone.pages:
        return left_of
    page = gone.after(entry.page_id)
    # A page that was summarised again had lost what none of all its units told.
    told = past.told_of(entry.page_id) if isinstance(entry, Redistilled) else [unit.text for unit in units]
    lost = omissions(page, told)
    left_of = replace(left_of, omissions=lost, literals=len(page_literals(page)))
    return replace(left_of, hints=()) if isinstance(left_of, Redistilled) else left_of


def unit_left(unit: SummaryUnit, gone: Gone, *, shown: bool) -> SummaryUnit | None:
    """The unit as it may stay: itself, with fewer spans, or not at all.

    `shown`: whether whoever worded it was shown the turns, or what goes with them.
    """
    terms = [term for one in unit.derivations for term in one.terms]
    values = [one.value for one in unit.derivations]
    if gone.everything or gone.repeated_in([unit.text, *values, *(term.text for term in terms)]):
        return None
    if any(gone.touches(span) for term in terms for span in term.spans):
        return None
    beside = any(span.page_id in gone.pages for span in unit.spans)
    if not beside and not shown:
        return replace(unit, scene=None) if gone.repeated_in([unit.scene]) else unit
    # A scene is told by all that was shown, and nothing proves it.
    left = replace(unit, spans=tuple(s for s in unit.spans if not gone.touches(s)), scene=None)
    if not left.spans:
        return None
    if left.spans != unit.spans:
        stays = _proved(left, gone.after)
    else:
        stays = not beside or _proved(left, gone.after) or not _proved(left, gone.before)
    return left if stays and in_words_of(left.text, _pages_of(left, gone.after), computed=values) else None


def _pages_of(unit: SummaryUnit, page_of: Callable[[PageId], Page]) -> tuple[Page, ...]:
    return tuple(page_of(page_id) for page_id in dict.fromkeys(span.page_id for span in unit.spans))


def _proved(unit: SummaryUnit, page_of: Callable[[PageId], Page]) -> bool:
    """Whether the words the unit rests on prove it: all of them together, or those of one page alone.

    A unit that was merged from two holds when either side's page tells all of it.
    """
    pages = _pages_of(unit, page_of)
    return _proved_by(unit, pages) or (len(pages) > 1 and any(_proved_by(unit, (page,)) for page in pages))


def _proved_by(unit: SummaryUnit, pages: tuple[Page, ...]) -> bool:
    by_id = {page.id: page for page in pages}
    spans = [span for span in unit.spans if span.page_id in by_id]
    quotes = tuple(by_id[span.page_id].text[span.start : span.end] for span in spans)
    return still_proved(Claim(text=unit.text, quotes=quotes, event_at=unit.event_at), pages)


def _answered(entry: Answered, gone: Gone, past: Past) -> Entry:
    trace = entry.answer.trace
    shown = {one.unit_id for one in trace.candidates} | {one.unit_id for one in entry.answer.citations}
    if (
        gone.everything
        or trace.session in gone.sessions
        or any(page_id in gone.pages for a_round in trace.rounds for page_id in a_round.pages)
        or any(gone.touches(span) for span in _spans(encode(entry)))
        or _tells_of_pages(trace.degradations, gone)
        or not past.changed.isdisjoint(shown)
        or gone.repeated_in(told_in(entry))
    ):
        return Spent(step="ask", usage=entry.answer.usage)
    past.standing.update(finding.id for finding in entry.findings)
    return entry


def _tells_of_pages(degradations: Iterable[Degradation], gone: Gone) -> bool:
    """Whether it was told of a page of theirs why it could not be read, which may repeat its words."""
    told = [f"{one.reason} {one.fallback}" for one in degradations]
    return any(page_id in text for text in told for page_id in gone.pages)


def _wrote_back(entry: WroteBack, gone: Gone, past: Past) -> Entry | None:
    decision, unit = entry.write_back, entry.unit
    spent = Spent(step="write-back", usage=entry.usage) if entry.usage.calls else None
    if gone.everything:
        return spent
    # The fact is of its answer's wording; a merged text and the reason are of whoever was shown the units.
    astray = decision.finding_id not in past.standing
    weighed = entry.shown is None or not past.changed.isdisjoint(entry.shown)
    if unit is not None:
        left = unit_left(unit, gone, shown=astray or (weighed and decision.op == "UPDATE"))
        if left is not None and not past.sceneless.isdisjoint((unit.id, *(entry.shown or ()))):
            left = replace(left, scene=None)  # it is that of the unit it was merged into
        past.note(unit, left)
        if left is None:
            return spent
        entry = replace(entry, unit=replace(left, supersedes=past.left_of(left.supersedes)))
        weighed = weighed or unit.id in past.changed
    elif astray:
        return spent
    decision = replace(decision, superseded=past.left_of(decision.superseded))
    named = any(unit_id in decision.reason for unit_id in past.gone)
    if astray or weighed or named or gone.repeated_in([decision.reason]):
        decision = replace(decision, reason="")
    shown = None if entry.shown is None else past.left_of(entry.shown)
    return replace(entry, write_back=decision, shown=shown)


def _stated(entry: Stated, gone: Gone, past: Past) -> Entry | None:
    left = unit_left(entry.unit, gone, shown=False)
    past.note(entry.unit, left)
    if left is None:
        return None
    unit = replace(left, supersedes=past.left_of(left.supersedes))
    return replace(entry, unit=unit, corrects=past.left_of(entry.corrects))


def _retired(entry: Retired | Reinstated, gone: Gone, past: Past) -> Entry | None:
    left = past.left_of(entry.unit_ids)
    if not left:
        return None
    if isinstance(entry, Retired):
        past.superseded.update(left)
    else:
        past.superseded.difference_update(left)
    rests = gone.everything or not past.changed.isdisjoint(entry.unit_ids)
    reason = "" if rests or gone.repeated_in([entry.reason]) else entry.reason
    return replace(entry, unit_ids=left, reason=reason)


def _erasing(entry: Erasing, gone: Gone, _past: Past) -> Entry:
    """A reason was given by somebody who was told that it stays; repeated words go from it all the same."""
    return replace(entry, reason="") if gone.repeated_in([entry.reason]) else entry


def _set_aside(entry: SetAside, gone: Gone, _past: Past) -> Entry | None:
    """Its reason holds what an error said of the page."""
    goes = gone.everything or entry.page_id in gone.pages or gone.repeated_in([entry.reason])
    return None if goes else entry


def _without_words(entry: Entry, _gone: Gone, _past: Past) -> Entry:
    """It counts, and tells nothing."""
    return entry


RULES: Mapping[type[Entry], Callable[[Any, Gone, Past], Entry | None]] = {
    Distilled: _distilled,
    Redistilled: _distilled,
    Answered: _answered,
    WroteBack: _wrote_back,
    Retired: _retired,
    Reinstated: _retired,
    Stated: _stated,
    Erasing: _erasing,
    SetAside: _set_aside,
    Erased: _without_words,
    Spent: _without_words,
}
"""What stays of an entry of each kind: itself, what may be known of it, or nothing."""


def _unknown_goes(one: Held, gone: Gone, past: Past) -> bool:
    """Of a record of a kind that a newer version added: whether it holds the words, or names what goes."""
    texts = list(_texts(one.body))
    return (
        gone.everything
        or any(text in gone.pages or text in past.changed for text in texts)
        or gone.repeated_in(texts)
        or any(map(gone.touches, _spans(one.body)))
    )


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
