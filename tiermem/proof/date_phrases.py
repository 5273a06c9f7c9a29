"""Dates of an answer that are given by another date: "the week before 9 May 2023", "early May 2023"."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta

from tiermem.text.dates import WEEKDAYS, DateMention, resolve_dates
from tiermem.text.words import lower

_UNIT_BEFORE = re.compile(
    r"(?:\bthe|\A|\bon|\blast)\s?\b(?P<unit>day|night|week|weekend|month|year|" + "|".join(WEEKDAYS) + r")"
    r"\s(?P<way>before|prior to|after)\s(?:the\s)?\Z",
    re.IGNORECASE,
)
_PARTS = {
    "first week": (0, 7), "beginning": (0, 10), "start": (0, 10), "early": (0, 10), "second week": (7, 14),
    "mid": (10, 20), "middle": (10, 20), "third week": (14, 21), "fourth week": (21, 28), "late": (20, 31),
    "end": (20, 31), "last week": (21, 31), "first weekend": (0, 8), "last weekend": (21, 31),
}  # fmt: skip
_PART_OF_MONTH = re.compile(
    r"\b(?P<part>" + "|".join(sorted(_PARTS, key=len, reverse=True)) + r")(?:\s+of)?[\s-]+(?:the\s+)?\Z",
    re.IGNORECASE,
)
_VAGUE_DAYS = 3
"""Days that "the last week of May" may begin earlier or end later."""


def counted_from_date(mention: DateMention, before: str) -> DateMention | None:
    """Return what "the Friday before 9 May 2023" means; `before` is the text that leads to the date.

    `None` if that text counts from no date. The result begins where the phrase begins.
    """
    match = _UNIT_BEFORE.search(before)
    if match is None or mention.precision != "day":
        return None
    unit, way = lower(match["unit"]), "next" if lower(match["way"]) == "after" else "last"
    phrases = {"last day": "yesterday", "next day": "tomorrow", "last night": "yesterday"}
    dates = resolve_dates(phrases.get(f"{way} {unit}", f"{way} {unit}"), mention.first)
    start = mention.start - len(before) + match.start()
    return replace(dates[0], start=start, end=mention.end) if dates else None


def part_of_month(mention: DateMention, before: str) -> DateMention:
    """Return the part of a month that "last week of" can mean, with three days to either side."""
    match = _PART_OF_MONTH.search(before)
    if match is None or mention.precision != "month":
        return mention
    first, last = _PARTS[lower(match["part"])]
    days = (mention.last - mention.first).days + 1
    start = mention.first + timedelta(days=max(first - _VAGUE_DAYS, 0))
    end = mention.first + timedelta(days=min(last + _VAGUE_DAYS, days) - 1)
    return replace(mention, first=start, last=end)
