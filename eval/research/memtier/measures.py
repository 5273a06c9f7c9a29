"""What MemTier's two stages find on LongMemEval without a language model, and what its signals have to say.

Three readings of “found”, as the source does not say which is its own: a turn of the evidence among the
first k; all of them; the gold answer, word for word, in one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from eval.metrics.retrieval import score
from eval.research.memtier.haystacks import Haystack
from eval.research.memtier.score import (
    DEFAULT,
    EQUAL,
    NORMALISED,
    by_age,
    decay,
    features,
    fused,
    ranking,
    saturated,
    z_scored,
)

CUTOFFS: Final = (1, 2, 4)
SESSIONS: Final = 5
"""How many sessions the first stage takes, unless said otherwise."""
SCOPES: Final = (1, 3, 5, 10, None)
FIRST: Final = 2
"""How many entries a reader is shown, as the source recommends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What one ranking of one question found, by cutoff; and what of the haystack was looked through."""

    category: str
    any: Mapping[int, bool]
    all: Mapping[int, bool]
    answer: Mapping[int, bool]
    ndcg: float
    searched: float
    covered: float


def outcome(hay: Haystack, ranked: Sequence[int], sessions: Sequence[int] | None) -> Outcome:
    """How good a ranking of entries is, of those in some sessions or in all."""
    wanted = set(np.flatnonzero(hay.evidence).tolist())
    chosen = range(hay.sessions) if sessions is None else sessions
    return Outcome(
        category=hay.category,
        any={k: bool(wanted & set(ranked[:k])) for k in CUTOFFS},
        all={k: bool(wanted) and wanted <= set(ranked[:k]) for k in CUTOFFS},
        answer={k: any(map(hay.answers, ranked[:k])) for k in CUTOFFS},
        ndcg=score(ranked, wanted, range(len(hay.texts)), k=max(CUTOFFS)).ndcg_any,
        searched=len(set(chosen)) / hay.sessions,
        covered=len(hay.evidence_sessions & set(chosen)) / max(1, len(hay.evidence_sessions)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """The entries of the sessions chosen for one question: their places and all that a score is made of.

    `meaning` is the cosine of each with the question, where an embedder was at hand.
    """

    places: Any
    bm25: Any
    days: Any
    evidence: Any
    meaning: Any | None = None


def pool(hay: Haystack, sessions: Sequence[int] | None, near: Any | None = None) -> Pool:
    """The entries of some sessions; `near` has a cosine for each of them."""
    places = hay.entries(sessions)
    return Pool(
        places=places,
        bm25=hay.bm25(places),
        days=hay.days[places],
        evidence=hay.evidence[places],
        meaning=near,
    )


def by_words(hay: Haystack, first: Sequence[int], scope: int | None) -> Outcome:
    """The second stage by BM25 within the first few sessions of the first stage, or within all."""
    sessions = None if scope is None else first[:scope]
    return _outcome_of(hay, pool(hay, sessions), sessions)


def oracle(hay: Haystack) -> Outcome:
    """The second stage by BM25 within exactly the sessions that hold the evidence."""
    sessions = sorted(hay.evidence_sessions)
    return _outcome_of(hay, pool(hay, sessions), sessions)


def _outcome_of(hay: Haystack, of: Pool, sessions: Sequence[int] | None) -> Outcome:
    return outcome(hay, [int(of.places[at]) for at in ranking(of.bm25)], sessions)


def by_both(hay: Haystack, of: Pool, sessions: Sequence[int]) -> Outcome:
    """The second stage by BM25 and meaning, fused."""
    ranked = fused(ranking(of.bm25), ranking(of.meaning))
    return outcome(hay, [int(of.places[at]) for at in ranked], sessions)


def printed_rows(of: Pool) -> Any:
    """The signals as the paper defines them: all entries are of chosen sessions, and pass the bypass."""
    return features(of.bm25, decay(of.bm25, of.days, scoped=np.full(len(of.bm25), True)))


def aged_rows(of: Pool) -> Any:
    """The same, with decay by age for every entry."""
    return features(of.bm25, by_age(of.days))


def bounded_rows(of: Pool) -> Any:
    """Decay by age, and BM25 between 0 and 1."""
    return features(saturated(of.bm25), by_age(of.days))


def meaning_rows(of: Pool) -> Any:
    """Bounded, and the cosine as the fifth signal."""
    return features(saturated(of.bm25), by_age(of.days), meaning=of.meaning)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """A way to score, and the weights its columns have by default."""

    name: str
    rows: Callable[[Pool], Any]
    weights: tuple[float, ...] = DEFAULT
    needs_meaning: bool = False


WITH_MEANING: Final = (0.35, 0.35, 0.15, 0.10, 0.05)
"""The fifth signal given the weight of BM25, and the others less: ours, as the source reserves it at 0."""
SCORED: Final = (
    Scored(name="as printed", rows=printed_rows),
    Scored(name="N4 as printed", rows=lambda of: z_scored(printed_rows(of)), weights=EQUAL),
    Scored(name="decay by age", rows=aged_rows),
    Scored(name="N4, decay by age", rows=lambda of: z_scored(aged_rows(of)), weights=EQUAL),
    Scored(name="bounded BM25, decay by age", rows=bounded_rows),
    Scored(
        name="bounded BM25, decay by age, meaning",
        rows=meaning_rows,
        weights=WITH_MEANING,
        needs_meaning=True,
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Say:
    """What the other signals have to say beside BM25, over many questions.

    `ratio` is BM25's part of the score over all other parts, the median of the entries that share a word
    with their question, `None` where none does; `reach` is how far BM25's part reaches within a question
    over how far the others reach together, the median of the questions, `None` where they do not differ.
    `changed` is the share of questions that are shown other entries than by BM25 alone, `found` of those that
    are shown evidence.
    """

    ratio: float | None
    reach: float | None
    changed: float
    found: float


def say(scored: Scored, pools: Sequence[Pool]) -> Say:
    """Measure one way to score."""
    ratios, reaches, first, still = [], [], [], 0
    for of in pools:
        parts = scored.rows(of) * np.array(scored.weights)
        words, others = parts[:, 1], np.delete(parts, 1, axis=1).sum(axis=1)
        matched = of.bm25 > 0
        ratios.extend(np.abs(words[matched] / others[matched]).tolist())
        first.append(ranking(words + others)[:FIRST])
        if np.ptp(others) > 1e-12:
            reaches.append(float(np.ptp(words) / np.ptp(others)))
        else:
            still += 1
    alone = [ranking(of.bm25)[:FIRST] for of in pools]
    return Say(
        ratio=float(np.median(ratios)) if ratios else None,
        reach=float(np.median(reaches)) if still < len(pools) / 2 else None,
        changed=float(np.mean([set(one) != set(other) for one, other in zip(first, alone, strict=True)])),
        found=float(np.mean([of.evidence[at].any() for of, at in zip(pools, first, strict=True)])),
    )


def same_by_all_scalings(pools: Sequence[Pool]) -> int:
    """For how many questions N0 to N3 rank the entries alike."""
    return sum(len({tuple(ranking(scaled(of.bm25))) for scaled in NORMALISED.values()}) == 1 for of in pools)
