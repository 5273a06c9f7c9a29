"""The guard: whether words on pages bear out what is claimed, and which words may be evidence. Code alone."""

from tiermem.proof.concluded import ONLY_CONCLUDED, is_concluded, only_concluded, without_words
from tiermem.proof.grade import Grade, grade
from tiermem.proof.link import link
from tiermem.proof.remaining_support import in_words_of, is_still_supported, proof_rank, stems_of_turns
from tiermem.proof.unsupported import CONTENT_FREE
