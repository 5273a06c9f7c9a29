"""Compute dates from when a turn was said, and recorded values again.

A `Derivation` names the words (its terms) that a value comes from, so that it can be checked later
(`recomputed`). Only dates are computed now. Version 1 of the grader also recorded counts, sums, differences
and durations; they are computed again for audits. A value is written as a person writes it: "October 2022",
"3", "$45", "2 weeks".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from functools import lru_cache
from itertools import islice

from pagestore import Span
from tiermem.model import Derivation, Term
from tiermem.text.dates import DateMention, resolve_dates, without_dates
from tiermem.text.literals import NUMBER_PARTS, ORDINALS, Source, numbers
from tiermem.text.words import WORD, lower, words

_YEAR_AGO = re.compile(r"\b(?:a|an|one|1)\s+year\s+(?:ago|back)\b", re.IGNORECASE)
_AMOUNT = re.compile(
    r"(?:(?P<sign>[$€£])|(?<!\d))(?P<figure>\d++(?:,\d{3})*(?:\.\d++)?)(?![\d:%]|\.\d|st\b|nd\b|rd\b|th\b)"
)
_PART = "(?:" + "|".join(sorted(NUMBER_PARTS, key=len, reverse=True)) + ")"
SPOKEN_NUMBER = re.compile(rf"\b{_PART}(?:[ -](?:and )?{_PART}){{0,6}}\b", re.IGNORECASE)
_LENGTH = re.compile(r"\b(?P<n>\d+|[a-z]+)\s+(?P<unit>day|week|month|year)s?\b", re.IGNORECASE)
_LONGEST = 20
"""Characters of the longest number that is read."""
_MAX_MOMENTS = 12
"""Dates that are tried, so that a hostile text costs no more than a long one."""
_CONTEXT = 12
"""Words around a date expression that may be needed to read it alone ("I will … Friday")."""
_CONTEXT_CHARACTERS = 400
"""Characters to either side in which these words are looked for."""
_LONGEST_MONTH = 31
"""Days of the longest month."""
_DAYS_A_WEEK, _DAYS_A_MONTH, _DAYS_A_YEAR = 7, 30.44, 365.25
"""Days on average."""


@dataclass(frozen=True, slots=True)
class _Amount:
    """A number in a text, with the sign of its currency, and where it begins."""

    value: Decimal
    sign: str
    start: int


def recomputed(derivation: Derivation) -> str | None:
    """Compute the value from the terms alone; `None` if they give none.

    A date or a duration has the precision and unit of `derivation.value`.
    """
    terms = derivation.terms
    match derivation.kind:
        case "date":
            return _date_again(derivation)
        case "count":
            return str(len({(item.spans, item.text) for item in terms})) if terms else None
        case "sum" | "difference":
            return _sum_again(derivation)
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


def _amounts(text: str) -> list[_Amount]:
    """The numbers of a text that are no part of a date, in figures or words."""
    plain = without_dates(text, resolve_dates(text, None))
    found: list[_Amount] = []
    for match in _AMOUNT.finditer(plain):
        if match.start() and plain[match.start() - 1] in ".,:-/0123456789" and not match["sign"]:
            continue
        if len(match["figure"]) > _LONGEST:
            continue
        found.append(_Amount(Decimal(match["figure"].replace(",", "")), match["sign"] or "", match.start()))
    for match in SPOKEN_NUMBER.finditer(plain):
        said = [] if words(match.group())[-1] in ORDINALS else numbers(match.group())
        if len(said) == 1:
            found.append(_Amount(Decimal(said[0]), "", match.start()))
    return sorted(found, key=lambda amount: amount.start)


def _written(value: Decimal, sign: str) -> str:
    """A number as a person writes it: "3", "1,250.50" as "1250.50", "$45"."""
    plain = format(value.normalize(), "f")
    if "." in plain and sign:
        plain = f"{value:.2f}"
    return f"{sign}{plain}"


def _sum_again(derivation: Derivation) -> str | None:
    found = [_amounts(item.text) for item in derivation.terms]
    if len(found) < 2 or any(len(each) != 1 for each in found):
        return None
    first, *rest = [each[0] for each in found]
    if derivation.kind == "difference" and len(rest) != 1:
        return None
    total = sum((each.value for each in rest), Decimal(0))
    value = first.value + total if derivation.kind == "sum" else first.value - total
    signs = {first.sign, *(each.sign for each in rest)}
    return _written(value, first.sign if len(signs) == 1 else "")


@dataclass(frozen=True, slots=True)
class _Moment:
    """A day, month or year some term tells of, or the day it was said (a term without words)."""

    first: date
    last: date
    term: Term


def _between(one: _Moment, two: _Moment, unit: str) -> int | None:
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
    length = _between(ends[0], ends[1], unit)
    return None if length is None else f"{length} {unit}" if length == 1 else f"{length} {unit}s"


def _moment_again(item: Term) -> _Moment | None:
    if not item.text:
        day = item.said_at.date() if item.said_at else None
        return _Moment(day, day, item) if day else None
    found = _mentions(item.text, item.said_at, durations=False)
    return _Moment(found[-1].first, found[-1].last, item) if found else None
