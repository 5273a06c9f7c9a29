"""Keyword search without an index: BM25 over texts at hand.

It finds what the index does not hold yet, and it answers when the index cannot be used: pages are the
truth, and their words are never wrong about what is there.

Each text is of an owner, and counts are kept by owner: what a caller may not see has no part in any score.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from tiermem.text import search_stems

K1, B = 1.5, 0.75
"""Okapi's saturation and length weight, the defaults of rank-bm25."""

Owner = Hashable
MaySee = Callable[[Any], bool]
"""Whether the texts of an owner may be seen."""


def _see_all(_: Owner) -> bool:
    """Whether they may be seen: always."""
    return True


@dataclass(slots=True)
class _Counts:
    """What is counted of the texts of one owner."""

    texts: int = 0
    length: int = 0
    holders: dict[str, tuple[array[int], array[int]]] = field(default_factory=dict)
    """For each word the numbers of the texts that hold it, and how often."""

    def list_holders(self, word: str) -> Iterator[tuple[int, int]]:
        """The numbers of the texts that hold a word, in order, and how often each does."""
        # The shorter counts: more may be added meanwhile.
        return zip(*self.holders[word], strict=False) if word in self.holders else iter(())


class Keywords:
    """Texts to be ranked for any number of queries. Each is counted once, when it is added.

    Ranking takes time in proportion to the texts that may be seen and hold a word of the query.
    """

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._lengths = array("L")
        self._counts: dict[Owner, _Counts] = {}
        for text in texts:
            self.add(text)

    def __len__(self) -> int:
        return len(self._lengths)

    def add(self, text: str, owner: Owner = None) -> None:
        """Count one more text of an owner; its number is how many there were."""
        number, words = len(self._lengths), Counter(search_stems(text))
        counts = self._counts.setdefault(owner, _Counts())
        counts.texts += 1
        counts.length += words.total()
        self._lengths.append(words.total())
        for word, often in words.items():
            numbers, times = counts.holders.setdefault(word, (array("L"), array("L")))
            times.append(often)
            numbers.append(number)

    def count_texts(self, may_see: MaySee = _see_all) -> int:
        """How many texts may be seen."""
        return sum(counts.texts for counts in self._parts(may_see))

    def count_holders(self, stem: str, may_see: MaySee = _see_all) -> int:
        """How many texts that may be seen hold a stem."""
        return sum(len(part.holders[stem][0]) for part in self._parts(may_see) if stem in part.holders)

    def rank(
        self, wanted: Iterable[str], may_see: MaySee = _see_all, also: Collection[int] = ()
    ) -> list[tuple[int, float]]:
        """Numbers and scores of the texts that hold one of these stems, best first.

        Of owners that may not be seen, the texts with the numbers in `also` may be seen nevertheless.
        """
        seen = self._parts(may_see)
        others = self._parts(lambda owner: not may_see(owner)) if also else []
        texts = sum(part.texts for part in seen) + len(also)
        total = sum(part.length for part in seen) + sum(self._lengths[number] for number in also)
        average = total / texts if total else 1.0
        scores: dict[int, float] = {}
        for word in dict.fromkeys(wanted):
            held = list(chain.from_iterable(part.list_holders(word) for part in seen))
            held += [pair for part in others for pair in part.list_holders(word) if pair[0] in also]
            rarity = math.log(1 + (texts - len(held) + 0.5) / (len(held) + 0.5))
            for number, often in held:
                damping = K1 * (1 - B + B * self._lengths[number] / average)
                scores[number] = scores.get(number, 0.0) + rarity * often * (K1 + 1) / (often + damping)
        return sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))

    def _parts(self, may_see: MaySee) -> list[_Counts]:
        return [counts for owner, counts in tuple(self._counts.items()) if may_see(owner)]
