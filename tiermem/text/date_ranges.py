"""The days that words name as a time: dates, and the words next to them ("since", "between … and …").

What words do not fix gets the wider range, as in `tiermem.text.dates`. A time may be given by itself, or
in a sentence, where "1984" may be a book, "June" a name and "the last day" one of a journey.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta

from tiermem.text.dates import (
    MONTHS,
    WEEKDAYS,
    DateMention,
    add_months,
    count,
    resolve_dates,
    weekday_before,
    weekday_from,
    weekday_until,
    without_dates,
)
from tiermem.text.words import lower

_BESIDE = 48
"""Characters before and after a date in which the words that belong to it are looked for."""

_COUNT = (
    r"(?P<n>\d{1,3}|a couple of|couple of|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
)
_UNIT = r"(?P<unit>day|weekend|week|month|year)"
_LAST = re.compile(
    rf"\b(?P<last>the\s++last|(?:the\s++|this\s++)?past|last)\s++(?:{_COUNT}\s++)?+{_UNIT}s?\b(?!\s++of\b)",
    re.IGNORECASE,
)
_ISO_MONTH = re.compile(r"(?<![\w/.-])(?P<year>\d{4})-(?P<month>\d{1,2})(?![\w/-])")
_MONTH = re.compile(
    r"\b(?:" + "|".join(f"{month}|{month[:3]}" for month in MONTHS) + r"|sept)\b", re.IGNORECASE
)
_PLAIN_WEEKDAY = re.compile(r"\b(?:" + "|".join(WEEKDAYS) + r")\b", re.IGNORECASE)
_PREPOSITION = re.compile(r"(?:in|since|until|by|of|during|early|late|mid|on|between)[\s-]++", re.IGNORECASE)
_OTHER_YEAR = re.compile(r"\d{4}|\b(?:last|past|next|this|coming)\b|\d[/.]\d", re.IGNORECASE)
_TO = re.compile(
    r"(?<!\s)\s*+(?:-|–|to|until|till|through|up to)\s*+(?:the\s++)?+(?:end\s++of\s++)?+", re.IGNORECASE
)
_AND = re.compile(r"(?:,|(?<!\s))\s++and\s++(?:the\s++)?+", re.IGNORECASE)
_COUNTED_FROM = re.compile(r"\b(?:day|week|fortnight|month|year)s?\s++from\s++(?:the\s++)?$", re.IGNORECASE)
_OF = re.compile(r"(?<!\s)\s++of\b", re.IGNORECASE)
_LED = re.compile(r"\b(?:in|on|during)\s++(?:the\s++)?+$", re.IGNORECASE)
_BETWEEN = re.compile(r"\bbetween\s++(?:the\s++)?+$", re.IGNORECASE)
_FROM = re.compile(r"\bfrom\s++(?:the\s++)?+$", re.IGNORECASE)
_RELATION = re.compile(
    r"\b(?:(?P<since>since|starting(?:\s++(?:in|on|from))?|from|not before)|"
    r"(?P<after>after|later than|following)|"
    r"(?P<before>before|prior to|earlier than)|"
    r"(?P<until>until|till|up to|through|by|as of|not after|no later than))\s++"
    r"(?:(?:the\s++)?(?P<part>\w++(?:\s++\w++)?)\s++of\s++)?(?:the\s++)?(?:(?:in|on)\s++)?$",
    re.IGNORECASE,
)
_BESIDE_IT = re.compile(
    r"\b(?:the\s++|last\s++)?(?:" + _COUNT + r"\s++|an?\s++)?(?P<what>day|weekend|week|month|year|"
    + "|".join(WEEKDAYS) + r")s?\s++(?P<way>before|prior to|after|following)\s++(?:the\s++)?$",
    re.IGNORECASE,
)  # fmt: skip
_ONWARD = re.compile(r"(?<!\s)\s++(?:on(?=\W*+$)|onwards?|and (?:after|later))\b", re.IGNORECASE)
_UNREAD = re.compile(
    r"\d|\b(?:since|from|after|before|between|until|till|to|through|not|no|never|except|without|but|other)\b",
    re.IGNORECASE,
)
"""What may not be left unread in a text that names a time: numbers, and words that change its meaning."""
_AFTER_OTHER_WORD = re.compile(
    r"(?<![^\W\d_])(?!(?:the|in|of|year|and|or|to|early|late|mid|during|throughout|within|by|only|just|around|"
    r"about|all|for)\s)"
    r"[^\W\d_]++\.?\s++$",
    re.IGNORECASE,
)
"""A word before a year that says which part of it, or which side, in words that are not read: "März 2024"."""

_YEAR_IS_ONE = re.compile(
    r"\b(?:in|of|since|until|till|by|before|after|from|between|during|through(?:out)?|early|late|mid|year|than|"
    r"around|for)[\s-]++(?:the\s++year\s++)?$",
    re.IGNORECASE,
)
_DAY_IS_ONE = re.compile(r"\b(?:on|since|until|till|by|before|after|from|between)\s++$", re.IGNORECASE)
_MONTH_IS_ONE = re.compile(r"\b(?:in|since|until|till|during|early|late|mid|between)[\s-]++$", re.IGNORECASE)
_ALWAYS_MONTHS = frozenset(MONTHS) - {"march", "april", "may", "june", "august"}
_EACH = re.compile(r"\b(?:every|each|any|most|all)\s++(?:other\s++)?$", re.IGNORECASE)
_OF_A_TALE = re.compile(
    r"\A(?i:(?:the\s++next|following|previous)\b|(?:within\s++)?an?\s++\w++\Z|"
    r"(?:the\s++)?(?:last|past|next)\s++day\Z)|\b(?:later|earlier|prior|sat|sun|wed|may|march)\Z"
)
"""Words that count from what a sentence tells, or are no dates at all."""
_THE_NTH = re.compile(r"\bthe\s++\d{1,2}(?:st|nd|rd|th)$", re.IGNORECASE)
_ENDS = re.compile(r"(?<!\s)\s*+(?:[?.!,;:)]|$)")


@dataclass(frozen=True, slots=True, kw_only=True)
class DateRange:
    """The place of words that name a time, and its days, both included; `None` for an open end."""

    start: int
    end: int
    first: date | None
    last: date | None
    outright: bool
    """Whether it is named by the calendar, and not seen from when it is said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Point:
    """One date of a text; `yearless` where the text leaves the year open, `from_to` where it
    names two days and all between.
    """

    start: int
    end: int
    first: date
    last: date
    outright: bool
    yearless: bool = False
    from_to: bool = False
    sure: bool = True


def date_ranges(text: str, asked: date, *, past: bool = True) -> tuple[DateRange, ...]:
    """The times of a text that is to name them, in order; none where anything of it would be passed over.

    With `past` a weekday and a day or month without a year are the newest ones that are not to come.
    """
    try:
        found = _ranges(
            text, _with_weekdays(text, _points(text, asked, past=past), asked, past=past), alone=True
        )
    except (ValueError, OverflowError):  # it ends before it begins, or outside the calendar
        return ()
    is_in_part = any(
        text[one.start : one.end].isdecimal() and _AFTER_OTHER_WORD.search(text[: one.start]) for one in found
    )
    return () if is_in_part or _UNREAD.search(without_dates(text, found)) else found


def date_ranges_in(text: str, asked: date, *, past: bool = True) -> tuple[DateRange, ...]:
    """The times that a sentence names beyond doubt: those named outright, from which others count, or all."""
    try:
        points = list(_judge_dates(text, _points(text, asked, past=past)))
        found = _ranges(text, points, alone=False)
    except (ValueError, OverflowError):  # it ends before it begins, or outside the calendar
        return ()
    return tuple(one for one in found if one.outright) or found


def _points(text: str, asked: date, *, past: bool) -> list[_Point]:
    """The dates of a text in their order, without overlaps."""
    taken = bytearray(len(text))
    found: list[_Point] = []
    for point in (
        *_last_units(text, asked),
        *_iso_months(text),
        *_mentions(text, asked),
        *_months(text, asked),
    ):
        if not any(taken[point.start : point.end]):
            taken[point.start : point.end] = b"\x01" * (point.end - point.start)
            if point.first <= point.last:
                is_to_come = past and point.yearless and point.first > asked
                found.append(_years_on(point, -1) if is_to_come else point)
    return sorted(found, key=lambda point: point.start)


def _with_weekdays(text: str, points: Sequence[_Point], asked: date, *, past: bool) -> list[_Point]:
    """The dates of a text that names times alone: no tense says on which side its weekdays lie."""
    taken = {place for point in points for place in range(point.start, point.end)}
    weekdays = []
    for match in _PLAIN_WEEKDAY.finditer(text):
        if match.start() not in taken:
            weekday = WEEKDAYS.index(lower(match.group()))
            day = weekday_until(asked, weekday) if past else weekday_from(asked, weekday)
            weekdays.append(_Point(start=match.start(), end=match.end(), first=day, last=day, outright=False))
    return sorted((*points, *weekdays), key=lambda point: point.start)


def _last_units(text: str, asked: date) -> Iterator[_Point]:
    """As "the last two weeks", which are not over: since so long ago, or the last whole one."""
    for match in _LAST.finditer(text):
        unit, bare = lower(match["unit"]), match["n"] is None
        if unit == "weekend" or (bare and (unit == "day" or lower(match["last"]) == "last")):
            continue
        first = _step_day(asked, unit, -(1 if bare else count(match["n"])))
        if bare and "last" in lower(match["last"]):
            first = min(first, *(found.first for found in resolve_dates(f"last {unit}", asked)))
        yield _Point(start=match.start(), end=match.end(), first=first, last=asked, outright=False)


def _iso_months(text: str) -> Iterator[_Point]:
    for match in _ISO_MONTH.finditer(text):
        year, month = int(match["year"]), int(match["month"])
        if 1 <= month <= 12 and year:
            first = date(year, month, 1)
            yield _Point(
                start=match.start(), end=match.end(), first=first, last=_month_end(first), outright=True
            )
        else:  # no date, and neither is the year in it
            yield _Point(start=match.start(), end=match.end(), first=date.max, last=date.min, outright=True)


def _mentions(text: str, asked: date) -> Iterator[_Point]:
    for found in resolve_dates(text, asked):
        if found.kind != "absolute" and _OF.match(text, found.end):
            continue  # "the last week of October 2023"
        if _COUNTED_FROM.search(text[max(0, found.start - _BESIDE) : found.start]):
            continue  # "a week from tomorrow"
        preposition = _PREPOSITION.match(found.text)
        start = found.start + (0 if preposition is None else preposition.end())
        if lower(found.text).startswith("between"):
            start = found.start
        yield _Point(
            start=start,
            end=found.end,
            first=found.first,
            last=found.last,
            outright=found.kind == "absolute",
            from_to=found.precision == "range",
            yearless=not _OTHER_YEAR.search(found.text)
            and _MONTH.search(found.text) is not None
            and weekday_before(text, found.start) is None,
        )


def _months(text: str, asked: date) -> Iterator[_Point]:
    """Months by their names alone, which are dates only next to other words."""
    known: dict[str, tuple[DateMention, ...]] = {}
    for match in _MONTH.finditer(text):
        name = lower(match.group())
        if name not in known:
            known[name] = resolve_dates(f"in {name}", asked)
        for found in known[name]:
            yield _Point(
                start=match.start(),
                end=match.end(),
                first=found.first,
                last=found.last,
                outright=False,
                yearless=True,
            )


def _years_on(point: _Point, years: int) -> _Point:
    first, last = _step_day(point.first, "year", years), _step_day(point.last, "year", years)
    return replace(point, first=first, last=last)


def _month_end(day: date) -> date:
    return add_months(day, 1) - timedelta(days=1)


def _step_day(day: date, unit: str, steps: int) -> date:
    """The day so many units later."""
    if unit in ("day", "week"):
        return day + timedelta(days=steps * (7 if unit == "week" else 1))
    at = add_months(day, steps * (12 if unit == "year" else 1))
    return at.replace(day=min(day.day, _month_end(at).day))


def _ranges(text: str, points: Sequence[_Point], *, alone: bool) -> tuple[DateRange, ...]:
    """The ranges of the dates with the words next to them."""
    found: list[DateRange] = []
    for point in _join_dates(text, points):
        if point.sure:
            one = _relate(text, point, alone=alone)
            while found and found[-1].end > one.start:  # "the Sunday before 25 October"
                found.pop()
            found.append(one)
    return tuple(found)


def _join_dates(text: str, points: Sequence[_Point]) -> list[_Point]:
    """The dates, two of them as one where the words between them say from the one to the other."""
    joined: list[_Point] = []
    waiting = list(reversed(points))
    while waiting:
        one = waiting.pop()
        between = _from_to(text, one, waiting[-1]) if waiting else None
        if between is not None:
            waiting.pop()
        joined.append(between or one)
    return joined


def _from_to(text: str, one: _Point, other: _Point) -> _Point | None:
    """From the one to the other; `None` where the words between them do not say so."""
    middle, before = text[one.end : other.start], text[max(0, one.start - _BESIDE) : one.start]
    led = _BETWEEN.search(before) if _AND.fullmatch(middle) else None
    if led is None:
        if not _TO.fullmatch(middle):
            return None
        led = _FROM.search(before)
    if one.yearless:
        one = _years_on(one, other.last.year - one.first.year)
        one = one if one.first <= other.last else _years_on(one, -1)
    elif other.yearless:
        other = _years_on(other, one.first.year - other.first.year)
        other = other if one.first <= other.last else _years_on(other, 1)
    if one.first > other.last:
        raise ValueError(f"{text[one.start : other.end]!r} ends before it begins")
    start = one.start if led is None else one.start - len(before) + led.start()
    return _Point(
        start=start,
        end=other.end,
        first=one.first,
        last=other.last,
        outright=one.outright or other.outright,
        from_to=True,
        sure=led is not None or one.sure or other.sure,
    )


def _relate(text: str, point: _Point, *, alone: bool) -> DateRange:
    """The date with the words before it that say which side of it is meant."""
    before = text[max(0, point.start - _BESIDE) : point.start]
    first: date | None = point.first
    last: date | None = point.last
    end, found = point.end, _BESIDE_IT.search(before)
    if found is not None:
        first, last = _next_to(point, found)
    else:
        found = _RELATION.search(before)
        onward = _ONWARD.match(text, point.end)
        if onward is not None:
            last, end = None, onward.end()
        is_from = found is not None and lower(found.group()).startswith("from ")
        if is_from and not (alone or onward):
            found = None
        elif found is not None and not (is_from and point.from_to):
            first, last = _on_its_side(point, found)
    start = len(before) if found is None else found.start()
    led = _LED.search(before, 0, start)
    start = point.start - len(before) + (start if led is None else led.start())
    return DateRange(start=start, end=end, first=first, last=last, outright=point.outright)


def _on_its_side(point: _Point, found: re.Match[str]) -> tuple[date | None, date | None]:
    """What lies since, after, before or until a date; of a part of it, where that begins is not known."""
    if found["since"] or (found["after"] and found["part"]):
        return point.first, None
    if found["after"]:
        return _day_on(point.last, 1), None
    if found["until"] or found["part"]:
        return None, point.last
    return None, _day_on(point.first, -1)


def _next_to(point: _Point, found: re.Match[str]) -> tuple[date, date]:
    """The day, the weeks or the Sunday before or after a date."""
    what, back = lower(found["what"]), lower(found["way"]) in ("before", "prior to")
    edge = _day_on(point.first, -1) if back else _day_on(point.last, 1)
    if what in ("weekend", *WEEKDAYS):
        wanted = 6 if what == "weekend" and back else 5 if what == "weekend" else WEEKDAYS.index(what)
        day = weekday_until(edge, wanted) if back else weekday_from(edge, wanted)
        return (_day_on(day, -1) if what == "weekend" and back else day), (
            _day_on(day, 1) if what == "weekend" and not back else day
        )
    steps = 1 if found["n"] is None else count(found["n"])
    if back:
        return _step_day(point.first, what, -steps), edge
    return edge, _step_day(point.last, what, steps)


def _day_on(day: date, days: int) -> date:
    return day + timedelta(days=days)


def _judge_dates(text: str, points: Sequence[_Point]) -> Iterator[_Point]:
    """The dates of a sentence, and which of them are dates beyond doubt."""
    ends = [0, *(point.end for point in points)]
    starts = [*(point.start for point in points[1:]), len(text)]
    for point, begin, end in zip(points, ends, starts, strict=False):
        before = text[max(begin, point.start - _BESIDE) : point.start]
        after = text[point.end : min(end, point.end + _BESIDE)]
        sure = _is_sure(text[point.start : point.end], before, after, outright=point.outright)
        yield replace(point, sure=sure)


def _is_sure(words: str, before: str, after: str, *, outright: bool) -> bool:
    """Whether words of a sentence, between those before and after them, are a date beyond doubt."""
    if _within_a_word(before, after) or _EACH.search(before):
        return False
    if words.isdigit():
        return _YEAR_IS_ONE.search(before) is not None
    if _MONTH.fullmatch(words):
        return _is_month(words, before, after)
    if lower(words) in WEEKDAYS:
        return _DAY_IS_ONE.search(before) is not None
    if _THE_NTH.search(words):
        return _ENDS.match(after) is not None
    if words.startswith(("may ", "march ")):
        return _YEAR_IS_ONE.search(before) is not None or _DAY_IS_ONE.search(before) is not None
    return outright or _OF_A_TALE.search(words) is None


def _within_a_word(before: str, after: str) -> bool:
    """Whether it is a part of something longer: "ISO-2022", "2024-13"."""
    led = (
        before[-1:] in "-/_#."
        and before[-2:-1].isalnum()
        and not lower(before).endswith(("early-", "late-", "mid-"))
    )
    return (bool(before) and led) or (after[:1] in ("-", "/", "_") and after[1:2].isalnum())


def _is_month(name: str, before: str, after: str) -> bool:
    """Whether a word that names a month means it: "May" and "march" are other words as well."""
    if lower(name) in _ALWAYS_MONTHS or _MONTH_IS_ONE.search(before):
        return True
    return _RELATION.search(before) is not None and _ENDS.match(after) is not None
