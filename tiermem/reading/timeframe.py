"""When what is looked for was said: a filter, and no hint. What was said at another time is not found.

A time without a zone is one on the clock of whoever spoke (decision 12): "8 May" is their 8 May wherever that
is. A time with a zone is a moment. Both ends count in.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from pagestore import Turn
from tiermem.index.interface import Period
from tiermem.model import TurnFilter
from tiermem.text import DateMention, parse_iso, resolve_dates
from tiermem.text.dates import without_dates

_ZONES = timedelta(days=2)
"""By how much the day on a clock may differ from that of a moment in another zone, at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Between:
    """From when to when; `None` for no end on that side."""

    since: datetime | None = None
    until: datetime | None = None

    def holds(self, turn: Turn) -> bool:
        """Whether the turn was said then; one of which nobody knows when was not."""
        return turn.said_at is not None and TurnFilter(said_after=self.since, said_before=self.until).keeps(
            turn
        )

    @property
    def own_days(self) -> Period:
        """The days on the clock that it is told by."""
        first = date.min if self.since is None else self.since.date()
        return first, date.max if self.until is None else self.until.date()

    @property
    def days(self) -> Period:
        """The days on anybody's clock that it reaches over."""
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

    def keeps(self, turn: Turn) -> bool:
        """Whether the turn is all that is asked for."""
        return TurnFilter.keeps(self, turn) and any(one.holds(turn) for one in self.times)


def whole_days(first: date, last: date) -> Between:
    """All of some days."""
    return Between(since=datetime.combine(first, time.min), until=datetime.combine(last, time.max))


def times_named(text: str, asked_at: datetime) -> tuple[Between, ...]:
    """The times that words name, counted from `asked_at` where they have to be; none where they name none.

    ISO 8601 ("2023-05", "2023-05-01/2023-05-07", with an open end "2023-05-01/") or as people say it.
    """
    written = _interval(text.strip())
    return (written,) if written is not None else _said(_mentions(text, asked_at))


def taken_out(topic: str, asked_at: datetime) -> tuple[str, tuple[Between, ...] | None]:
    """A topic without the times it names, and these; as it is, and `None`, where it names none.

    A topic that is nothing but a time stays as it is: there would be nothing to look for.
    """
    mentions = _mentions(topic, asked_at)
    if not mentions:
        return topic, None
    left = " ".join(without_dates(topic, mentions).split())
    return (left if any(map(str.isalnum, left)) else topic), _said(mentions)


def _mentions(text: str, asked_at: datetime) -> tuple[DateMention, ...]:
    """The dates of a text: those named outright, from which the others are counted, or all."""
    found = resolve_dates(text, asked_at)
    return tuple(one for one in found if one.kind == "absolute") or found


def _said(mentions: Iterable[DateMention]) -> tuple[Between, ...]:
    return tuple(dict.fromkeys(whole_days(one.first, one.last) for one in mentions))


def _interval(text: str) -> Between | None:
    """What ISO 8601 writes, with a slash between its ends, one of which may be left out."""
    first, slash, last = text.partition("/")
    ends = (first, last if slash else first)
    days = [parse_iso(end) if end else None for end in ends]
    if any(end and found is None for end, found in zip(ends, days, strict=True)) or days == [None, None]:
        return None
    since, until = days
    return Between(
        since=None if since is None else datetime.combine(since[0], time.min),
        until=None if until is None else datetime.combine(until[1], time.max),
    )
