"""What a query asks for letter by letter: identifiers, phrases in quotation marks, or the query as typed.

Meaning and stems say little about a ticket number or a file name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from tiermem.text.dates import DateMention
from tiermem.text.normalise import fold_text
from tiermem.text.words import EDGES, ends_at_spaces

MOST_EXACT = 8
"""Identifiers and phrases of one query that are looked for."""
LONGEST_EXACT = 200
"""Characters of a text whose ends are compared as words: comparing takes time in proportion to them."""

_QUOTED = re.compile(r'"(?=\S)([^"]+)"|“([^“”]+)”|„([^„“”]+)[“”]|«([^«»]+)»')
_AMOUNT = re.compile(
    r"\d{1,2}(?::\d\d){0,2}|\d+(?:[.,]\d{1,2})?[A-Za-z]{0,2}%?|\d{1,2}(?:-[a-z]+)+|"
    r"[$€£¥]\d{1,9}(?:[.,]\d{1,3}){0,3}[A-Za-z]{0,2}|\d{1,9}(?:[.,]\d{1,3}){0,3}[$€£¥]"
)
"""Times and amounts: a number with a short ending, with the sign of a currency, or before a word ("3rd",
"5pm", "2.5", "$10", "5-star").
"""
_LONG_NUMBER = re.compile(r"\d{3,}")
_DOTTED = re.compile(r"(?<!\w)\w{2,}(?:\.\w{2,})+")
"""File names and domains."""
_SYMBOLS = ("@", "_", "#", "\\", "://")
"""What is in addresses, handles and paths."""
_TOKEN = re.compile(r"\S+")


@dataclass(frozen=True)
class ExactText:
    """A text to be found letter by letter, whatever its case, white space, quotation marks and dashes.

    Where it begins or ends with a letter of a script with spaces, or a digit, a word of the text does too.

    An identifier is not found within a longer one: "INC-104" is not in "INC-104-2" or "INC-1042".
    """

    text: str
    is_identifier: bool = False

    def is_in(self, text: str) -> bool:
        """Whether a text contains it as whole words; the ends of a long one may be parts of words."""
        found = fold_text(text)
        if self._wanted_text not in found:
            return False
        return len(self.text) > LONGEST_EXACT or self._pattern.search(found) is not None

    @cached_property
    def _wanted_text(self) -> str:
        return fold_text(self.text)

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        text = self._wanted_text
        words = re.escape(text)
        if self.is_identifier:
            return re.compile(rf"(?<!\w)(?<!\w[-._]){words}(?!\w|[-._]\w)")
        before, after = (r"(?<!\w)", r"(?!\w)")
        return re.compile(
            f"{before if ends_at_spaces(text[:1]) else ''}{words}{after if ends_at_spaces(text[-1:]) else ''}"
        )


def find_identifiers(query: str, dates: Iterable[DateMention]) -> tuple[ExactText, ...]:
    """Find the words of a query with digits or symbols that name one thing: numbers, codes, files, addresses.

    Its `dates`, times and amounts are none.
    """
    dated = [(mention.start, mention.end) for mention in dates]
    found: list[ExactText] = []
    for match in _TOKEN.finditer(query):
        text = match[0].strip(EDGES)
        start = match.start() + match[0].find(text)
        in_date = any(first < start + len(text) and start < last for first, last in dated)
        if text and not in_date and _is_identifier(text):
            found.append(ExactText(text, is_identifier=True))
    return tuple(dict.fromkeys(found))[:MOST_EXACT]


def _is_identifier(word: str) -> bool:
    if _LONG_NUMBER.fullmatch(word):
        return True
    if any(character.isdigit() for character in word):
        return _AMOUNT.fullmatch(word) is None
    has_symbols = any(symbol in word for symbol in _SYMBOLS) or word.count("/") > 1
    return (has_symbols and len(word) > 2) or _DOTTED.fullmatch(word) is not None


def find_phrases(query: str) -> tuple[ExactText, ...]:
    """Find the phrases in quotation marks of a query."""
    quoted = ("".join(filter(None, match.groups())).strip() for match in _QUOTED.finditer(query))
    return tuple(dict.fromkeys(ExactText(text) for text in quoted if text))[:MOST_EXACT]
