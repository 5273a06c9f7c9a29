"""Normalising, cutting, dating and comparing text: pure functions that judge nothing."""

from tiermem.text.dates import DateMention, parse_iso, resolve_dates
from tiermem.text.literals import Source, literals, omissions, omissions_and_count, unsupported_literals
from tiermem.text.normalise import fold_text, normalise
from tiermem.text.readings import is_negated
from tiermem.text.words import (
    STOP_WORDS,
    search_stems,
    search_words,
    sentences,
    stem,
    stems,
    without_possessive,
    words,
)

__all__ = [
    "STOP_WORDS",
    "DateMention",
    "Source",
    "fold_text",
    "is_negated",
    "literals",
    "normalise",
    "omissions",
    "omissions_and_count",
    "parse_iso",
    "resolve_dates",
    "search_stems",
    "search_words",
    "sentences",
    "stem",
    "stems",
    "unsupported_literals",
    "without_possessive",
    "words",
]
