"""How HTM-EAR looks a question up: first tier, gate, second tier, and one score over what was found.

Two things are not the source's: the vectors are those of the embedder given, and the nearest are found by
comparing with all, not by HNSW. Its cross-encoder is not here; modes are named for what they do without it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np

PATTERNS: Final = (
    re.compile(r"Node-\d+"),
    re.compile(r"ERR_[A-Z_]+"),
    re.compile(r"Subsystem-\d+"),
    re.compile(r"0x[0-9A-F]{4}"),
)
"""What the source's engine takes for an entity, whatever it reads."""
FIRST_DEPTH: Final = 100
SECOND_DEPTH: Final = 200
RETURNED: Final = 5
Fallback = Literal["replace", "merge"]
Hits = list[tuple[int, float]]
"""Keys with their similarity, nearest first."""


def entities(text: str, patterns: Iterable[re.Pattern[str]] = PATTERNS) -> frozenset[str]:
    """What the patterns find, in small letters."""
    return frozenset(found.lower() for pattern in patterns for found in pattern.findall(text))


@dataclass(frozen=True, slots=True, kw_only=True)
class TierGate:
    """When the first tier is enough: near enough, and the nearest names all that the question names.

    `fallback` says what happens to what the first tier found: the source's text adds the second tier's
    findings, its code puts them in its place.
    """

    tau: float
    fallback: Fallback = "replace"

    def enough(self, hits: Hits, asked: frozenset[str], named: Mapping[int, frozenset[str]]) -> bool:
        """True when the second tier is not asked."""
        return bool(hits) and hits[0][1] >= self.tau and asked <= named[hits[0][0]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Some facts that are searched together: their keys, and a unit vector each."""

    keys: Sequence[int]
    vectors: Any

    def nearest(self, query: Any, depth: int) -> Hits:
        """The nearest, best first."""
        if not self.keys:
            return []
        near = self.vectors @ query
        order = np.argsort(-near, kind="stable")[:depth]
        return [(self.keys[at], float(near[at])) for at in order]


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """All facts there ever were, by key: unit vectors, what they name, how important they are."""

    vectors: Any
    places: Mapping[int, int]
    named: Mapping[int, frozenset[str]]
    importance: Mapping[int, float]

    def part(self, keys: Collection[int]) -> Part:
        """Some of the facts."""
        held = tuple(keys)
        return Part(keys=held, vectors=self.vectors[[self.places[key] for key in held]])


def score(similarity: float, shared: int, importance: float) -> float:
    """HTM-EAR's score of one candidate."""
    return similarity**3 + 0.8 * shared + 0.1 * importance


def retrieve(
    corpus: Corpus, first: Part, second: Part, query: Any, asked: frozenset[str], *, gate: TierGate | None
) -> list[int]:
    """The keys of the five best, as the source's engine returns them without its cross-encoder.

    Without a gate the second tier is never asked. An unbounded memory is a second tier alone.
    """
    hits = first.nearest(query, FIRST_DEPTH)
    if gate is not None and not gate.enough(hits, asked, corpus.named):
        further = second.nearest(query, SECOND_DEPTH)
        hits = further if gate.fallback == "replace" else hits + further
    scored = {
        key: score(similarity, len(asked & corpus.named[key]), corpus.importance[key])
        for key, similarity in hits
    }
    return sorted(scored, key=lambda key: -scored[key])[:RETURNED]


def reciprocal(returned: Sequence[int], wanted: int) -> float:
    """One over the place of what was wanted; 0 when it was not returned."""
    return 1 / (returned.index(wanted) + 1) if wanted in returned else 0.0
