"""What a question asks for: its kind, the people and things it names, the words that must be matched.

Shared by the local engine and the gate, so that both mean the same by "covered".
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from tiermem.text import STOP_WORDS, stem, words
from tiermem.text.literals import names

Kind = Literal["when", "how long", "how many", "who", "where", "list", "yes-no", "why", "what"]

_KINDS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("how long", re.compile(r"\bhow (?:long|old)\b|\bfor how many (?:years|months|weeks|days)\b", re.I)),
    ("how many", re.compile(r"\bhow (?:many|much|often)\b|\bwhat (?:number|amount)\b", re.I)),
    (
        "when",
        re.compile(
            r"^\W*(?:since )?when\b|\b(?:what|which) (?:date|day|month|year|time|season|week|weekend)\b|\bhow (?:recently|soon)\b",
            re.I,
        ),
    ),
    ("who", re.compile(r"^\W*(?:who|whom|whose|with whom|to whom)\b", re.I)),
    (
        "where",
        re.compile(
            r"^\W*(?:from )?where\b|\b(?:what|which) (?:city|country|state|place|town|area|location)\b", re.I
        ),
    ),
    ("why", re.compile(r"^\W*why\b|\bwhat (?:made|motivated|inspired|caused)\b|\breason\b", re.I)),
    (
        "yes-no",
        re.compile(
            r"^\W*(?:is|are|was|were|do|does|did|has|have|had|can|could|would|will|should|may|might)\b", re.I
        ),
    ),
    (
        "list",
        re.compile(
            r"^\W*(?:list|name all)\b|\b(?:what|which) (?:kinds?|types?|sorts?|all|other|different|are|were)\b|"
            r"^\W*(?:what|which) (?:\w+ ){0,2}?\w+[^s\W]s\b(?<!does)(?<!was)(?<!has)(?<!is)",
            re.I,
        ),
    ),
)
_ASKING = frozenset(
    map(
        stem,
        """kind kinds type types sort many much long often old date day month year time name list reason type
        thing things way ways person people someone happen happened mention mentioned say said tell told talk
        does did use go going get make made city country state place location""".split(),
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question taken apart. `terms` are stems that carry its content; `names` its proper names' stems."""

    text: str
    kind: Kind
    terms: tuple[str, ...]
    names: tuple[str, ...]


def read_question(text: str) -> Question:
    """Take `text` apart. Every text has a kind; "what" when no other fits."""
    named = tuple(dict.fromkeys(stem(word) for name in names(text) for word in words(name)))
    content = [stem(word) for word in words(text) if word not in STOP_WORDS]
    terms = tuple(dict.fromkeys(term for term in content if term not in _ASKING or term in named))
    kind: Kind = next((kind for kind, pattern in _KINDS if pattern.search(text)), "what")
    return Question(text=text, kind=kind, terms=terms, names=named)
