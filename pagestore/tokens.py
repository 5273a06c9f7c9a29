"""Measures text in tokens without a tokeniser: an estimate that needs no file and no network.

A byte-pair tokeniser first cuts text into pieces (a word with the blank before it, up to three digits, a
run of punctuation, white space) and then spends one token on a piece it has learned. In English it has
learned nearly every piece, so counting pieces counts tokens. Long words, code-like runs of letters and
other scripts cost more; their rates are tokens per character, by script.
"""

from __future__ import annotations

import re
from itertools import pairwise

# The pre-tokeniser of cl100k_base, written for `re` (which has no \p{L}).
_PIECE = re.compile(
    r"'(?:[sdmt]|ll|ve|re)(?![^\W\d_])"
    r"|(?:[^\r\n\w]|_)?[^\W\d_]+"
    r"|\d{1,3}"
    r"| ?(?:[^\s\w]|_)+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+",
    re.IGNORECASE,
)
_LEARNED_WORD = 16
"""Up to so many characters, the blank before it included, an ASCII word counts as one token."""
_LETTERS_A_TOKEN = 4
"""Beyond that, a token holds about so many letters."""
_SIGNS_A_TOKEN = 4
_SAME_SIGNS_A_TOKEN = 80
"""Characters to a token in a run of signs or digits, and in one of the same sign again and again."""

# First code point of a range, tokens a character; the range ends where the next begins.
_RATES: tuple[tuple[int, float], ...] = (
    (0x0000, 0.25),  # ASCII inside a word that has other letters
    (0x0080, 0.7),  # Latin with marks
    (0x0370, 0.8),  # Greek
    (0x0400, 0.45),  # Cyrillic
    (0x0530, 1.2),  # Armenian, Hebrew
    (0x0600, 0.75),  # Arabic
    (0x0700, 1.5),  # Syriac to Thaana
    (0x0900, 1.0),  # Devanagari
    (0x0980, 1.6),  # other Indic scripts
    (0x0E00, 1.0),  # Thai
    (0x0E80, 2.0),  # Lao, Tibetan, Georgian, Ethiopic and others
    (0x2000, 1.0),  # punctuation and signs
    (0x2E80, 1.2),  # CJK radicals
    (0x3000, 1.0),  # CJK punctuation, kana
    (0x3100, 1.6),
    (0x4E00, 1.2),  # CJK ideographs
    (0xA000, 2.0),
    (0xAC00, 1.1),  # Hangul
    (0xD7B0, 3.0),  # surrogates, private use
    (0xF900, 1.6),
    (0x10000, 2.5),  # emoji and everything rarer
)
_UNIT = 20
_RATE_OF_BLOCK = b"".join(
    bytes([round(rate * _UNIT)]) * ((end - first) >> 4)
    for (first, rate), (end, _) in pairwise([*_RATES, (0x110000, 0.0)])
)
"""The rates, in twentieths, of every sixteen code points: looked up once a character."""


class EstimateCounter:
    """Counts tokens by pieces and per-script rates; a few per cent from `cl100k_base` on English prose."""

    name = "estimate-1"
    """Which rules measured a page; a change of the rules is a new name."""

    def count(self, text: str) -> int:
        """How many tokens `text` is, about."""
        pieces = _PIECE.findall(text)
        # In the expression and not in a function: nearly every piece of English ends here.
        odd = [
            piece
            for piece in pieces
            if not piece.isascii()
            or (len(piece) > _SIGNS_A_TOKEN and (len(piece) > _LEARNED_WORD or not piece[-1].isalpha()))
        ]
        return len(pieces) - len(odd) + sum(map(_tokens, odd))


def _tokens(piece: str) -> int:
    if not piece.isascii():
        rates = [_RATE_OF_BLOCK[ord(character) >> 4] for character in piece]
        return max(1, round(sum(rates) / _UNIT))
    if piece[-1].isalpha():
        return 1 + _times(_LETTERS_A_TOKEN, max(0, len(piece) - _LEARNED_WORD))
    # A run of one sign ("-----") is learned, and so are blanks; a mixed run is not.
    return _times(_SAME_SIGNS_A_TOKEN if len(set(piece.strip())) <= 1 else _SIGNS_A_TOKEN, len(piece))


def _times(size: int, length: int) -> int:
    """How many of `size` it takes to cover `length`."""
    return -(-length // size)
