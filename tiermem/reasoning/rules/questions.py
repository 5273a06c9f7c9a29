"""What a question asks for: its kind, the people and things it names, the words that must be matched.

The gate measures by these how much of a question evidence covers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import Literal

from tiermem.text import STOP_WORDS, resolve_dates, stem, words
from tiermem.text.literals import names
from tiermem.text.words import word_list

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
_SOME_DAY = date(2000, 1, 1)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedQuestion:
    """A question taken apart. Words are given as stems.

    `terms` carry its content, `names` are those of its proper names, and `people` those of the names that
    it asks about as somebody ("did Ann", "Ann's"). `head` is the thing asked about ("airline" in "which
    airline", "deposit" in "how much is the deposit"), "" when none shows.
    """

    text: str
    kind: Kind
    terms: tuple[str, ...]
    names: tuple[str, ...]
    people: tuple[str, ...]
    head: str = ""


@lru_cache(maxsize=256)
def parse_question(text: str) -> ParsedQuestion:
    """Take `text` apart. Every text has a kind; "what" when no other fits."""
    named = tuple(dict.fromkeys(stem(word) for name in names(text) for word in words(name)))
    content = [stem(word) for word in words(_dateless(text)) if word not in STOP_WORDS]
    meant = {stem((m[1] or m[2]).lower()) for m in _PERSON.finditer(text)}
    whole = [[stem(word) for word in words(name)] for name in names(text)]
    return ParsedQuestion(
        text=text,
        kind=next((kind for kind, pattern in _KINDS if pattern.search(text)), "what"),
        terms=tuple(dict.fromkeys(term for term in content if term not in _ASKING or term in named)),
        names=named,
        people=tuple(dict.fromkeys(part for name in whole if meant & set(name) for part in name)),
        head=_head(text, named),
    )


def _dateless(text: str) -> str:
    """The question without its dates, and without what ties them to it ("in May 2023")."""
    parts: list[str] = []
    at = 0
    for mention in resolve_dates(text, _SOME_DAY):
        parts.append(_TIE.sub(" ", text[at : mention.start]))
        at = mention.end
    return " ".join((*parts, text[at:]))


def _head(text: str, named: tuple[str, ...]) -> str:
    counted, predicated = _COUNTED.search(text), _PREDICATED.search(text)
    if counted and not {stem(counted[1].lower())} & _ASKING:
        return stem(counted[1].lower())
    rest = words(predicated[1]) if predicated else []
    found = (stem(word) for word in rest if word not in STOP_WORDS)
    return next((term for term in found if term not in named and term not in _ASKING | _PAYING), "")
