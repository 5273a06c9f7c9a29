"""Date expressions of dialogue, worked out against the moment they were said.

"yesterday" said on 8 May 2023 is 7 May 2023, a day; "last week" is a week and no day in it. What an
expression does not fix, it does not prove: every mention is a range of days with a precision, and
ambiguous ones ("next Friday" said on a Monday) get the wider range.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from math import inf
from typing import Any, Literal, Protocol

from tiermem.text.tense import Tense, date_tense
from tiermem.text.words import lower, word_list

Precision = Literal["day", "weekend", "week", "month", "season", "year", "range"]
Kind = Literal["absolute", "relative", "duration"]
"""Named outright ("7 May 2023"), by the moment of saying it ("last week"), or by how long ago it began."""

MONTHS = word_list("""
    january february march april may june july august september october november december
""")
WEEKDAYS = word_list("monday tuesday wednesday thursday friday saturday sunday")
_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
_COUNTS = {
    word: n
    for n, word in enumerate(word_list("zero one two three four five six seven eight nine ten eleven twelve"))
} | {"a": 1, "an": 1, "a couple of": 2, "a couple": 2, "couple of": 2, "couple": 2}

_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|"
    r"aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?\b"
_YEAR = r"(?P<year>(?:19\d|20[0-4])\d)\b"
_N = r"(?P<n>\d{1,3}|" + "|".join(sorted(_COUNTS, key=len, reverse=True)) + ")"
_UNIT = r"(?P<unit>day|weekend|week|month|year)"
_WEEKDAY = (
    r"(?P<weekday>mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:rs(?:day)?)?|"
    r"fri(?:day)?|sat(?:urday)?|sun(?:day)?)"
)
_LONG_WEEKDAY = "(?P<weekday>" + "|".join(WEEKDAYS) + ")"
_SHORT_WEEKDAY = (
    r"(?<!\bmon\sto\s)(?<!\bmon[-–])(?P<weekday>tues?|weds|thu(?:rs?)?|fri|"
    r"(?:(?<=\bon\s)|(?<=\bby\s)|(?<=\buntil\s)|(?<=\btill\s)|(?<=\btil\s))(?:mon|wed|sat|sun))\b(?!['’-]\w)"
)
"""Short names of weekdays; those that are words too, after words of time alone."""
_FROM_WEEKDAY = re.compile(r"\b" + _WEEKDAY + r"\s?(?:-|–|to|until|till|through)\s?$", re.IGNORECASE)
_TO_WEEKDAY = re.compile(r"\s?(?:-|–|to|until|till|through)\s?" + _WEEKDAY + r"\b", re.IGNORECASE)
_SEASON = "(?P<season>" + "|".join(_SEASONS) + ")"
_PAST = re.compile(
    r"\b(?:was|were|had|did|been|went|got|made|took|came|saw|met|gave|found|left|told|said|felt|kept|brought|"
    r"bought|thought|built|forgot|slept|drank|began|broke|drove|fell|flew|grew|knew|lost|paid|rode|sang|sold|"
    r"spoke|spent|sent|started|swam|threw|won|wore|wrote|"
    r"(?:I|you|he|she|it|we|they) (?!need|feed)\w{2,}ed)\b",
    re.IGNORECASE,
)
_END = re.compile(r"[.!?\n]")
_SENTENCE = 60
"""Characters on either side of a date in which its sentence is looked for."""
_OTHER_MONTH = re.compile(r"\b(?P<which>last|this|next)\s++month\b", re.IGNORECASE)
_STEPS = {"last": -1, "this": 0, "next": 1}
_QUARTER = 92
"""Days beyond which the tense decides the year of a date without one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DateMention:
    """One date expression: its place, and the days it may mean (both ends included)."""

    start: int
    end: int
    text: str
    first: date
    last: date
    precision: Precision
    kind: Kind

    @property
    def iso(self) -> str:
        """ISO 8601 with the precision that is known: a day, month or year, else an interval of days."""
        if self.precision == "day":
            return self.first.isoformat()
        if self.precision == "month":
            return self.first.isoformat()[:7]
        if self.precision == "year":
            return self.first.isoformat()[:4]
        return f"{self.first.isoformat()}/{self.last.isoformat()}"

    @property
    def display(self) -> str:
        """The date for a reader: "7 May 2023", "May 2023", "2023" or "1 to 7 May 2023"."""
        return display_date(self.iso)

    def holds(self, first: date, last: date) -> bool:
        """Whether `first` to `last` is what this mention means, or the wider period it lies in."""
        return first <= self.first and self.last <= last


def display_date(iso: str) -> str:
    """An ISO 8601 date, partial date or interval as people write it; anything else comes back as it is."""
    first, _, last = iso.partition("/")
    try:
        start = _written([int(part) for part in first.split("-")])
        if not last:
            return start
        end = _written([int(part) for part in last.split("-")])
    except ValueError:
        return iso
    day, _, month = start.partition(" ")
    return f"{day} to {end}" if end.partition(" ")[2] == month != "" else f"{start} to {end}"


def _written(parts: list[int]) -> str:
    year, *rest = parts
    if not rest:
        return f"{year:04}"
    if len(rest) > 2 or not 1 <= rest[0] <= len(MONTHS):
        raise ValueError(f"{parts} is no date")
    month = MONTHS[rest[0] - 1].capitalize()
    return f"{month} {year}" if len(rest) == 1 else f"{rest[1]} {month} {year}"


def parse_iso(iso: str) -> tuple[date, date] | None:
    """First and last day of an ISO date, partial date or interval; `None` when it is none of these."""
    first, _, last = iso.partition("/")
    try:
        start = _whole([int(part) for part in first.split("T")[0].split("-")])
        end = _whole([int(part) for part in last.split("T")[0].split("-")]) if last else start
    except (ValueError, OverflowError):
        return None
    return (start[0], end[1]) if start[0] <= end[1] else None


def event_time(event_at: str, said_at: datetime | None) -> str:
    """Return the date of an event after "happened", or "planned for" if it is after the day of saying.

    "dated" says that it is not known which: part of the period lies ahead, or when it was said is unknown.
    """
    days = parse_iso(event_at)
    if days is None or said_at is None or days[0] <= said_at.date() < days[1]:
        return f"dated {event_at}"
    return f"{'planned for' if said_at.date() < days[0] else 'happened'} {event_at}"


def _whole(parts: list[int]) -> tuple[date, date]:
    if len(parts) == 1:
        return date(parts[0], 1, 1), date(parts[0], 12, 31)
    if len(parts) == 2:
        return date(parts[0], parts[1], 1), date(parts[0], parts[1], monthrange(parts[0], parts[1])[1])
    year, month, day_number = parts
    day = date(year, month, day_number)
    return day, day


def resolve_dates(
    text: str, said_at: datetime | date | None, *, durations: bool = False
) -> tuple[DateMention, ...]:
    """Every date expression of `text`, in order, without overlaps.

    With `said_at=None` only absolute dates are found. What would fall outside the calendar is left out.
    `durations` adds when something began that has gone on "for three years".
    """
    if not _ANY.search(text):
        return ()
    day = said_at.date() if isinstance(said_at, datetime) else said_at
    found: list[DateMention] = []
    taken = [False] * len(text)
    for pattern, read in (*_ABSOLUTE_RULES, *(() if day is None else _RELATIVE_RULES)):
        if read is _since and not durations:
            continue
        for match in pattern.finditer(text):
            place = slice(match.start(), match.end())
            if any(taken[place]):
                continue
            try:
                mention = read(match, day)
            except (ValueError, OverflowError):  # outside the calendar: its parts are no dates either
                taken[place] = [True] * len(match.group())
                continue
            if mention is not None:
                taken[place] = [True] * len(match.group())
                found.append(mention)
    return tuple(sorted(found, key=lambda mention: mention.start))


class PlacedText(Protocol):
    """Words at a place in a text."""

    @property
    def start(self) -> int:
        """Where they begin."""
        ...

    @property
    def end(self) -> int:
        """Where they end."""
        ...


def without_dates(text: str, mentions: Iterable[PlacedText]) -> str:
    """`text` with its date expressions blanked out, every other offset unchanged."""
    parts: list[str] = []
    at = 0
    for mention in sorted(mentions, key=lambda mention: mention.start):
        parts += (text[at : mention.start], " " * (mention.end - mention.start))
        at = mention.end
    return "".join((*parts, text[at:]))


_Read = Callable[[re.Match[str], Any], "DateMention | None"]
"""Reads what a rule matched, given the day it was said, which may be unknown for absolute rules alone."""


def _mention(
    match: re.Match[str], first: date, last: date, precision: Precision, *, kind: Kind = "relative"
) -> DateMention:
    return DateMention(
        start=match.start(),
        end=match.end(),
        text=match.group(),
        first=first,
        last=last,
        precision=precision,
        kind=kind,
    )


def _sentence(match: re.Match[str]) -> tuple[str, str]:
    """What precedes and what follows a date in its own sentence."""
    before = match.string[max(0, match.start() - _SENTENCE) : match.start()]
    after = match.string[match.end() : match.end() + _SENTENCE]
    return _END.split(before)[-1], _END.split(after, maxsplit=1)[0]


def _month_number(name: str) -> int:
    short = lower(name)[:3]
    return next(n for n, month in enumerate(MONTHS, 1) if month.startswith(short))


def _weekday_number(name: str) -> int:
    short = lower(name)[:3]
    return next(n for n, weekday in enumerate(WEEKDAYS) if weekday.startswith(short))


def timestamp(said_at: datetime | None) -> float:
    """Seconds since 1970, taking a time without a zone as UTC; -inf for an unknown time."""
    return said_at.replace(tzinfo=said_at.tzinfo or UTC).timestamp() if said_at else -inf


def count(text: str) -> int:
    """The number that a word of a date names: "3", "three", "a couple of"; raises `KeyError` for others."""
    text = " ".join(lower(text).split())
    return int(text) if text.isdigit() else _COUNTS[text]


def add_months(day: date, months: int) -> date:
    """The first day of the month so many months later."""
    index = day.year * 12 + day.month - 1 + months
    return date(index // 12, index % 12 + 1, 1)


def _month_of(match: re.Match[str], first: date, *, kind: Kind = "relative") -> DateMention:
    first = first.replace(day=1)
    last = first.replace(day=monthrange(first.year, first.month)[1])
    return _mention(match, first, last, "month", kind=kind)


def _year_of(match: re.Match[str], year: int, *, kind: Kind = "relative") -> DateMention:
    return _mention(match, date(year, 1, 1), date(year, 12, 31), "year", kind=kind)


def _one_day(match: re.Match[str], day: date, *, kind: Kind = "relative") -> DateMention:
    return _mention(match, day, day, "day", kind=kind)


_WEEKDAY_BEFORE = re.compile(r"\b" + _WEEKDAY + r",?\s++(?:the\s++)?$", re.IGNORECASE)


def weekday_before(text: str, start: int) -> int | None:
    """The weekday that belongs to a date at `start`: Thursday is 3 in "Thursday 11 June"."""
    found = _WEEKDAY_BEFORE.search(text[max(0, start - 20) : start])
    return None if found is None else _weekday_number(found["weekday"])


def _nearest_year(match: re.Match[str], month: int, day: int, said: date) -> int:
    """The year that brings a date without one closest to the day it was said.

    Where that is more than a quarter of a year away, on the other side than the tense says, it is the next
    year on the side of the tense.
    """
    years = [said.year - 1, said.year, said.year + 1]
    usable = [year for year in years if day <= monthrange(year, month)[1]]
    nearest = min(usable, key=lambda year: abs((date(year, month, day) - said).days))
    ahead = (date(nearest, month, day) - said).days
    opposite, other = ("past", nearest - 1) if ahead > 0 else ("future", nearest + 1)
    if abs(ahead) <= _QUARTER or other not in usable:
        return nearest
    return other if date_tense(match.string, *match.span()) == opposite else nearest


def _iso(match: re.Match[str], _said: date | None) -> DateMention:
    return _one_day(match, date(int(match["year"]), int(match["m"]), int(match["day"])), kind="absolute")


def _numeric(match: re.Match[str], _said: date | None) -> DateMention | None:
    """Day, month and year in numbers; where either may be the day, the year alone is known."""
    one, two, year = int(match["one"]), int(match["two"]), int(match["year"])
    order = "day first" if match["sep"] == "." else _order(one, two) or _order_in(match.string)
    if order is not None:
        day, month = (one, two) if order == "day first" else (two, one)
        full = year if year > 99 else 2000 + year if year < 50 else 1900 + year
        return _one_day(match, date(full, month, day), kind="absolute")
    return _year_of(match, year, kind="absolute") if year > 99 else None


def _order(one: int, two: int) -> str | None:
    """Which of two numbers is the day, if only one of them can be, or if they are the same."""
    return "day first" if one > 12 or one == two else "month first" if two > 12 else None


@lru_cache(maxsize=16)
def _order_in(text: str) -> str | None:
    """How a text writes its dates, where those that can be read one way only agree."""
    orders = {_order(int(found["one"]), int(found["two"])) for found in _NUMERIC.finditer(text)} - {None}
    return orders.pop() if len(orders) == 1 else None


def _day_month(match: re.Match[str], said: date | None) -> DateMention | None:
    month, day = _month_number(match["month"]), int(match["day"])
    if not match["year"] and (said is None or day < 1):
        return None
    year = int(match["year"]) if said is None or match["year"] else _nearest_year(match, month, day, said)
    named, weekday = date(year, month, day), weekday_before(match.string, match.start())
    if weekday not in (None, named.weekday()):
        raise ValueError("weekday and day do not agree")  # no part of it is read alone
    return _one_day(match, named, kind="absolute")


def _days_of_month(match: re.Match[str], said: date | None) -> DateMention | None:
    month, first, last = _month_number(match["month"]), int(match["day"]), int(match["to"])
    if match["year"] is None and said is None:
        return None
    year = (
        int(match["year"])
        if match["year"] or said is None
        else _nearest_year(match, month, max(first, 1), said)
    )
    start, end = date(year, month, first), date(year, month, last)
    return _mention(match, start, end, "range", kind="absolute") if start <= end else None


def _full_range(match: re.Match[str], _said: date | None) -> DateMention | None:
    end_year = int(match["year2"])
    start_year = int(match["year"]) if match["year"] else end_year
    start = date(start_year, _month_number(match["month"]), int(match["day"]))
    end = date(end_year, _month_number(match["month2"]), int(match["day2"]))
    return _mention(match, start, end, "range", kind="absolute") if start <= end else None


def _day_alone(match: re.Match[str], said: date) -> DateMention | None:
    """A day by its number, in the month that its sentence or the next one names, or the next one to come.

    With a weekday it is the only such day of five months that the tense allows. Otherwise it is no date.
    """
    tense, number, weekday = date_tense(match.string, *match.span()), int(match["day"]), match["weekday"]
    near = [add_months(said, step) for step in range(-2, 3)]
    days = [one.replace(day=number) for one in near if 1 <= number <= monthrange(one.year, one.month)[1]]
    if weekday:
        agreeing = [one for one in days if one.weekday() == _weekday_number(weekday)]
        on_side = [one for one in agreeing if one >= said] if tense == "future" else agreeing
        on_side = [one for one in agreeing if one <= said] if tense == "past" else on_side
        if len(on_side) != 1:
            raise ValueError("weekday and day agree in none of these months, or in several")
        return _one_day(match, on_side[0])
    months = _months_beside(match, said, tense)
    if months:
        return _one_day(match, months.pop().replace(day=number)) if len(months) == 1 else None
    ahead = [one for one in days if one > said]
    return _one_day(match, ahead[0]) if tense == "future" and ahead else None


def _months_beside(match: re.Match[str], said: date, tense: Tense | None) -> set[date]:
    """The first days of the months that the sentence of a date or the next one names."""
    after = _END.split(match.string[match.end() : match.end() + 2 * _SENTENCE], maxsplit=2)[:2]
    text = ". ".join((_sentence(match)[0], *after))
    months = {add_months(said, _STEPS[lower(one["which"])]) for one in _OTHER_MONTH.finditer(text)}
    for name in _NAMED_MONTH.finditer(text):
        first = date(said.year, _month_number(name["month"]), 1)
        if tense == "past" and first > said:
            first = add_months(first, -12)
        elif tense == "future" and add_months(first, 1) <= said:
            first = add_months(first, 12)
        months.add(first)
    return months


def _month_year(match: re.Match[str], _said: date | None) -> DateMention:
    return _month_of(match, date(int(match["year"]), _month_number(match["month"]), 1), kind="absolute")


def _plain_year(match: re.Match[str], _said: date | None) -> DateMention:
    return _year_of(match, int(match["year"]), kind="absolute")


def _bare_month(match: re.Match[str], said: date) -> DateMention | None:
    month = _month_number(match["month"])
    which = lower(match["which"] or "")
    year = said.year
    if which in ("last", "this past", "past"):
        year -= month >= said.month
    elif which in ("next", "this coming"):
        year += month <= said.month
    elif any(map(_PAST.search, _sentence(match))):
        year -= month > said.month
    else:
        year = _nearest_year(match, month, 15, said)
    return _month_of(match, date(year, month, 1))


_FIXED_DAYS = {
    "day before yesterday": -2, "yesterday": -1, "last night": -1, "today": 0, "earlier today": 0,
    "tonight": 0, "this morning": 0, "this afternoon": 0, "this evening": 0, "tomorrow": 1,
    "day after tomorrow": 2,
}  # fmt: skip


def _fixed_day(match: re.Match[str], said: date) -> DateMention | None:
    return _one_day(match, said + timedelta(days=_FIXED_DAYS[lower(match["name"])]))


def _shift(match: re.Match[str], said: date) -> DateMention | None:
    """Units before or after: "three weeks ago", "in two months", "last week", "next year"."""
    groups = match.groupdict()
    unit = lower(match["unit"])
    if groups.get("which"):
        steps = {"last": -1, "past": -1, "previous": -1, "next": 1, "following": 1}.get(
            lower(match["which"]).split()[-1], 0
        )
    else:
        steps = count(match["n"]) * (-1 if groups.get("ago") else 1)
    if unit == "day":
        return _one_day(match, said + timedelta(days=steps))
    if unit == "week":
        monday = weekday_until(said + timedelta(weeks=steps), 0)
        return _mention(match, monday, monday + timedelta(days=6), "week")
    if unit == "weekend":
        saturday = weekday_until(said + timedelta(weeks=steps), 0) + timedelta(days=5)
        return _mention(match, saturday, saturday + timedelta(days=1), "weekend")
    if unit == "month":
        return _month_of(match, add_months(said, steps))
    return _year_of(match, said.year + steps)


def _weekday(match: re.Match[str], said: date) -> DateMention | None:
    which = lower(match["which"] or "").split()[-1:] or [""]
    wanted = _weekday_number(match["weekday"])
    back = (said.weekday() - wanted) % 7 or 7
    ahead = (wanted - said.weekday()) % 7
    if which[0] in ("last", "past"):
        return _one_day(match, said - timedelta(days=back))
    if which[0] == "next":
        ahead = ahead or 7
        first = said + timedelta(days=ahead)
        if said.weekday() + ahead > 6:
            return _one_day(match, first)
        return _mention(match, first, first + timedelta(days=7), "range")
    tense = date_tense(match.string, match.start("weekday"), match.end("weekday"))
    if which[0] == "this" or (which[0] == "coming" and tense != "past"):  # not "thanks for coming Sunday"
        return _one_day(match, said + timedelta(days=ahead))
    return None if tense is None or ahead == 0 else _bare_weekday(match, said, tense)


def _bare_weekday(match: re.Match[str], said: date, tense: Tense) -> DateMention:
    """The weekday ahead or back; days in a row ("from Monday to Wednesday") lie on the same side in order."""
    wanted = _weekday_number(match["weekday"])
    if tense == "future":
        first = _FROM_WEEKDAY.search(match.string[: match.start()][-_SENTENCE:])
        start = weekday_from(said, _weekday_number(first["weekday"])) if first else said
        return _one_day(match, weekday_from(start, wanted))
    last = _TO_WEEKDAY.match(match.string, match.end())
    end = weekday_until(said, _weekday_number(last["weekday"])) if last else said
    return _one_day(match, weekday_until(end, wanted))


def weekday_from(day: date, weekday: int) -> date:
    """The first such weekday (Monday is 0) from a day on."""
    return day + timedelta(days=(weekday - day.weekday()) % 7)


def weekday_until(day: date, weekday: int) -> date:
    """The last such weekday (Monday is 0) up to a day."""
    return day - timedelta(days=(day.weekday() - weekday) % 7)


def _season(match: re.Match[str], said: date | None) -> DateMention | None:
    groups = match.groupdict()
    start = _SEASONS[lower(match["season"])]
    if groups.get("year"):
        return _season_of(match, int(match["year"]), start, kind="absolute")
    if said is None:
        return None
    which = lower(groups.get("which") or "").split()[-1:] or [""]
    year = said.year
    if which[0] in ("last", "past"):
        year -= add_months(date(said.year, start, 1), 3) > said
    elif which[0] == "next":
        year += start <= said.month
    return _season_of(match, year, start)


def _season_of(match: re.Match[str], year: int, start: int, *, kind: Kind = "relative") -> DateMention:
    first = date(year, start, 1)
    return _mention(match, first, add_months(first, 3) - timedelta(days=1), "season", kind=kind)


def _since(match: re.Match[str], said: date) -> DateMention | None:
    """When something began that has gone on "for three years"."""
    unit = lower(match["unit"])
    if match["n"].lower() in ("a", "an") and unit != "year":
        return None
    steps = -count(match["n"])
    if unit == "year":
        return replace(_year_of(match, said.year + steps), kind="duration")
    if unit == "month":
        return replace(_month_of(match, add_months(said, steps)), kind="duration")
    return None


def _rule(pattern: str, read: _Read) -> tuple[re.Pattern[str], _Read]:
    return re.compile(r"\b(?:" + pattern + ")", re.IGNORECASE), read


# White space is taken whole (`++`): given back blank by blank, a long run of it would be tried from each.
_WHICH = (
    r"(?P<which>this past|this coming|the past|the last|the next|"
    r"last|past|next|previous|following|this|coming)"
)
_MAYBE_YEAR = r"(?:(?:,\s*+|\s++)" + _YEAR + ")?"
_TO = r"\s*+(?:-|–|to|until)\s*+"
_DATE = _DAY + r"\s++" + _MONTH + _MAYBE_YEAR
# In "Tuesday, June 11" the weekday belongs to the date and is not the Tuesday nearest to what was said.
_NO_DATE_AFTER = re.sub(
    r"\?P<\w+>",
    "?:",
    rf"(?!,?\s++(?:the\s++)?(?:{_DAY}\s++(?:of\s++)?{_MONTH}|{_MONTH}\s++(?:the\s++)?{_DAY}))",
)
_SECOND_DATE = re.sub(r"\?P<(\w+)>", r"?P<\g<1>2>", _DAY + r"\s++" + _MONTH + r",?\s++" + _YEAR)
_END_DAY = r"(?P<to>\d{1,2})(?:st|nd|rd|th)?\s++(?:of\s++)?" + _MONTH + _MAYBE_YEAR
_PLAIN_MONTH = (
    "(?P<month>" + "|".join(month for month in MONTHS if month not in ("may", "march", "august")) + ")"
)
_NAMED_MONTH = re.compile(
    r"\b(?P<month>"
    + "|".join(set(MONTHS) - {"may", "march", "august"})
    + r"|(?<=\b(?:in|of)\s)(?:may|march|august))\b",
    re.IGNORECASE,
)
_COUNTED = r"\s*+(?:dollars|people|miles|km|steps|words|pounds)"
_NUMERIC = re.compile(
    r"(?<![\d.,/-])\b(?P<one>\d{1,2})(?P<sep>[./-])(?P<two>\d{1,2})(?P=sep)"
    r"(?P<year>(?:19\d|20[0-4])\d|(?<=[/-])\d\d|(?<=\d\d\.\d\d\.)\d\d)(?![\d/-]|[.,]\d)"
)
_SPAN_OF_TIME = _N + r"\s++" + _UNIT + "s?"

# Every rule needs one of these: a text without them is not read any further.
_ANY = re.compile(
    r"\d|day|week|month|year|night|morning|afternoon|evening|tomorrow|"
    + "|".join((*_SEASONS, *(name[:3] for name in (*MONTHS, *WEEKDAYS)))),
    re.IGNORECASE,
)

# In order: where two match the same words, the first one reads them.
_ABSOLUTE_RULES = (
    _rule(r"(?P<year>\d{4})-(?P<m>\d{2})-(?P<day>\d{2})\b", _iso),
    _rule(r"(?P<year>\d{4})(?P<sep>[./])(?P<m>\d{1,2})(?P=sep)(?P<day>\d{1,2})\b", _iso),
    _rule(_NUMERIC.pattern, _numeric),
    _rule(_DATE + _TO + _SECOND_DATE, _full_range),
    _rule(r"between\s++" + _DATE + r"\s++and\s++" + _SECOND_DATE, _full_range),
    _rule(r"between\s++" + _DAY + r"\s++and\s++" + _END_DAY, _days_of_month),
    _rule(_DAY + _TO + _END_DAY, _days_of_month),
    _rule(
        _MONTH + r"\s++(?:the\s++)?" + _DAY + _TO + r"(?P<to>\d{1,2})\b" + _MAYBE_YEAR,
        _days_of_month,
    ),
    _rule(_DAY + r"\s++(?:of\s++)?" + _MONTH + _MAYBE_YEAR, _day_month),
    _rule(_MONTH + r"\s++(?:the\s++)?" + _DAY + _MAYBE_YEAR, _day_month),
    _rule(_MONTH + r",?\s++(?:of\s++)?" + _YEAR, _month_year),
    _rule(_SEASON + r",?\s++(?:of\s++)?" + _YEAR, _season),
    _rule(_YEAR + r"(?![:\d]|" + _COUNTED + ")", _plain_year),
)
_RELATIVE_RULES = (
    _rule(r"(?P<name>" + "|".join(_FIXED_DAYS) + r")\b", _fixed_day),
    _rule(_SPAN_OF_TIME + r"\s++(?P<ago>ago|back|earlier|prior)\b", _shift),
    _rule(r"(?:in|within)\s++(?:about\s++)?" + _SPAN_OF_TIME + r"(?:['’]\s++time)?\b", _shift),
    _rule(_SPAN_OF_TIME + r"\s++(?:from now|later)\b", _shift),
    _rule(_WEEKDAY + r"\b,?\s++(?:the\s++)?(?P<day>\d{1,2})(?:st|nd|rd|th)\b", _day_alone),
    _rule(_WHICH + r"\s++" + _WEEKDAY + r"\b", _weekday),
    _rule(_WHICH + r"\s++" + _UNIT + r"\b", _shift),
    _rule(_WHICH + r"\s++" + _SEASON + r"\b", _season),
    _rule(r"(?P<which>)" + _LONG_WEEKDAY + r"\b" + _NO_DATE_AFTER, _weekday),
    _rule(r"(?P<which>)" + _SHORT_WEEKDAY + _NO_DATE_AFTER, _weekday),
    _rule(
        r"(?:in|since|until|by|of|during|early|late|mid)[\s-]++(?P<which>last|next|)\s*+" + _MONTH,
        _bare_month,
    ),
    _rule(r"(?P<which>last|next|this past|this coming|this)\s++" + _MONTH, _bare_month),
    _rule(r"(?P<which>)" + _PLAIN_MONTH + r"\b", _bare_month),
    _rule(r"(?P<weekday>)(?:on|by|until) the (?P<day>\d{1,2})(?:st|nd|rd|th)\b", _day_alone),
    _rule(
        r"(?:for|had|been)\s++(?:\w++\s++){0,2}?(?:(?:about|around|over|almost|nearly|like)\s*+)?"
        + _SPAN_OF_TIME
        + r"\b",
        _since,
    ),
    _rule(_SPAN_OF_TIME + r"\s++(?:now|already|running)\b", _since),
)
