"""Compute recorded values again, from the words that they came from.

Only dates are computed now. Version 1 of the grader also recorded counts, sums, differences and durations. A
value is written as a person writes it: "October 2022", "3", "$45", "2 weeks".
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from tiermem.model import Derivation, Term
from tiermem.proof.derive import SPOKEN_NUMBER, mentions
from tiermem.text import Source
from tiermem.text.dates import resolve_dates, without_dates
from tiermem.text.literals import ORDINALS, numbers
from tiermem.text.words import lower, words

_AMOUNT = re.compile(
    r"(?:(?P<sign>[$€£])|(?<!\d))(?P<figure>\d++(?:,\d{3})*(?:\.\d++)?)(?![\d:%]|\.\d|st\b|nd\b|rd\b|th\b)"
)
_LENGTH = re.compile(r"\b(?P<n>\d+|[a-z]+)\s+(?P<unit>day|week|month|year)s?\b", re.IGNORECASE)
_LONGEST = 20
"""Characters of the longest number that is read."""
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


def recompute(derivation: Derivation) -> str | None:
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


def _date_again(derivation: Derivation) -> str | None:
    if len(derivation.terms) != 1:
        return None
    first = derivation.terms[0]
    values = [mention.display for mention in mentions(Source(first.text, first.said_at))]
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
    """Units of time between two moments, rounded; `None` where the moments are not given precisely enough."""
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
    found = mentions(Source(item.text, item.said_at), durations=False)
    return _Moment(found[-1].first, found[-1].last, item) if found else None
