"""BM25: what the words of an entry weigh, what those of a query do, and how rare a word is.

Servers store the weights of an entry, so they never depend on what else is stored: a change of them raises
`SCHEMA` (`encoding`). Rarity is computed by the index that searches, over what the caller may see of the
space.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypeVar

from tiermem.index.values import Collection
from tiermem.text import search_stems
from tiermem.text.unicode import join_surrogates

SCENE = 0.1
"""What a word counts that only the scene of a unit holds. At full weight it lowers what recall brings."""

SATURATION = 1.2
LENGTH_WEIGHT = 0.75
"""BM25's k1 and b."""
AVERAGE_STEMS: dict[Collection | Literal["around"], int] = {
    "units": 13,
    "turns": 15,
    "around": 80,
}
"""Typical entry lengths, fixed (measured on LoCoMo) so that a weight never depends on what else is stored."""

Terms = dict[int, float]
"""Weights by what `dimension` makes of a stem."""

Numbers = TypeVar("Numbers", float, Any)
"""A number, or an array of them."""


def weigh_term(often: Numbers, lengths: Numbers, average: int) -> Numbers:
    """The weight of a term by how often it occurs in texts of these lengths, before its rarity."""
    damping = SATURATION * (1 - LENGTH_WEIGHT + LENGTH_WEIGHT * lengths / average)
    return often * (SATURATION + 1) / (often + damping)


def weigh_terms(counts: Mapping[int, int], average: int) -> Terms:
    """The weight of each term of a text, at little weight those that occur in the scene of a unit alone."""
    length = sum(counts.values())
    return {
        term: (1 if often else SCENE) * weigh_term(max(often, 1), length, average)
        for term, often in sorted(counts.items())
    }


def query_stems(text: str, *, without: Iterable[str] = ()) -> list[str]:
    """The different stems of a query, in order, without those of some words unless that leaves none."""
    found = list(dict.fromkeys(search_stems(join_surrogates(text))))
    left_out = {stem for word in without for stem in search_stems(word)}
    return [stem for stem in found if stem not in left_out] or found


def dimension(term: str) -> int:
    """The place of a stem among the term weights."""
    return zlib.crc32(term.encode())


def rarity(entries: int, holders: int) -> float:
    """The IDF of a term that so many of the entries that may be seen hold."""
    return math.log(1 + (entries - holders + 0.5) / (holders + 0.5))
