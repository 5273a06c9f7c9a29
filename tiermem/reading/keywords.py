"""Keyword search without an index: BM25 over texts at hand.

It finds pages the index does not hold yet, and it answers when the index cannot be used: pages are
the truth, and a scan of them is slow but never wrong about what is there.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable

from tiermem.text import stems

K1, B = 1.5, 0.75


class Keywords:
    """Texts counted once, to be ranked for any number of queries."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._counts = [Counter(stems(text)) for text in texts]
        self._lengths = [count.total() for count in self._counts]
        self._average = sum(self._lengths) / len(self._lengths) if any(self._lengths) else 1.0

    def rank(self, query: str) -> list[tuple[int, float]]:
        """Indices and scores of the texts that share a content word with `query`, best first."""
        scores: dict[int, float] = {}
        for word in dict.fromkeys(stems(query)):
            holders = [i for i, count in enumerate(self._counts) if word in count]
            rarity = math.log(1 + (len(self._counts) - len(holders) + 0.5) / (len(holders) + 0.5))
            for i in holders:
                scores[i] = scores.get(i, 0.0) + rarity * self._weight(word, i)
        return sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))

    def _weight(self, word: str, text: int) -> float:
        often = self._counts[text][word]
        return often * (K1 + 1) / (often + K1 * (1 - B + B * self._lengths[text] / self._average))
