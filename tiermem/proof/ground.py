"""The turns that a claim quotes, and what was asked before them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from tiermem.proof.date_parts import event_dates
from tiermem.proof.derive import mentions
from tiermem.text.dates import parse_iso, resolve_dates
from tiermem.text.literals import Source
from tiermem.text.readings import Speech
from tiermem.text.words import stem, words

_MAX_NAME = 3
"""Words that a name has at most."""
_MIN_SAID = 3
"""Least number of words, literally on the page, that count as given to a person who does not speak there."""
_OTHER_TIME = re.compile(
    r"\b(?:ago|before last|after next|the other day|one day|some ?day|once|recently|lately|soon)\b",
    re.IGNORECASE,
)
"""Words that mean another time than that of saying, whether or not it is read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotedTurn:
    """A turn, and the words quoted of it."""

    quote: str
    turn: Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """The turns that a claim quotes.

    `asked` holds the questions of the turns just before them, and `everyone` the speakers of their pages.
    """

    quoted: tuple[QuotedTurn, ...]
    asked: str
    everyone: tuple[str, ...]

    @property
    def turns(self) -> tuple[Source, ...]:
        """The quoted turns."""
        return tuple(one.turn for one in self.quoted)

    @property
    def speakers(self) -> tuple[str, ...]:
        """The speakers of the quoted turns."""
        return tuple(dict.fromkeys(one.turn.speaker for one in self.quoted))

    def only_by(self, speaker: str) -> Ground:
        """The turns of this speaker; the quotes of the others count as asked."""
        mine = tuple(one for one in self.quoted if one.turn.speaker == speaker)
        rest = (one.quote for one in self.quoted if one.turn.speaker != speaker)
        asked = "\n".join((self.asked, *rest)) if len(mine) < len(self.quoted) else self.asked
        return replace(self, quoted=mine, asked=asked)


def gives_words_to_stranger(own: Speech, ground: Ground) -> bool:
    """Whether words of the turns are given to somebody, by name, who does not speak on the pages."""
    name = own.speaker.split()
    has_form_of_name = len(name) <= _MAX_NAME and all(word[0].isupper() for word in name)
    people = {stem(word) for name in ground.everyone for word in words(name)}
    said = words(own.said)
    text = " ".join(words("\n".join(turn.text for turn in ground.turns)))
    return (
        has_form_of_name
        and not people & set(map(stem, words(own.speaker)))
        and len(said) >= _MIN_SAID
        and " ".join(said) in text
    )


def is_event_dated(event_at: str, quoted: Sequence[QuotedTurn]) -> bool:
    """Whether the quoted turns give the date of an event, or the quotes give none and it was said then."""
    days = parse_iso(event_at)
    if days is None:
        return False
    dates = [found for one in quoted for found in event_dates(one.turn.text, mentions(one.turn))]
    if any(found.holds(*days) for found in dates):
        return True
    if any(resolve_dates(one.quote, one.turn.said_at) or _OTHER_TIME.search(one.quote) for one in quoted):
        return False
    moments = (one.turn.said_at for one in quoted if one.turn.said_at is not None)
    return any(days[0] <= moment.date() <= days[1] for moment in moments)
