"""Reads the ways dialogue files write a moment: ISO 8601, LoCoMo, LongMemEval, words, epoch seconds.

A text is a moment as a whole or not at all; nothing is guessed from the middle of a sentence. Months are read
in English, German, French, Spanish, Italian, Portuguese, Dutch, Swedish, Danish, Norwegian and Polish,
whatever the locale.
"""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, date, datetime, time

from tiermem.dialogue.date_order import DateOrder, NumericDate, numeric_date
from tiermem.errors import InvalidInput, shown
from tiermem.text.dates import MONTHS

_OTHER_MONTHS = """
januar februar marz april mai juni juli august september oktober november dezember
janner februar marts april maj juni juli augusti september oktober november desember
janvier fevrier mars avril mai juin juillet aout septembre octobre novembre decembre
enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre
janeiro fevereiro marco abril maio junho julho agosto setembro outubro novembro dezembro
januari februari maart april mei juni juli augustus september oktober november december
stycznia lutego marca kwietnia maja czerwca lipca sierpnia wrzesnia pazdziernika listopada grudnia
"""
"""The names of months in other languages, without accents, a year a line."""


def _month_numbers() -> dict[str, int]:
    """The names of months, and their first three and four letters where these are of one month."""
    years = [MONTHS, *(line.split() for line in _OTHER_MONTHS.strip().split("\n"))]
    names: dict[str, set[int]] = {}
    for year in years:
        for number, month in enumerate(year, start=1):
            for name in {month, month[:3], month[:4]}:
                names.setdefault(name, set()).add(number)
    return {name: min(numbers) for name, numbers in names.items() if len(numbers) == 1}


_MONTHS = _month_numbers()
_WEEKDAY = r"(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\.?,?\s++)?"
_MONTH = r"(?:(?:de|di|of)\s++)?(?P<month>[^\W\d_]{3,12})\.?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th|er|\.|º|ª)?"
_DATES = (
    rf"{_WEEKDAY}{_DAY}\s++{_MONTH},?\s++(?:(?:de|del)\s++)?(?P<year>\d{{4}})",
    rf"{_WEEKDAY}{_MONTH}\s++{_DAY},?\s++(?P<year>\d{{4}})",
    r"(?P<year>\d{4})[/.-](?P<month>\d{1,2})[/.-](?P<day>\d{1,2})(?:\s++\([a-z]{3,9}\))?",
    r"(?P<year>\d{4})\s?[年년]\s?(?P<month>\d{1,2})\s?[月월]\s?(?P<day>\d{1,2})\s?[日일]",
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


def parse_time(value: object, order: DateOrder | None = None) -> datetime | None:
    """The moment `value` writes, `None` for an absent or empty one; `InvalidInput` names the rest.

    A day without a time is its beginning. With `order` a date may be in numbers of that order: 5/4/25.
    """
    return _at(_read(value, order), time())


def until(value: object) -> datetime | None:
    """As `parse_time`, but a day without a time is its end: all of it lies before."""
    return _at(_read(value), time.max)


def _at(found: date | None, clock: time) -> datetime | None:
    return found if found is None or isinstance(found, datetime) else datetime.combine(found, clock)


def _read(value: object, order: DateOrder | None = None) -> date | None:
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
    return _from_text(text, order) if text else None


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


def _from_text(text: str, order: DateOrder | None) -> date:
    for iso in (date.fromisoformat, datetime.fromisoformat):
        try:
            return iso(text)
        except ValueError:
            continue  # not ISO: the spelled-out ways follow, and the last line names what none of them read
    for pattern in _MOMENTS:
        found = pattern.fullmatch(text)
        if found is not None:
            return _moment(found, text)
    written = numeric_date(text) if order is not None else None
    if written is None or order is None:
        raise _no_time(text)
    return _from_numbers(*written, order, text)


def _from_numbers(written: NumericDate, clock: str, order: DateOrder, text: str) -> date:
    said = parse_clock(clock) if clock else None
    if clock and said is None:
        raise _no_time(text)
    try:
        day = date(*written.year_month_day(order))
    except ValueError as error:
        raise InvalidInput(f"{shown(text)} is not a timestamp: {error}") from error
    return day if said is None else datetime.combine(day, said)


def _moment(found: re.Match[str], text: str) -> date:
    month = found["month"]
    number = int(month) if month.isdigit() else _MONTHS.get(_without_accents(month))
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


def _without_accents(word: str) -> str:
    return "".join(one for one in unicodedata.normalize("NFKD", word.lower()) if one.isalpha())


def _no_time(value: object) -> InvalidInput:
    return InvalidInput(f"{shown(value)} is not a timestamp (write it like 2024-05-08T13:56)")
