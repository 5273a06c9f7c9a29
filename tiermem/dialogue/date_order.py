"""Decides which number of a date is the day, from all dates of a file: 5/4/25 is a day in April or in May."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

DateOrder = Literal["dmy", "mdy", "ymd"]
"""The order of day, month and year."""
_NAMES: dict[DateOrder, str] = {"dmy": "day first", "mdy": "month first", "ymd": "year first"}
_NUMBERS = re.compile(
    r"(?P<first>\d{1,4})(?P<mark>[./-])(?P<second>\d{1,2})(?P=mark)(?P<third>\d{4}|\d{2})\.?"
    r"(?:,?\s+(?:at\s+)?(?P<clock>\d.{0,12}))?",
    re.DOTALL,
)
_HALF = re.compile(r"[ap]\.?\s?m\.?\s*\Z", re.IGNORECASE)
_DAYS_IN_A_MONTH, _MONTHS = 31, 12
_CLOSER = 4
"""How many times closer together days must be in one order than in the other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NumericDate:
    """A date in numbers as it is written, and how its numbers and those of its clock look."""

    numbers: tuple[int, int, int]
    mark: str = "/"
    is_padded: bool = False
    """Whether its day or its month has a leading zero."""
    has_half: bool = False
    """Whether its clock says am or pm."""
    has_padded_hour: bool = False

    def __str__(self) -> str:
        return self.mark.join(map(str, self.numbers))

    def year_month_day(self, order: DateOrder) -> tuple[int, int, int]:
        """Year, month and day."""
        first, second, third = self.numbers
        if order == "ymd":
            return _full_year(first), second, third
        day, month = (first, second) if order == "dmy" else (second, first)
        return _full_year(third), month, day


@dataclass(frozen=True, slots=True, kw_only=True)
class DecidedOrder:
    """The order of the dates of a file, and why it was taken."""

    order: DateOrder
    reason: str
    is_evident: bool = False
    """Whether a date begins with what can only be a year, so that nothing was chosen."""

    def __str__(self) -> str:
        return f"dates are read {_NAMES[self.order]}: {self.reason}"


def numeric_date(text: str) -> tuple[NumericDate, str] | None:
    """The date in numbers that a text is, and the clock after it, "" without; `None` of any other text.

    1.2.34 may be a version: the year has four digits where the mark is no slash.
    """
    found = _NUMBERS.fullmatch(text)
    if found is None or (found["mark"] != "/" and len(found["third"]) == 2):
        return None
    clock = found["clock"] or ""
    written = NumericDate(
        numbers=(int(found["first"]), int(found["second"]), int(found["third"])),
        mark=found["mark"],
        is_padded=found["first"].startswith("0") or found["second"].startswith("0"),
        has_half=_HALF.search(clock) is not None,
        has_padded_hour=clock.startswith("0"),
    )
    return written, clock


def decide_order(dates: Sequence[NumericDate], given: DateOrder | None) -> DecidedOrder | None:
    """The order of the dates of a file, in the order of its lines; `None` without any.

    `given` is the caller's, which decides.
    """
    if not dates:
        return None
    if given is not None:
        return DecidedOrder(order=given, reason="as --date-order says")
    return next(_reasons(dates))


def _reasons(dates: Sequence[NumericDate]) -> Iterator[DecidedOrder]:
    """What decides the order, the strongest reason first."""
    if _are_close_year_first(dates):
        yield DecidedOrder(order="ymd", reason="in the other orders the days are far apart")
    for place, most, order, why in _IMPOSSIBLE:
        for one in dates:
            if one.numbers[place] > most:
                yield DecidedOrder(order=order, reason=f"{one} {why}", is_evident=order == "ymd")
    forwards = [order for order in _ORDERS if _run_forwards(dates, order)]
    if len(forwards) == 1:
        yield DecidedOrder(order=forwards[0], reason="in the other order the dates run backwards")
    days, months = (_days_between(dates, order) for order in _ORDERS)
    if days * _CLOSER < months:
        yield DecidedOrder(order="dmy", reason="in the other order the days are far apart")
    if months * _CLOSER < days:
        yield DecidedOrder(order="mdy", reason="in the other order the days are far apart")
    if not any(one.is_padded for one in dates):
        yield from _signs_of_the_usa(dates)
    yield DecidedOrder(order="dmy", reason="the file leaves it open (--date-order mdy reads it otherwise)")


def _signs_of_the_usa(dates: Sequence[NumericDate]) -> Iterator[DecidedOrder]:
    """Reasons to read dates without leading zeros, whose order the numbers leave open, as in the USA."""
    if any(one.has_half for one in dates):
        yield DecidedOrder(
            order="mdy", reason="the file leaves it open, and has am and pm and no leading zeros"
        )
    is_short = all(one.mark == "/" and one.numbers[2] < 100 for one in dates)
    if is_short and any(one.has_padded_hour for one in dates):
        yield DecidedOrder(order="mdy", reason="the file leaves it open, and writes dates as in the USA")


_ORDERS: tuple[DateOrder, ...] = ("dmy", "mdy")
_IMPOSSIBLE: tuple[tuple[int, int, DateOrder, str], ...] = (
    (0, _DAYS_IN_A_MONTH, "ymd", "begins with a year"),
    (0, _MONTHS, "dmy", "does not begin with a month"),
    (1, _MONTHS, "mdy", "has no other reading"),
)
"""Which number of a date, over which limit, decides the order, and why."""


def _full_year(year: int) -> int:
    return year if year > 99 else 2000 + year


def _run_forwards(dates: Sequence[NumericDate], order: DateOrder) -> bool:
    return all(a.year_month_day(order) <= b.year_month_day(order) for a, b in pairwise(dates))


def _are_close_year_first(dates: Sequence[NumericDate]) -> bool:
    """Whether dates of several months are close together only if they begin with a year of two digits.

    12/3/21 and 12/3/22 are of one month in that order, and more likely one day in two years.
    """
    if any(one.numbers[1] > _MONTHS or one.numbers[2] > _DAYS_IN_A_MONTH for one in dates):
        return False
    has_months = len({one.numbers[1] for one in dates}) > 1
    nearest = min(_days_between(dates, order) for order in _ORDERS)
    return has_months and _days_between(dates, "ymd") * _CLOSER < nearest


def _days_between(dates: Sequence[NumericDate], order: DateOrder) -> int:
    """Days between the first and the last date, counted in months of 31 days."""
    days = [
        (year * _MONTHS + month) * _DAYS_IN_A_MONTH + day
        for year, month, day in (one.year_month_day(order) for one in dates)
    ]
    return max(days) - min(days)
