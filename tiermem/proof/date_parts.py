"""Leave out date expressions that are a part of a longer one: "tomorrow" in "a week from tomorrow".

The rules of `tiermem.text.dates` read the part by itself, and the whole means another date.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from tiermem.text.dates import WEEKDAYS, DateMention
from tiermem.text.literals import NUMBER_PARTS, ORDINALS

_NEAR = 60
"""Characters on either side of a date in which the rest of its expression is looked for."""
# White space is taken whole (`++`), so that a long run of it is tried once.
_CARDINALS = sorted(NUMBER_PARTS - set(ORDINALS))
_NUMBER = r"(?:\d+|an?|few|several|couple(?:\s++of)?|" + "|".join(_CARDINALS) + ")"
_WEEKS = r"(?:week|fortnight|month|year|decade)s?"
_UNIT = rf"(?:{_WEEKS}|days?)"
_FRACTION = r"and\s++(?:an?\s++|one\s++)?(?:half|quarter)"
_FROM = r"(?:before|after|from|following|preceding|prior\s++to|(?:earlier|later)\s++than)"
_TENS = "(?:" + "|".join(word for word in _CARDINALS if word.endswith(("ty", "hundred", "thousand"))) + ")"


def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_COUNT = _compile(rf"\b{_NUMBER}\s++{_UNIT}\b")
_JOINT = _compile(rf"(?:,(?=[^\S\n]++(?:on|in)\b))?[^\S\n]*+(?:(?:{_FROM}|of|on|in)\s++)?(?:the\s++)?")
"""What is between "three weeks ago" and "today", or "Friday" and "next week", in one expression."""
_COUNTED_FROM = _compile(
    r"(?<!\ball\s)(?<!\beach\s)(?<!\bevery\s)(?<!\bwhole\s)"
    rf"\b(?P<unit>{_UNIT}|(?:night|morning|afternoon|evening|weekend|{'|'.join(WEEKDAYS)})s?)\s++"
    rf"(?:{_FRACTION}\s++)?{_FROM}\s++(?:the\s++)?\Z"
)
"""What is before "tomorrow" in "a week from tomorrow". "Every day from tomorrow" begins tomorrow."""
_WEEKS_BEFORE_DAY = _compile(rf"\b{_NUMBER}\s++{_WEEKS}\s++(?:on\s++)?\Z")
"""What is before "Friday" in "two weeks on Friday"."""
_NUMBER_BEFORE = _compile(
    rf"(?:\b{_NUMBER}\s++{_UNIT},?\s*+(?:-|–|\band\b|\bor\b|\bto\b|)\s*+"
    rf"|\b{_NUMBER}\s*+(?:-|–|\band\b|\bor\b|\bto\b)\s*+"
    rf"|\b{_TENS}(?:[\s-]++and)?[\s-]++|\d[.,/]|\b(?:half|quarters?)\s++(?:of\s++)?)\Z"
)
"""What is before the number in "a year and two months ago", "twenty-two years ago" and "half a year ago"."""
_NUMBER_AFTER = _compile(
    rf"(?<!\s)\s++(?:{_FRACTION}\b|(?:or|to)\s++{_NUMBER}\b|and\s++{_NUMBER}\s++{_UNIT}\b)"
)
"""What is after "in a year" in "in a year and a half"."""
_AFTER = _compile(
    r"(?<!\s)\s++(?:after\s++next|before\s++last|but\s++one|week|fortnight|"
    r"(?<=prior\s)to|(?<=earlier\s)than|(?<=later\s)than)\b"
)
"""What is after "Friday" in "the Friday after next", and after "a week prior" in "a week prior to"."""


_BOUND_BEFORE = _compile(
    rf"\b(?:(?:un)?til{{1,2}}|by|through|since|before|after|from|up\s++to|as\s++of|from\b.{{1,40}}?\bto)\s++"
    rf"(?:(?:the|next|this)\s++)*(?:(?:{'|'.join(WEEKDAYS)}),?\s++(?:the\s++)?)?\Z"
)
_BOUND = _compile(r"(?:(?:un)?til{1,2}|by|since)\b")
"""Words by which a date is the end or the beginning of something that lasts, or a limit."""
_VAGUE = _compile(r"\b(?:couple|few)\b")


def event_dates(text: str, found: Sequence[DateMention]) -> tuple[DateMention, ...]:
    """The dates on which an event can be: not "by Friday", "until 12 May" or "a couple of days ago"."""
    return tuple(
        one
        for one in found
        if not (
            _BOUND_BEFORE.search(text[max(0, one.start - _NEAR) : one.start])
            or _BOUND.match(one.text)
            or _VAGUE.search(one.text)
        )
    )


def without_parts(text: str, found: Sequence[DateMention]) -> tuple[DateMention, ...]:
    """Leave out relative dates and durations that are a part of a longer expression; `found` is in order.

    Two dates in a row are both left out if neither lies in the other: "Friday of next week" is not the Friday
    that comes next. A wider period is kept: "next month" in "the end of next month".
    """
    parts = {one for pair in pairwise(found) for one in _contradicting(text, *pair)}
    ends = {one.end for one in found}
    return tuple(
        one
        for one in found
        if one.kind == "absolute"
        or not (one in parts or _has_more_before(text, one, ends) or _has_more_after(text, one))
    )


def _contradicting(text: str, one: DateMention, other: DateMention) -> Sequence[DateMention]:
    """Both dates if they are one expression of different days; if one is a duration, that one alone."""
    if _JOINT.fullmatch(text, one.end, other.start) is None:
        return ()
    if one.holds(other.first, other.last) or other.holds(one.first, one.last):
        return ()
    return [each for each in (one, other) if each.kind == "duration"] or (one, other)


def _has_more_before(text: str, date: DateMention, ends: set[int]) -> bool:
    """Whether words before a date count from it, or begin its number. `ends` are the ends of all dates."""
    count = _COUNT.search(text, date.start, date.end)
    start = date.start if count is None else count.start()
    shift = max(0, start - _NEAR)
    before = text[shift:start]
    if count is not None and _NUMBER_BEFORE.search(before):
        return True
    if date.precision in ("day", "range") and _WEEKS_BEFORE_DAY.search(before):
        return True
    counted = _COUNTED_FROM.search(before)
    return counted is not None and shift + counted.end("unit") not in ends


def _has_more_after(text: str, date: DateMention) -> bool:
    """Whether the words after a date belong to it: "in a year and a half", "tomorrow week"."""
    after = (text, date.end, date.end + _NEAR)
    if _AFTER.match(*after):
        return True
    return _COUNT.search(date.text) is not None and _NUMBER_AFTER.match(*after) is not None
