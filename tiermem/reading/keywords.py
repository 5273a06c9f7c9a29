"""Keyword search without an index: BM25 over texts at hand.

It finds what the index does not hold yet, and it answers when the index cannot be used: pages are the
truth, and their words are never wrong about what is there.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterable, Sequence

from tiermem.text import stems

K1, B = 1.5, 0.75
"""Okapi's saturation and length weight, the defaults of rank-bm25."""
_NOBODY: Sequence[int] = ()


class Keywords:
    """Texts to be ranked for any number of queries. Each is counted once, when it is added.

    Ranking takes time in proportion to the texts that hold a word of the query.
    """

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._lengths = array("L")
        self._total = 0
        self._holders: dict[str, tuple[array[int], array[int]]] = {}
        for text in texts:
            self.add(text)

    def __len__(self) -> int:
        return len(self._lengths)

    def add(self, text: str) -> None:
        """Count one more text; its number is how many there were."""
        number, counts = len(self._lengths), Counter(stems(text))
        self._lengths.append(counts.total())
        self._total += counts.total()
        for word, often in counts.items():
            numbers, times = self._holders.setdefault(word, (array("L"), array("L")))
            times.append(often)
            numbers.append(number)

    def holders(self, stem: str) -> Sequence[int]:
        """The numbers of the texts that hold a stem, in order."""
        return self._holders[stem][0] if stem in self._holders else _NOBODY

    def rank(self, wanted: Iterable[str]) -> list[tuple[int, float]]:
        """Numbers and scores of the texts that hold one of these stems, best first."""
        scores: dict[int, float] = {}
        average = self._total / len(self._lengths) if self._total else 1.0
        for word in dict.fromkeys(wanted):
            numbers, times = self._holders.get(word, (array("L"), array("L")))
            rarity = math.log(1 + (len(self._lengths) - len(numbers) + 0.5) / (len(numbers) + 0.5))
            for number, often in zip(numbers, times, strict=False):  # more may be added meanwhile
                damping = K1 * (1 - B + B * self._lengths[number] / average)
                scores[number] = scores.get(number, 0.0) + rarity * often * (K1 + 1) / (often + damping)
        return sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))
