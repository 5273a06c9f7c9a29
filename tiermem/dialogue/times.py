"""Reads the ways dialogue files write a moment: ISO 8601, LoCoMo, LongMemEval, words, epoch seconds.

A text is a moment as a whole or not at all; nothing is guessed from the middle of a sentence, and no
locale decides what a month is called.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time

from tiermem.errors import InvalidInput, shown
from tiermem.text.dates import MONTHS

_MONTHS = {name: number for number, month in enumerate(MONTHS, start=1) for name in (month, month[:3])} | {
    "sept": 9
}
_WEEKDAY = r"(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\.?,?\s++)?"
_MONTH = r"(?P<month>[a-z]{3,9})\.?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_DATES = (
    rf"{_WEEKDAY}{_DAY}\s++{_MONTH},?\s++(?P<year>\d{{4}})",
    rf"{_WEEKDAY}{_MONTH}\s++{_DAY},?\s++(?P<year>\d{{4}})",
    r"(?P<year>\d{4})[/.-](?P<month>\d{1,2})[/.-](?P<day>\d{1,2})(?:\s++\([a-z]{3,9}\))?",
)
_CLOCK = r"(?P<hour>\d{1,2})(?::(?P<minute>\d{2})(?::(?P<second>\d{2}))?)?(?:\s*+(?P<half>[ap]\.?m\.?))?"
_MOMENTS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for day in _DATES
    for pattern in (day, rf"{_CLOCK}\s++on\s++{day}", rf"{day},?\s++(?:at\s++)?{_CLOCK}")
)
_CLOCK_ONLY = re.compile(_CLOCK, re.IGNORECASE)
_LONGEST = 60
"""Characters of the longest text worth reading as a moment."""
_MILLISECONDS_FROM = 1e11
"""Epoch numbers from here on are milliseconds: as seconds they would lie past the year 5000."""


TimeLike = datetime | date | str
"""A moment as callers write it: a `datetime`, a day, or a text that is one of these."""


def parse_time(value: object) -> datetime | None:
    """The moment `value` writes, `None` for an absent or empty one; `InvalidInput` names the rest.

    A day without a time is its beginning.
    """
    return _at(_read(value), time())


def until(value: object) -> datetime | None:
    """As `parse_time`, but a day without a time is its end: all of it lies before."""
    return _at(_read(value), time.max)


def _at(found: date | None, clock: time) -> datetime | None:
    return found if found is None or isinstance(found, datetime) else datetime.combine(found, clock)


def _read(value: object) -> date | None:
    """A `datetime`, or a day where the value gives no time of day; `None` for `None` or a blank text."""
    if value is None or isinstance(value, date):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _from_epoch(value)
    if not isinstance(value, str):
        raise _no_time(value)
    text = value.strip()
    if len(text) > _LONGEST:
        raise _no_time(text)
    return _from_text(text) if text else None


def parse_clock(text: str) -> time | None:
    """The time of day `text` writes ("10:30", "1:56 pm"), `None` when it writes none."""
    found = _CLOCK_ONLY.fullmatch(text.strip())
    if found is None or (found["minute"] is None and found["half"] is None):
        return None
    return _clock(found, text)


def _from_epoch(number: float) -> datetime:
    try:
        return datetime.fromtimestamp(number / 1000 if abs(number) >= _MILLISECONDS_FROM else number, tz=UTC)
    except (OverflowError, OSError, ValueError) as error:
        raise InvalidInput(f"{shown(number)} is not a timestamp: it lies outside the calendar") from error


def _from_text(text: str) -> date:
    for iso in (date.fromisoformat, datetime.fromisoformat):
        try:
            return iso(text)
        except ValueError:
            continue  # not ISO: the spelled-out ways follow, and the last line names what none of them read
    for pattern in _MOMENTS:
        found = pattern.fullmatch(text)
        if found is not None:
            return _moment(found, text)
    raise _no_time(text)


def _moment(found: re.Match[str], text: str) -> date:
    month = found["month"]
    number = int(month) if month.isdigit() else _MONTHS.get(month.lower())
    if number is None:
        raise InvalidInput(f"{shown(text)} is not a timestamp: {month!r} is no month")
    try:
        day = date(int(found["year"]), number, int(found["day"]))
    except ValueError as error:
        raise InvalidInput(f"{shown(text)} is not a timestamp: {error}") from error
    has_clock = "hour" in found.re.groupindex
    return datetime.combine(day, _clock(found, text)) if has_clock else day


def _clock(found: re.Match[str], text: str) -> time:
    hour, minute, second = (int(found[part] or 0) for part in ("hour", "minute", "second"))
    if found["half"]:
        if not 1 <= hour <= 12:
            raise InvalidInput(f"{shown(text)} is not a timestamp: hour {hour} has no am or pm")
        hour = hour % 12 + (12 if found["half"].lower().startswith("p") else 0)
    try:
        return time(hour, minute, second)
    except ValueError as error:
        raise InvalidInput(f"{shown(text)} is not a timestamp: {error}") from error


def _no_time(value: object) -> InvalidInput:
    return InvalidInput(f"{shown(value)} is not a timestamp (write it like 2024-05-08T13:56)")
