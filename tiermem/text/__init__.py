"""Normalising, cutting, dating and comparing text: pure functions that judge nothing."""

from tiermem.text.dates import DateMention, display_date, parse_iso, resolve_dates
from tiermem.text.literals import Literals, Source, literals, omissions, page_literals, unsupported_literals
from tiermem.text.normalise import Normalised, normalise
from tiermem.text.readings import negated
from tiermem.text.words import STOP_WORDS, Piece, sentences, stem, stems, without_possessive, words

__all__ = [
    "STOP_WORDS",
    "DateMention",
    "Literals",
    "Normalised",
    "Piece",
    "Source",
    "display_date",
    "literals",
    "negated",
    "normalise",
    "omissions",
    "page_literals",
    "parse_iso",
    "resolve_dates",
    "sentences",
    "stem",
    "stems",
    "unsupported_literals",
    "without_possessive",
    "words",
]
