"""What a text names exactly: people and places, numbers, dates; and how many of these other texts hold.

HTM-EAR decides and ranks by sets of entities. Here they are the literals that must not change on the way from
page to answer: a name is held by the stems of its words, a number by its value, a date by the days it means.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from tiermem.text.literals import Source, days_of, literals, missing_names, missing_numbers


def entities(text: str, said_at: datetime | None = None) -> tuple[str, ...]:
    """The names, numbers and dates of a text, each once; relative dates need `said_at`."""
    found = literals(text, said_at)
    dates = (mention.text for mention in found.dates)
    return tuple(dict.fromkeys((*found.names, *sorted(found.numbers), *dates)))


def entities_missing(
    text: str, sources: Sequence[Source], said_at: datetime | None = None
) -> tuple[str, ...]:
    """Those of `entities(text, said_at)` that none of the sources holds.

    A date is held where a source tells a day of it, or was said on one.
    """
    found = literals(text, said_at)
    missing = [*missing_names(found.names, sources), *missing_numbers(sorted(found.numbers), sources)]
    days = days_of(sources if found.dates else ())
    missing += (
        mention.text
        for mention in found.dates
        if not any(first <= mention.last and mention.first <= last for first, last in days)
    )
    return tuple(dict.fromkeys(missing))
