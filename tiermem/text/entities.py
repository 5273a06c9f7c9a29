"""What a text names exactly: people and places, numbers, dates; and how many of these other texts hold.

HTM-EAR decides and ranks by sets of entities. Here they are the literals that must not change on the way from
page to answer: a name is held by the stems of its words, a number by its value, a date by the days it means.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from tiermem.text.dates import resolve_dates
from tiermem.text.literals import Literals, Source, literals, named_in, numbers
from tiermem.text.words import stem, words


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
    missing = (*_names(found, sources), *_numbers(found, sources), *_dates(found, sources))
    return tuple(dict.fromkeys(missing))


def _names(found: Literals, sources: Sequence[Source]) -> Iterable[str]:
    if not found.names:
        return ()
    held = {stem(word) for source in sources for word in words(f"{source.speaker} {source.text}")}
    return (name for name in found.names if not named_in(name, held))


def _numbers(found: Literals, sources: Sequence[Source]) -> Iterable[str]:
    if not found.numbers:
        return ()
    held = {number for source in sources for number in numbers(source.text, loose=True)}
    return sorted(found.numbers - held)


def _dates(found: Literals, sources: Sequence[Source]) -> Iterable[str]:
    if not found.dates:
        return ()
    days = {(said.date(), said.date()) for source in sources if (said := source.said_at) is not None}
    days |= {
        (mention.first, mention.last)
        for source in sources
        for mention in resolve_dates(source.text, source.said_at)
    }
    return (
        mention.text
        for mention in found.dates
        if not any(first <= mention.last and mention.first <= last for first, last in days)
    )
