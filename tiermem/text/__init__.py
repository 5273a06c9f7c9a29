"""Normalising, cutting, dating and comparing text: pure functions, and the guard built from them."""

from tiermem.text.check import UNCITED, graded
from tiermem.text.dates import DateMention, display_date, parse_iso, resolve_dates
from tiermem.text.derive import holds, recomputed
from tiermem.text.link import link
from tiermem.text.literals import Literals, Source, literals, omissions, page_literals, unsupported_literals
from tiermem.text.normalise import Normalised, normalise
from tiermem.text.quotation import quotations
from tiermem.text.readings import negated
from tiermem.text.support import instruction_like
from tiermem.text.taken_back import GAP, LEFT_OUT, kept, marked, readable, remaining, without
from tiermem.text.telltales import FEW, Telltales, exactly, is_lone, telltales
from tiermem.text.withheld import at_least, in_words_of, proof_rank, still_proved, withheld
from tiermem.text.words import STOP_WORDS, Piece, sentences, stem, stems, words

__all__ = [
    "FEW",
    "GAP",
    "LEFT_OUT",
    "STOP_WORDS",
    "UNCITED",
    "DateMention",
    "Literals",
    "Normalised",
    "Piece",
    "Source",
    "Telltales",
    "at_least",
    "display_date",
    "exactly",
    "graded",
    "holds",
    "in_words_of",
    "instruction_like",
    "is_lone",
    "kept",
    "link",
    "literals",
    "marked",
    "negated",
    "normalise",
    "omissions",
    "page_literals",
    "parse_iso",
    "proof_rank",
    "quotations",
    "readable",
    "recomputed",
    "remaining",
    "resolve_dates",
    "sentences",
    "stem",
    "stems",
    "still_proved",
    "telltales",
    "unsupported_literals",
    "withheld",
    "without",
    "words",
]
