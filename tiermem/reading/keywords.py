"""Keyword search without an index: BM25 over texts at hand.

It finds pages the index does not hold yet, and it answers when the index cannot be used: pages are
the truth, and a scan of them is slow but never wrong about what is there.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from tiermem.text import stems

K1, B = 1.5, 0.75


def bm25(query: str, texts: Sequence[str]) -> list[tuple[int, float]]:
    """Indices and scores of the texts that share a content word with `query`, best first."""
    wanted = dict.fromkeys(stems(query))
    counts = [Counter(stems(text)) for text in texts]
    lengths = [count.total() for count in counts]
    average = sum(lengths) / len(lengths) if any(lengths) else 1.0
    scores = [0.0] * len(texts)
    for word in wanted:
        holders = [i for i, count in enumerate(counts) if word in count]
        rarity = math.log(1 + (len(texts) - len(holders) + 0.5) / (len(holders) + 0.5))
        for i in holders:
            often = counts[i][word]
            scores[i] += rarity * often * (K1 + 1) / (often + K1 * (1 - B + B * lengths[i] / average))
    found = [(i, score) for i, score in enumerate(scores) if score > 0]
    return sorted(found, key=lambda pair: (-pair[1], pair[0]))
