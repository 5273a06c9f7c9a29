"""What the words of a question say, read once: the days it names, whether it asks for a time, who is meant.

Everything that is looked up for a question, the planner's look-ups too, is read this way before it is
searched for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime

from tiermem.index.values import Period
from tiermem.text import (
    STOP_WORDS,
    DateMention,
    resolve_dates,
    search_stems,
    search_words,
    without_possessive,
)

LONGEST_QUESTION = 4_000
"""Characters of a question: some eight hundred words, and no more work than a page of that length."""
TELLING_DAYS = 3
"""Days after something happened in which people tell of it (decision 12)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnQuery:
    """What a question says about the turn that holds its answer."""

    words: tuple[str, ...]
    """Its content words, without names of speakers."""
    worth: tuple[float, ...]
    """How rare each of the words is."""
    speaker: str | None
    """The one speaker it names."""
    asker: bool = False
    """Whether it is for what the user said: it names no speaker, and asks for nothing that the other side
    said before. People ask an assistant's memory about themselves, also without an "I".
    """
    time: bool
    """Whether it asks for a time."""
    periods: tuple[Period, ...] = ()
    """When something of the days it names was said; empty where it names none."""


ROUGHLY: Mapping[str, int] = {"week": 3, "month": 10}
"""By how many days people are off who count back in these."""

_ASKS_TIME = re.compile(
    r"^\s*when\b|\b(how long|how many (days|weeks|months|years)|(what|which) (date|day|month|year|time)"
    r"|first|before|after|order|ago|last)\b",
    re.IGNORECASE,
)
_FIRST_PERSON = re.compile(r"\b(?:i|me|my|mine|myself)\b", re.IGNORECASE)
# "What did you recommend?", but not "Can you recommend something?", which asks for what is new.
_ADDRESSES = re.compile(
    r"\b(?:did you|you (?:had |have |just )?(?:\w+ed|gave|given|made|said|sent|told|wrote|written))\b",
    re.IGNORECASE,
)
_LAST = re.compile(r"(?:(?:the|this)\s+)?(?:last|past)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question, or a look-up, taken apart. `periods` are when something of the days it names was said."""

    text: str
    words: tuple[str, ...]
    """Its words in lower case, without possessive endings, each once."""
    periods: tuple[Period, ...]
    time: bool
    first_person: bool
    addresses: bool
    """Whether it asks for what the other side said or did before."""

    def among(self, named: Iterable[str], rarity: Mapping[str, float]) -> TurnQuery:
        """What it asks for, where `named` and `rarity` are what the index knows of its words."""
        names = frozenset(named)
        content = [word for word in self.words if word not in STOP_WORDS and word not in names]
        rarest = max(rarity.values(), default=1.0)
        looked_for = content or list(self.words)
        worth = (
            next((rarity[stem] for stem in search_stems(word) if stem in rarity), rarest)
            for word in looked_for
        )
        return TurnQuery(
            words=tuple(looked_for),
            worth=tuple(worth),
            speaker=next(iter(names)) if len(names) == 1 and not self.first_person else None,
            asker=not names and not self.addresses,
            time=self.time,
            periods=self.periods,
        )


def read_question(text: str, asked_at: datetime | None = None) -> Question:
    """Take `text` apart; its relative dates are counted from `asked_at`, and unknown without it."""
    return Question(
        text=text,
        words=tuple(dict.fromkeys(map(without_possessive, search_words(text)))),
        periods=telling_periods(text, asked_at),
        time=_ASKS_TIME.search(text) is not None,
        first_person=_FIRST_PERSON.search(text) is not None,
        addresses=_ADDRESSES.search(text) is not None,
    )


def telling_periods(question: str, asked_at: datetime | None) -> tuple[Period, ...]:
    """When something of the days that a question names was said: then, and for some days after.

    Days counted from the moment of asking are known with `asked_at` only, and not looked at beside a date
    named outright, from which they are counted ("the week before 3 August"). Counted in weeks or months
    they are meant roughly, and "the last month" may be the one that is not over.
    """
    found = resolve_dates(question, asked_at)
    outright = [mention for mention in found if mention.kind == "absolute"]
    return tuple(_period(mention, asked_at) for mention in outright or found)


def _period(mention: DateMention, asked_at: datetime | None) -> Period:
    first, last = mention.first, _shift_day(mention.last, TELLING_DAYS)
    if mention.kind == "relative" and mention.precision in ROUGHLY:
        first = _shift_day(first, -ROUGHLY[mention.precision])
        if asked_at is not None and _LAST.match(mention.text):
            last = max(last, asked_at.date())
    return first, last


def _shift_day(day: date, by: int) -> date:
    """Some days later or earlier, as far as the calendar reaches."""
    ordinal = max(date.min.toordinal(), min(day.toordinal() + by, date.max.toordinal()))
    return date.fromordinal(ordinal)
