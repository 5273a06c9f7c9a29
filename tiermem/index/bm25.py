"""BM25: what the words of an entry weigh, what those of a query do, and how rare a word is.

The weights of an entry are stored, so they never depend on what else is: a change of them raises `SCHEMA`
(`encoding`). Rarity is computed by the index that searches, over what the caller may see of the space.
"""

from __future__ import annotations

import math
import zlib
from collections import Counter
from collections.abc import Iterable
from typing import Literal

from tiermem.index.values import Collection, Entry
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


def document_terms(text: str, kind: Collection | Literal["around"]) -> Terms:
    """The saturated term frequencies of BM25; the index that searches multiplies them with IDF."""
    counts = Counter(search_stems(join_surrogates(text)))
    length = counts.total() / AVERAGE_STEMS[kind]
    damping = SATURATION * (1 - LENGTH_WEIGHT + LENGTH_WEIGHT * length)
    weights = {dimension(term): n * (SATURATION + 1) / (n + damping) for term, n in counts.items()}
    return dict(sorted(weights.items()))


def unit_terms(unit: Entry) -> Terms:
    """The terms of a unit's text, and at little weight those that only its scene holds."""
    weights = document_terms(unit.text, "units")
    for term, weight in document_terms(unit.scene, "units").items():
        weights.setdefault(term, SCENE * weight)
    return dict(sorted(weights.items()))


def query_terms(text: str) -> Terms:
    """One for each different stem; empty when the text has no searchable word."""
    return dict.fromkeys(sorted(map(dimension, query_stems(text))), 1.0)


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
