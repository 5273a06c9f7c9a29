"""A question taken apart: the days it names, its kind, whom and what it names, its words.

Everything that is looked up for a question, the look-ups of a planner too, is read this way. Each part is
read once, when it is first needed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property
from typing import Literal

from tiermem.text.dates import DateMention, resolve_dates
from tiermem.text.exact import ExactText, find_identifiers, find_phrases
from tiermem.text.literals import names
from tiermem.text.words import STOP_WORDS, search_words, stem, without_possessive, word_list, words

LONGEST_QUESTION = 4_000
"""Characters of a question: some eight hundred words, and no more work than a page of that length."""
TELLING_DAYS = 3
"""Days after something happened in which people tell of it (decision 12)."""
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

Kind = Literal[
    "when", "how long", "how much", "how many", "who", "whose", "where", "list", "yes-no", "why", "what"
]

_KINDS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    (
        "how long",
        re.compile(r"\bhow (?:long|old)\b|\bfor how many (?:years|months|weeks|days)\b", re.IGNORECASE),
    ),
    ("how much", re.compile(r"\bhow much\b|\bwhat (?:amount|price)\b", re.IGNORECASE)),
    ("how many", re.compile(r"\bhow (?:many|often)\b|\bwhat number\b", re.IGNORECASE)),
    (
        "when",
        re.compile(
            r"^\W*(?:since )?when\b|\bhow (?:recently|soon)\b|"
            r"\b(?:what|which) (?:date|day|month|year|time|season|week|weekend)\b",
            re.IGNORECASE,
        ),
    ),
    ("whose", re.compile(r"^\W*whose\b", re.IGNORECASE)),
    ("who", re.compile(r"^\W*(?:\w+ whom|who|whom)\b", re.IGNORECASE)),
    (
        "where",
        re.compile(
            r"^\W*(?:from )?where\b|\b(?:what|which) (?:city|country|state|place|town|area|location)\b",
            re.IGNORECASE,
        ),
    ),
    ("why", re.compile(r"^\W*why\b|\bwhat (?:made|motivated|inspired|caused)\b|\breason\b", re.IGNORECASE)),
    (
        "yes-no",
        re.compile(
            r"^\W*(?:is|are|was|were|do|does|did|has|have|had|can|could|would|will|should|may|might)\b",
            re.IGNORECASE,
        ),
    ),
    (
        "list",
        re.compile(
            r"^\W*(?:list|name all)\b|\b(?:what|which) (?:are|were|other|different|all|kinds|types|sorts)\b|"
            r"\b(?:what|which) (?:\w+ )?(?!does|was|is|has|this)\w{2,}s "
            r"(?:did|does|do|has|have|had|are|were|will|would|can)\b|"
            r"\bin what ways\b|\ball the\b",
            re.IGNORECASE,
        ),
    ),
)
_AUXILIARY = r"(?:is|are|was|were|did|does|do|will|would|has|have|had|can|could|should)\b"
_COUNTED = re.compile(rf"\b(?:which|whose|how many|what)\s+(?!{_AUXILIARY})([^\W_]+)", re.IGNORECASE)
_PREDICATED = re.compile(
    rf"^\W*(?:how|what|when|where|who|which)\b[^,?]*?\b{_AUXILIARY}\s+(.+)", re.IGNORECASE
)
_TIE = re.compile(
    r"\s(?:in|on|by|since|during|around|before|after|of|as of|between)\s+(?:the )?\Z", re.IGNORECASE
)
_PERSON = re.compile(
    r"\b(?i:did|does|do|has|have|had|is|was|are|were|will|would|can|could|should|might|may|and|to|for|by|with|of)\s+([A-Z][^\W_]+)|"
    r"\b([A-Z][^\W_]+)['’]s?\b"
)
_ASKING = frozenset(
    map(
        stem,
        word_list("""
            kind kinds type types sort many much long often old date day month year time name list
            reason type thing things way ways person people someone happen happened mention mentioned
            say said tell told talk does did use go going get make made city country state place
            location not no never
        """),
    )
)


# What a question of price or number turns on is what is paid for or counted, not the paying.
_PAYING = frozenset(map(stem, word_list("cost pay spend earn charge raise need want long old")))


@dataclass(frozen=True)
class Question:
    """A question, or a look-up, and the moment of asking, from which its relative dates are counted."""

    text: str
    asked_at: datetime

    @cached_property
    def dates(self) -> tuple[DateMention, ...]:
        """The dates that it names, in order."""
        return tuple(resolve_dates(self.text, self.asked_at))

    @cached_property
    def periods(self) -> tuple[tuple[date, date], ...]:
        """When something of the days it names was said: first and last day; none where it names no day.

        That is then, and for some days after. Days counted from the moment of asking are not looked at beside
        a date named outright, from which they are counted ("the week before 3 August"). Counted in weeks or
        months they are meant roughly, and "the last month" may be the one that is not over.
        """
        outright = [mention for mention in self.dates if mention.kind == "absolute"]
        return tuple(_period(mention, self.asked_at) for mention in outright or self.dates)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Its words in lower case, without possessive endings, each once."""
        return tuple(dict.fromkeys(map(without_possessive, search_words(self.text))))

    @cached_property
    def asks_time(self) -> bool:
        """Whether it asks for a time."""
        return _ASKS_TIME.search(self.text) is not None

    @cached_property
    def is_first_person(self) -> bool:
        """Whether it is about the person who asks."""
        return _FIRST_PERSON.search(self.text) is not None

    @cached_property
    def addresses(self) -> bool:
        """Whether it asks for what the other side said or did before."""
        return _ADDRESSES.search(self.text) is not None

    @cached_property
    def identifiers(self) -> tuple[ExactText, ...]:
        """Its words with digits or symbols that name one thing."""
        return find_identifiers(self.text, self.dates)

    @cached_property
    def phrases(self) -> tuple[ExactText, ...]:
        """Its phrases in quotation marks."""
        return find_phrases(self.text)

    @cached_property
    def kind(self) -> Kind:
        """What it asks for; "what" when no other kind fits."""
        return next((kind for kind, pattern in _KINDS if pattern.search(self.text)), "what")

    @cached_property
    def terms(self) -> tuple[str, ...]:
        """The stems that carry its content: not those of its dates, nor of the asking."""
        content = (stem(word) for word in words(self._dateless) if word not in STOP_WORDS)
        return tuple(dict.fromkeys(term for term in content if term not in _ASKING or term in self.names))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The stems of its proper names."""
        return tuple(dict.fromkeys(part for name in self._stems_of_names for part in name))

    @cached_property
    def people(self) -> tuple[str, ...]:
        """The stems of the names that it asks about as somebody ("did Ann", "Ann's")."""
        meant = {stem((m[1] or m[2]).lower()) for m in _PERSON.finditer(self.text)}
        return tuple(
            dict.fromkeys(part for name in self._stems_of_names if meant & set(name) for part in name)
        )

    @cached_property
    def head(self) -> str:
        """The stem of the thing asked about ("airline" in "which airline", "deposit" in "how much is the
        deposit"), "" when none shows.
        """
        counted, predicated = _COUNTED.search(self.text), _PREDICATED.search(self.text)
        if counted and not {stem(counted[1].lower())} & _ASKING:
            return stem(counted[1].lower())
        rest = words(predicated[1]) if predicated else []
        found = (stem(word) for word in rest if word not in STOP_WORDS)
        return next((term for term in found if term not in self.names and term not in _ASKING | _PAYING), "")

    @cached_property
    def _stems_of_names(self) -> list[list[str]]:
        return [[stem(word) for word in words(name)] for name in names(self.text)]

    @cached_property
    def _dateless(self) -> str:
        """The question without its dates, and without what ties them to it ("in May 2023")."""
        parts: list[str] = []
        at = 0
        for mention in self.dates:
            parts.append(_TIE.sub(" ", self.text[at : mention.start]))
            at = mention.end
        return " ".join((*parts, self.text[at:]))


def _period(mention: DateMention, asked_at: datetime) -> tuple[date, date]:
    first, last = mention.first, _shift_day(mention.last, TELLING_DAYS)
    if mention.kind == "relative" and mention.precision in ROUGHLY:
        first = _shift_day(first, -ROUGHLY[mention.precision])
        if _LAST.match(mention.text):
            last = max(last, asked_at.date())
    return first, last


def _shift_day(day: date, by: int) -> date:
    """Some days later or earlier, as far as the calendar reaches."""
    ordinal = max(date.min.toordinal(), min(day.toordinal() + by, date.max.toordinal()))
    return date.fromordinal(ordinal)
