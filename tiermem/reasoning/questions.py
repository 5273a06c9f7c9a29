"""What a question asks for: its kind, the people and things it names, the words that must be matched.

Shared by the local engine and the gate, so that both mean the same by "covered".
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from tiermem.text import STOP_WORDS, stem, words
from tiermem.text.literals import names
from tiermem.text.words import word_list

Kind = Literal["when", "how long", "how many", "who", "where", "list", "yes-no", "why", "what"]

_KINDS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    (
        "how long",
        re.compile(r"\bhow (?:long|old)\b|\bfor how many (?:years|months|weeks|days)\b", re.IGNORECASE),
    ),
    ("how many", re.compile(r"\bhow (?:many|much|often)\b|\bwhat (?:number|amount)\b", re.IGNORECASE)),
    (
        "when",
        re.compile(
            r"^\W*(?:since )?when\b|\bhow (?:recently|soon)\b|"
            r"\b(?:what|which) (?:date|day|month|year|time|season|week|weekend)\b",
            re.IGNORECASE,
        ),
    ),
    ("who", re.compile(r"^\W*(?:who|whom|whose|with whom|to whom)\b", re.IGNORECASE)),
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
            location
        """),
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question taken apart.

    `terms` are stems that carry its content, `names` those of its proper names, and `people` those of the
    names that it asks about as somebody ("did Ann", "Ann's").
    """

    text: str
    kind: Kind
    terms: tuple[str, ...]
    names: tuple[str, ...]
    people: tuple[str, ...]


def read_question(text: str) -> Question:
    """Take `text` apart. Every text has a kind; "what" when no other fits."""
    named = tuple(dict.fromkeys(stem(word) for name in names(text) for word in words(name)))
    content = [stem(word) for word in words(text) if word not in STOP_WORDS]
    terms = tuple(dict.fromkeys(term for term in content if term not in _ASKING or term in named))
    kind: Kind = next((kind for kind, pattern in _KINDS if pattern.search(text)), "what")
    people = tuple(
        dict.fromkeys(
            stem((m[1] or m[2]).lower())
            for m in _PERSON.finditer(text)
            if stem((m[1] or m[2]).lower()) in named
        )
    )
    return Question(text=text, kind=kind, terms=terms, names=named, people=people)
