"""Decides which turns share a page and where a turn too long for any page is cut. Pure functions.

The rule: a turn is never split unless it is longer than the hard limit; the texts of its parts, joined,
are its text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from itertools import pairwise

_SENTENCE_END = re.compile(r"""(?<=[.!?…])["'”’)\]]*\s+|(?<=[。！？])|\n+""")

_WORTH_COUNTING = 8
"""Characters a token may come to on average in a piece that is counted whole: longer ones are halved first,
so that a text is counted a few times and no more, however long it is.
"""


def full_page(tokens: Iterable[int], target: int) -> int:
    """How many of the turns waiting make a page that takes no more; 0 while the page has room.

    `tokens` are the sizes of the waiting turns in order. A page holds at least one turn.
    """
    total = taken = 0
    for size in tokens:
        if taken and total + size > target:
            return taken
        total += size
        taken += 1
    return taken if total >= target else 0


def cut(text: str, limit: int, count: Callable[[str], int]) -> tuple[str, ...]:
    """Pieces of at most `limit` tokens, cut behind sentences; where one is too long, at blanks, or anywhere.

    The pieces, joined, are `text`.
    """
    parts: list[str] = []
    part: list[str] = []
    room = limit
    for piece in _pieces(text, limit, count):
        size = count(piece)
        if part and size > room:
            parts.append("".join(part))
            part, room = [], limit
        part.append(piece)
        room -= size
    return (*parts, "".join(part))


def _pieces(text: str, limit: int, count: Callable[[str], int]) -> list[str]:
    """Sentences, the long ones halved until they fit."""
    pieces: list[str] = []
    ends = [found.end() for found in _SENTENCE_END.finditer(text)]
    waiting = [text[start:end] for start, end in pairwise([0, *ends, len(text)]) if start < end][::-1]
    while waiting:
        piece = waiting.pop()
        if len(piece) < 2 or (len(piece) <= _WORTH_COUNTING * limit and count(piece) <= limit):
            pieces.append(piece)
            continue
        middle = _near_middle(piece)
        waiting += [piece[middle:], piece[:middle]]
    return pieces


def _near_middle(text: str) -> int:
    """Behind the last blank of the first half, or the middle where that half has none."""
    middle = len(text) // 2
    blank = max(text.rfind(" ", 0, middle), text.rfind("\t", 0, middle), text.rfind("\n", 0, middle))
    return blank + 1 if blank > 0 else middle
