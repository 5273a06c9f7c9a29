"""The guard: whether words on pages bear out what is claimed, and which words may be evidence. Code alone."""

from tiermem.proof.concluded import ONLY_CONCLUDED, is_concluded, only_concluded, without_words
from tiermem.proof.grade import Grade, grade
from tiermem.proof.instructions import instruction_like
from tiermem.proof.link import link
from tiermem.proof.quotation import quotations
from tiermem.proof.taken_back import GAP, LEFT_OUT, kept, marked, readable, remaining, without
from tiermem.proof.unsupported import CONTENT_FREE
from tiermem.proof.withheld import (
    at_least,
    closed,
    in_words_of,
    is_still_supported,
    proof_rank,
    stems_of_turns,
    withheld,
    without_unsearched,
)

__all__ = [
    "CONTENT_FREE",
    "GAP",
    "LEFT_OUT",
    "ONLY_CONCLUDED",
    "Grade",
    "at_least",
    "closed",
    "grade",
    "in_words_of",
    "instruction_like",
    "is_concluded",
    "is_still_supported",
    "kept",
    "link",
    "marked",
    "only_concluded",
    "proof_rank",
    "quotations",
    "readable",
    "remaining",
    "stems_of_turns",
    "withheld",
    "without",
    "without_unsearched",
    "without_words",
]
