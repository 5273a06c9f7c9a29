"""Compute dates from when a turn was said.

A `Derivation` names the words (its terms) that a date comes from, so that it can be computed again later.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import date, datetime
from functools import lru_cache
from itertools import islice

from pagestore import Span
from tiermem.model import Derivation, Term
from tiermem.proof.date_parts import without_parts
from tiermem.text.dates import DateMention, resolve_dates
from tiermem.text.literals import NUMBER_PARTS, Source
from tiermem.text.words import WORD

_YEAR_AGO = re.compile(r"\b(?:a|an|one|1)\s+year\s+(?:ago|back)\b", re.IGNORECASE)
_PART = "(?:" + "|".join(sorted(NUMBER_PARTS, key=len, reverse=True)) + ")"
SPOKEN_NUMBER = re.compile(rf"\b{_PART}(?:[ -](?:and )?{_PART}){{0,6}}\b", re.IGNORECASE)
_MAX_MOMENTS = 12
"""Dates that are tried, so that a hostile text costs no more than a long one."""
_CONTEXT = 12
"""Words around a date expression that may be needed to read it alone ("I will … Friday")."""
_CONTEXT_CHARACTERS = 400
"""Characters to either side in which these words are looked for."""


def term(source: Source, start: int, end: int) -> Term:
    """The words of `source` from `start` to `end`, with their place where the source has one."""
    text = source.text[start:end]
    if len(source.spans) != 1 or source.spans[0].end - source.spans[0].start != len(source.text):
        return Term(text=text, spans=source.spans if text == source.text else (), said_at=source.said_at)
    whole = source.spans[0]
    place = Span(page_id=whole.page_id, start=whole.start + start, end=whole.start + end)
    return Term(text=text, spans=(place,) if end > start else (whole,), said_at=source.said_at)


@lru_cache(maxsize=64)
def mentions(source: Source) -> tuple[DateMention, ...]:
    """The dates a source tells; "a year ago" is that month a year earlier, and that year.

    Dates that are a part of a longer expression are left out.
    """
    said_at = source.said_at
    found = without_parts(source.text, resolve_dates(source.text, said_at, durations=True))
    if said_at is None:
        return found
    return (*found, *(_same_month(mention, said_at) for mention in found if _YEAR_AGO.match(mention.text)))


def _same_month(mention: DateMention, said_at: datetime) -> DateMention:
    month = resolve_dates(f"{mention.first.year:04}-{said_at.month:02}-01", None)[0].first
    last = resolve_dates("next month", month.replace(day=1))[0].first
    return replace(mention, first=month, last=date.fromordinal(last.toordinal() - 1), precision="month")


def counted_date(wanted: DateMention, sources: Iterable[Source]) -> Derivation | None:
    """How `wanted` is counted from when a source was said ("yesterday", "a year ago"), if it is."""
    for source in sources:
        relative = (mention for mention in mentions(source) if mention.kind != "absolute")
        for mention in islice(
            (each for each in relative if each.holds(wanted.first, wanted.last)), _MAX_MOMENTS
        ):
            alone = _alone(source, mention)
            if alone is not None:
                return Derivation(kind="date", value=mention.display, terms=(term(source, *alone),))
    return None


def _alone(source: Source, mention: DateMention) -> tuple[int, int] | None:
    """The shortest stretch with the date expression that means the same when it is read by itself."""
    for start, end in _stretches(source.text, mention):
        found = mentions(Source(source.text[start:end], source.said_at))
        places = {(other.start, other.end) for other in found}
        same = any((other.first, other.last) == (mention.first, mention.last) for other in found)
        if len(places) == 1 and same:
            return start, end
    return None


def _stretches(text: str, mention: DateMention) -> Iterator[tuple[int, int]]:
    yield mention.start, mention.end
    shift = max(0, mention.start - _CONTEXT_CHARACTERS)
    near = text[shift : mention.end + _CONTEXT_CHARACTERS]
    found = [(match.start() + shift, match.end() + shift) for match in WORD.finditer(near)]
    before = [start for start, _ in found if start < mention.start][-_CONTEXT:]
    after = [end for _, end in found if end > mention.end][:_CONTEXT]
    yield from ((start, mention.end) for start in reversed(before))
    yield from ((mention.start, end) for end in after)
