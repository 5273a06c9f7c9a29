"""One spelling for equal words, and the way back to where they stood.

Two strings that differ only in Unicode form, case, white space, quote marks, dashes or invisible
characters normalise to the same text. Every normalised character knows the range of the original it
came from, so a match found here can be cited there, exactly.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

_SAME = {
    **dict.fromkeys("‘’‚‛ʼʹ′`´＇", "'"),
    **dict.fromkeys("“”„‟«»″＂", '"'),
    **dict.fromkeys("‐‑‒–—―−﹘﹣－", "-"),
}
# A base character with the combining marks that follow it: the smallest piece that can be recomposed. Each
# mark after the 30th (Unicode's Stream-Safe Text Format) is a piece of its own: sorting a long run is slow.
_PIECE = re.compile(
    r"[^\W\d_][\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u064b-\u065f\u3099\u309a]{1,30}|.", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class NormalisedText:
    """`text[i]` came from `original[starts[i]:ends[i]]`."""

    text: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]

    def original(self, start: int, end: int) -> tuple[int, int]:
        """The range of the original that `text[start:end]` (not empty) came from."""
        return self.starts[start], self.ends[end - 1]


@lru_cache(maxsize=4096)
def _fold(piece: str) -> str:
    piece = _SAME.get(piece, piece)
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", piece).casefold())
    kept = (_SAME.get(char, char) for char in folded)
    return "".join(" " if char.isspace() else char for char in kept if not _invisible(char))


def _invisible(char: str) -> bool:
    return unicodedata.category(char) in ("Cf", "Cc") and not char.isspace()


_ASCII = {**{code: None for code in (*range(32), 127) if not chr(code).isspace()}, ord("`"): "'"}


@lru_cache(maxsize=4096)
def fold_text(text: str) -> str:
    """The text of `normalise(text)` without the way back to the original, in a fraction of the time."""
    if text.isascii():
        return " ".join(text.lower().translate(_ASCII).split())
    return " ".join("".join(map(_fold, _PIECE.findall(text))).split())


@lru_cache(maxsize=512)
def normalise(text: str) -> NormalisedText:
    """Fold `text`; runs of white space become one space, none at the ends. Never raises."""
    chars: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for piece in _PIECE.finditer(text):
        for char in _fold(piece.group()):
            if char == " " and (not chars or chars[-1] == " "):
                continue
            chars.append(char)
            starts.append(piece.start())
            ends.append(piece.end())
    if chars and chars[-1] == " ":
        chars.pop()
        starts.pop()
        ends.pop()
    return NormalisedText("".join(chars), tuple(starts), tuple(ends))
