"""What code works out from stated words: dates counted from a turn, counts, sums, differences, spans of time.

Every result is a `Derivation` whose terms are words of pages, so that it can be worked out again
(`recomputed`). A value is written as a person writes it: "October
2022", "3", "$45", "2 weeks". Nothing here guesses: what could mean two things is left out.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from functools import lru_cache
from itertools import combinations, islice, product

from pagestore import Span
from tiermem.model import Derivation, DerivationKind, Term
from tiermem.text.dates import DateMention, resolve_dates, without_dates
from tiermem.text.literals import NUMBER_PARTS, ORDINALS, Source, numbers
from tiermem.text.words import STOP_WORDS, WORD, lower, stem, words

_YEAR_AGO = re.compile(r"\b(?:a|an|one|1)\s+year\s+(?:ago|back)\b", re.IGNORECASE)
_AMOUNT = re.compile(
    r"(?:(?P<sign>[$€£])|(?<!\d))(?P<figure>\d++(?:,\d{3})*(?:\.\d++)?)(?![\d:%]|\.\d|st\b|nd\b|rd\b|th\b)"
)
_PART = "(?:" + "|".join(sorted(NUMBER_PARTS, key=len, reverse=True)) + ")"
SPOKEN_NUMBER = re.compile(rf"\b{_PART}(?:[ -](?:and )?{_PART}){{0,6}}\b", re.IGNORECASE)
_LENGTH = re.compile(r"\b(?P<n>\d+|[a-z]+)\s+(?P<unit>day|week|month|year)s?\b", re.IGNORECASE)
_ONES = "ones"
"""What "three different ones" is a number of: what the words around tell."""
_WHICH = frozenset(("different", "various", "new", "additional", "total", "separate"))
"""Words between a number and what it counts that say nothing of what that is."""
_LONGEST = 20
"""Characters of a number that is still reckoned with."""
_FEW = 4
"""Amounts, and turns that name one, up to which every choice among them is reckoned."""
_MAX_SUMS = 64
_MAX_AMOUNTS = 24
_MAX_MOMENTS = 12
"""Sums, amounts and dates that are tried, so that a hostile text costs no more than a long one."""
_CONTEXT = 12
"""Words around a date expression that may be needed to read it alone ("I will … Friday")."""
_CONTEXT_CHARACTERS = 400
"""Characters to either side in which these words are looked for."""
_UNIT_WITHIN = 40
"""Characters after a number in which the noun it counts is looked for."""
_LONGEST_MONTH = 31
"""Days beyond which what is told so exactly is no month."""
_DAYS_A_WEEK, _DAYS_A_MONTH, _DAYS_A_YEAR = 7, 30.44, 365.25
"""Days on average."""


_ADJECTIVES = 2
"""How many words may stand between a number and what it is a number of."""


@dataclass(frozen=True, slots=True)
class Amount:
    """A number that stands in a source, and what it is a number of ("" when nothing follows it)."""

    value: Decimal
    sign: str
    unit: str
    source: Source
    start: int
    end: int

    @property
    def term(self) -> Term:
        """The number as something a derivation starts from."""
        return term(self.source, self.start, self.end)


def recomputed(derivation: Derivation) -> str | None:
    """The value worked out again from the terms alone; `None` when they no longer give one.

    A date or span of time is told in the precision and unit of `derivation.value`.
    """
    terms = derivation.terms
    match derivation.kind:
        case "date":
            return _date_again(derivation)
        case "count":
            return str(len({(item.spans, item.text) for item in terms})) if terms else None
        case "sum" | "difference":
            return _reckoned_again(derivation)
        case "duration":
            return _duration_again(derivation)


def term(source: Source, start: int, end: int) -> Term:
    """The words of `source` from `start` to `end`, with their place where the source has one."""
    text = source.text[start:end]
    if len(source.spans) != 1 or source.spans[0].end - source.spans[0].start != len(source.text):
        return Term(text=text, spans=source.spans if text == source.text else (), said_at=source.said_at)
    whole = source.spans[0]
    place = Span(page_id=whole.page_id, start=whole.start + start, end=whole.start + end)
    return Term(text=text, spans=(place,) if end > start else (whole,), said_at=source.said_at)


def mentions(source: Source, *, durations: bool = True) -> tuple[DateMention, ...]:
    """The dates a source tells; "a year ago" is that month a year earlier, and that year."""
    return _mentions(source.text, source.said_at, durations=durations)


@lru_cache(maxsize=64)
def _mentions(text: str, said_at: datetime | None, *, durations: bool) -> tuple[DateMention, ...]:
    found = resolve_dates(text, said_at, durations=durations)
    if said_at is None:
        return found
    return (*found, *(_same_month(mention, said_at) for mention in found if _YEAR_AGO.match(mention.text)))


def _same_month(mention: DateMention, said_at: datetime) -> DateMention:
    month = resolve_dates(f"{mention.first.year:04}-{said_at.month:02}-01", None)[0].first
    last = resolve_dates("next month", month.replace(day=1))[0].first
    return replace(mention, first=month, last=date.fromordinal(last.toordinal() - 1), precision="month")


def counted_date(wanted: DateMention, sources: Iterable[Source]) -> Derivation | None:
    """How `wanted` is counted from when a source was said ("yesterday", "a year ago"), if it is."""
    for source in sources:
        relative = (mention for mention in mentions(source) if mention.kind != "absolute")
        for mention in islice(
            (each for each in relative if each.holds(wanted.first, wanted.last)), _MAX_MOMENTS
        ):
            alone = _alone(source, mention)
            if alone is not None:
                return Derivation(kind="date", value=mention.display, terms=(term(source, *alone),))
    return None


def _alone(source: Source, mention: DateMention) -> tuple[int, int] | None:
    """The shortest stretch with the date expression that means the same when it is read by itself."""
    for start, end in _stretches(source.text, mention):
        found = _mentions(source.text[start:end], source.said_at, durations=True)
        places = {(other.start, other.end) for other in found}
        same = any((other.first, other.last) == (mention.first, mention.last) for other in found)
        if len(places) == 1 and same:
            return start, end
    return None


def _stretches(text: str, mention: DateMention) -> Iterator[tuple[int, int]]:
    yield mention.start, mention.end
    shift = max(0, mention.start - _CONTEXT_CHARACTERS)
    near = text[shift : mention.end + _CONTEXT_CHARACTERS]
    found = [(match.start() + shift, match.end() + shift) for match in WORD.finditer(near)]
    before = [start for start, _ in found if start < mention.start][-_CONTEXT:]
    after = [end for _, end in found if end > mention.end][:_CONTEXT]
    yield from ((start, mention.end) for start in reversed(before))
    yield from ((mention.start, end) for end in after)


def _date_again(derivation: Derivation) -> str | None:
    if len(derivation.terms) != 1:
        return None
    first = derivation.terms[0]
    values = [mention.display for mention in _mentions(first.text, first.said_at, durations=True)]
    if derivation.value in values:
        return derivation.value
    return values[0] if values else None


@lru_cache(maxsize=64)
def amounts(source: Source) -> tuple[Amount, ...]:
    """The numbers of a source that are no part of a date, in figures or words, with what they count."""
    text = without_dates(source.text, resolve_dates(source.text, source.said_at))
    found: list[Amount] = []
    for match in _AMOUNT.finditer(text):
        if match.start() and text[match.start() - 1] in ".,:-/0123456789" and not match["sign"]:
            continue
        if len(match["figure"]) > _LONGEST:
            continue
        value = Decimal(match["figure"].replace(",", ""))
        found.append(Amount(value, match["sign"] or "", _unit(text, match.end()), source, *match.span()))
    for match in SPOKEN_NUMBER.finditer(text):
        said = [] if words(match.group())[-1] in ORDINALS else numbers(match.group())
        if len(said) == 1:
            found.append(Amount(Decimal(said[0]), "", _unit(text, match.end()), source, *match.span()))
    return tuple(sorted(found, key=lambda amount: amount.start))


def _unit(text: str, end: int) -> str:
    """The stem of what follows a number, past small words."""
    for match in WORD.finditer(text, end, end + _UNIT_WITHIN):
        word = match.group().lower()
        if "\n" in text[end : match.start()] or set(text[end : match.start()]) & set(".;:!?"):
            return ""
        if word == "ones":
            return _ONES
        if word not in STOP_WORDS and word not in _WHICH:
            return stem(word)
    return ""


def written(value: Decimal, sign: str = "") -> str:
    """A number as a person writes it: "3", "1,250.50" as "1250.50", "$45"."""
    plain = format(value.normalize(), "f")
    if "." in plain and sign:
        plain = f"{value:.2f}"
    return f"{sign}{plain}"


def reckoned(
    value: Decimal, sources: Sequence[Source], *, sign: str = "", units: Collection[str] = ()
) -> Derivation | None:
    """`value` as the sum or difference of amounts of one kind.

    Of one kind are amounts of the same currency, of the same thing, or of things all named by `units`
    (stems). Summed are all of a kind, all that differ, or one of each source; two alone are summed or
    subtracted only where there are no more than four, for among many some two give nearly any value.
    """
    given = [amount for source in sources for amount in amounts(source) if not sign or amount.sign == sign]
    kinds: dict[tuple[str, str], list[Amount]] = {}
    for amount in given:
        if amount.unit in units if units and not sign else amount.sign or amount.unit:
            of = "" if amount.sign or units else amount.unit
            kinds.setdefault((amount.sign, of), []).append(amount)
    for (mark, _), group in kinds.items():
        found = _of_kind(value, group[:_MAX_AMOUNTS], mark)
        if found is not None:
            return found
    return None


def _of_kind(value: Decimal, group: Sequence[Amount], sign: str) -> Derivation | None:
    for chosen in _sums(group):
        if len(chosen) > 1 and sum(amount.value for amount in chosen) == value:
            return _of_amounts("sum", value, sign, chosen)
    few = _differing(group)
    for one, two in combinations(few, 2) if len(few) <= _FEW else ():
        larger, smaller = (one, two) if one.value >= two.value else (two, one)
        if one.value + two.value == value:
            return _of_amounts("sum", value, sign, (one, two))
        if larger.value - smaller.value == value:
            return _of_amounts("difference", value, sign, (larger, smaller))
    return None


def _of_amounts(kind: DerivationKind, value: Decimal, sign: str, chosen: Sequence[Amount]) -> Derivation:
    return Derivation(kind=kind, value=written(value, sign), terms=tuple(amount.term for amount in chosen))


def _differing(group: Iterable[Amount]) -> list[Amount]:
    """An amount told twice counts once."""
    return list({amount.value: amount for amount in reversed(list(group))}.values())[::-1]


def _sums(group: Sequence[Amount]) -> Iterator[Sequence[Amount]]:
    """What may be added up: every amount, every different one, one of each source."""
    yield group
    yield _differing(group)
    by_source: dict[tuple[str, datetime | None], list[Amount]] = {}
    for amount in group:
        by_source.setdefault((amount.source.text, amount.source.said_at), []).append(amount)
    if 1 < len(by_source) <= _FEW:
        yield from islice(product(*by_source.values()), _MAX_SUMS)


def _reckoned_again(derivation: Derivation) -> str | None:
    found = [amounts(Source(item.text)) for item in derivation.terms]
    if len(found) < 2 or any(len(each) != 1 for each in found):
        return None
    first, *rest = [each[0] for each in found]
    if derivation.kind == "difference" and len(rest) != 1:
        return None
    total = sum((each.value for each in rest), Decimal(0))
    value = first.value + total if derivation.kind == "sum" else first.value - total
    signs = {first.sign, *(each.sign for each in rest)}
    return written(value, first.sign if len(signs) == 1 else "")


def count_of(terms: Sequence[Term]) -> Derivation | None:
    """How many different terms there are; `None` when there are none."""
    distinct = tuple({(item.spans, " ".join(words(item.text))): item for item in terms}.values())
    return Derivation(kind="count", value=str(len(distinct)), terms=distinct) if distinct else None


@dataclass(frozen=True, slots=True)
class Moment:
    """A day, month or year some term tells of, or the day it was said (a term without words)."""

    first: date
    last: date
    term: Term


def between(one: Moment, two: Moment, unit: str) -> int | None:
    """Whole units of time between two moments, to the nearest; `None` where they are not told so exactly."""
    early, late = (one, two) if one.first <= two.first else (two, one)
    exact = early.first == early.last and late.first == late.last
    months = (late.first.year - early.first.year) * 12 + late.first.month - early.first.month
    days = (late.first - early.first).days
    match unit:
        case "day":
            return days if exact else None
        case "week":
            return round(days / _DAYS_A_WEEK) if exact else None
        case "month":
            whole = all((moment.last - moment.first).days < _LONGEST_MONTH for moment in (early, late))
            return (round(days / _DAYS_A_MONTH) if exact else months) if whole else None
        case "year":
            alike = all((moment.last - moment.first).days > _LONGEST_MONTH for moment in (early, late))
            years = late.first.year - early.first.year
            return round(days / _DAYS_A_YEAR) if exact else years if alike else None
    return None


def _duration_again(derivation: Derivation) -> str | None:
    asked = _LENGTH.fullmatch(derivation.value)
    ends = [_moment_again(item) for item in derivation.terms]
    if asked is None or len(ends) != 2 or ends[0] is None or ends[1] is None:
        return None
    unit = lower(asked["unit"])
    length = between(ends[0], ends[1], unit)
    return None if length is None else f"{length} {unit}" if length == 1 else f"{length} {unit}s"


def _moment_again(item: Term) -> Moment | None:
    if not item.text:
        day = item.said_at.date() if item.said_at else None
        return Moment(day, day, item) if day else None
    found = _mentions(item.text, item.said_at, durations=False)
    return Moment(found[-1].first, found[-1].last, item) if found else None
