"""When what is looked for was said: a filter, and no hint. What was said at another time is not found.

A time without a zone is one on the clock of the speaker (decision 12): "8 May" is their 8 May wherever that
is. A time with a zone is a moment. Both ends count in.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from pagestore import Turn
from tiermem.index.values import Period
from tiermem.model import TurnFilter
from tiermem.text import parse_iso
from tiermem.text.date_ranges import DateRange, date_ranges, date_ranges_in
from tiermem.text.dates import without_dates

_ISO = re.compile(r"\d{4}(?:-\d{1,2}(?:-\d{1,2}(?:T[\d:.]+)?)?)?", re.ASCII)
_ZONES = timedelta(days=2)
"""By how much the day on a clock may differ from that of a moment in another zone, at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Between:
    """From when to when; `None` for no end on that side."""

    since: datetime | None = None
    until: datetime | None = None

    def holds(self, turn: Turn) -> bool:
        """Whether the turn was said then; one of unknown time was not."""
        return turn.said_at is not None and TurnFilter(said_after=self.since, said_before=self.until).keeps(
            turn
        )

    @property
    def own_days(self) -> Period:
        """The days of both ends as they are written, each in its own time zone."""
        first = date.min if self.since is None else self.since.date()
        return first, date.max if self.until is None else self.until.date()

    @property
    def days(self) -> Period:
        """The days that it covers in any time zone."""
        first, last = self.own_days
        if self.since is not None and self.since.tzinfo is not None:
            first = max(first, date.min + _ZONES) - _ZONES
        if self.until is not None and self.until.tzinfo is not None:
            last = min(last, date.max - _ZONES) + _ZONES
        return first, last


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidThen(TurnFilter):
    """Turns that were said in one of some times as well."""

    times: tuple[Between, ...] = ()

    @property
    def by_times_alone(self) -> bool:
        """Whether nothing else is asked for."""
        return self == SaidThen(times=self.times)

    def keeps(self, turn: Turn) -> bool:
        """Whether the turn is all that is asked for."""
        return TurnFilter.keeps(self, turn) and any(one.holds(turn) for one in self.times)


def whole_days(first: date | None, last: date | None) -> Between:
    """All of some days; `None` for no end on that side."""
    return Between(
        since=None if first is None else datetime.combine(first, time.min),
        until=None if last is None else datetime.combine(last, time.max),
    )


def times_named(text: str, asked_at: datetime, *, past: bool = True) -> tuple[Between, ...]:
    """The times that words name, counted from `asked_at` where they have to be; none where they name none, or
    say more than can be read.

    ISO 8601 ("2023-05", "2023-05-01/2023-05-07", with an open end "2023-05-01/") or as people say it ("since
    May 2023", "between March and May"). With `past` what names no year is not to come.
    """
    first, slash, last = text.strip().partition("/")
    if not slash:
        return _read(first, asked_at, past=past)
    ends = tuple(_read(end, asked_at, past=past) if end.strip() else () for end in (first, last))
    if any(end.strip() and len(read) != 1 for end, read in zip((first, last), ends, strict=True)):
        return _read(text, asked_at, past=past)
    since, until = (read[0] if read else Between() for read in ends)
    return () if since == until == Between() else (Between(since=since.since, until=until.until),)


def extract_timeframe(
    topic: str, asked_at: datetime, *, past: bool = True
) -> tuple[str, tuple[Between, ...] | None]:
    """A topic without the times it names, and these; as it is, and `None`, where it names none.

    A topic that is nothing but a time stays as it is: there would be nothing to look for.
    """
    found = date_ranges_in(topic, asked_at.date(), past=past)
    if not found:
        return topic, None
    left = " ".join(without_dates(topic, found).split())
    return (left if any(map(str.isalnum, left)) else topic), _as_periods(found)


def _as_periods(ranges: Iterable[DateRange]) -> tuple[Between, ...]:
    return tuple(dict.fromkeys(whole_days(one.first, one.last) for one in ranges))


def _read(text: str, asked_at: datetime, *, past: bool) -> tuple[Between, ...]:
    """A day, a month or a year as ISO 8601 writes it, or what words name."""
    written = parse_iso(text.strip()) if _ISO.fullmatch(text.strip()) else None
    if written is not None:
        return (whole_days(*written),)
    return _as_periods(date_ranges(text, asked_at.date(), past=past))
