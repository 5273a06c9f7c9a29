"""Candidates as plainly as they can be computed: one turn after another, without arrays."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from tiermem.index.bm25 import dimension, query_stems, rarity
from tiermem.index.features import HAS_WHOLE, IS_SHORT, RowFeatures, hash_name, name_label
from tiermem.index.rows import TIES, RowFilter, RowQuery
from tiermem.text import without_possessive, words

Vectors = Mapping[str, Sequence[float]]


@dataclass(frozen=True)
class PlainCandidate:
    meaning: float | None
    exchange: float | None
    around: float
    before: int | None
    after: int | None


@dataclass(frozen=True)
class PlainCandidates:
    by_seq: Mapping[int, PlainCandidate]
    named: frozenset[str]
    rarity: Mapping[str, float]
    total: int


class PlainRows:
    """Rows that are live, with the vectors of their texts; one of which a vector is missing has none."""

    def __init__(self, rows: Iterable[RowFeatures], vectors: Vectors) -> None:
        self.rows = {row.seq: row for row in sorted(rows, key=lambda row: row.seq)}
        self.vectors = vectors
        self.threads: dict[tuple[int, int], list[RowFeatures]] = {}
        for row in sorted(self.rows.values(), key=lambda row: (row.page, row.line)):
            self.threads.setdefault((row.session, row.owner), []).append(row)

    def candidates(self, query: RowQuery, allowed: RowFilter, *, limit: int) -> PlainCandidates:
        corpus = [row for row in self.rows.values() if _is_owned(row, allowed.owners)]
        seen = {row.seq for row in corpus if _may_be_seen(row, allowed)}
        nearby = {row.seq for row in corpus if _may_be_seen(row, replace(allowed, values=()))}
        asked = dict.fromkeys(map(without_possessive, words(query.text)))
        named = frozenset(word for word in asked if any(name_label(word) in row.labels for row in corpus))
        stems = query_stems(query.text, without=named)
        around = {row.seq: _sum_terms(self.around(row)) for row in corpus}
        words_rarity = {
            stem: rarity(len(corpus), sum(dimension(stem) in row.terms for row in corpus)) for stem in stems
        }
        around_rarity = {
            stem: rarity(len(corpus), sum(dimension(stem) in terms for terms in around.values()))
            for stem in stems
        }
        by_words = {row.seq: _bm25(row.terms, words_rarity, 15) for row in corpus}
        by_around = {seq: _bm25(terms, around_rarity, 80) for seq, terms in around.items()}
        meaning = {row.seq: self.meaning(row, query.vector) for row in corpus}
        best: set[int] = set()
        then = seen if not query.periods else {seq for seq in seen if _is_in(self.rows[seq], query.periods)}
        for among in (seen, then):
            near = {seq: cosine for seq in among if (cosine := meaning[seq]) is not None}
            best |= _best(near, limit)
            for scores in (by_words, by_around):
                best |= _best({seq: scores[seq] for seq in among if scores[seq] > 0}, limit)
        for seq in tuple(best):
            beside = (self.beside(seq, -1, lambda _: True, 1), self.beside(seq, 1, lambda _: True, 0))
            best |= {one for one in beside if one in seen and one is not None}
        found = {
            seq: PlainCandidate(
                meaning=meaning[seq],
                exchange=self.exchange(seq, query.vector),
                around=by_around[seq],
                before=self.beside(seq, -1, nearby.__contains__, 1),
                after=self.beside(seq, 1, nearby.__contains__, 1),
            )
            for seq in sorted(best)
        }
        return PlainCandidates(found, named, around_rarity, len(corpus))

    def around(self, row: RowFeatures) -> list[RowFeatures]:
        thread = self.threads[row.session, row.owner]
        at = thread.index(row)
        before = [one for one in thread[max(0, at - 3) : at] if row.page - one.page <= 1]
        after = [one for one in thread[at : at + 4] if one.page == row.page]
        return before + after

    def beside(self, seq: int, step: int, shown: Callable[[int], bool], pages: int) -> int | None:
        row = self.rows[seq]
        thread = self.threads[row.session, row.owner]
        others = thread[: thread.index(row)][::-1] if step < 0 else thread[thread.index(row) + 1 :]
        near = (one.seq for one in others if abs(one.page - row.page) <= pages and shown(one.seq))
        first = next(near, None)
        if pages == 0 or first is None:
            return first if first is None or others[0].seq == first else None
        return first

    def vectors_of(self, row: RowFeatures) -> list[Sequence[float]]:
        found = [self.vectors.get(text) for text in row.texts]
        return [] if None in found else [one for one in found if one is not None]

    def meaning(self, row: RowFeatures, asked: Sequence[float] | None) -> float | None:
        sentences = self.vectors_of(row)[bool(row.flags & HAS_WHOLE) :]
        return max((_dot(one, asked) for one in sentences), default=None) if asked is not None else None

    def exchange(self, seq: int, asked: Sequence[float] | None) -> float | None:
        row, before = self.rows[seq], self.beside(seq, -1, lambda _: True, 1)
        own = self.vectors_of(row)
        other = [] if before is None else self.vectors_of(self.rows[before])
        if asked is None or not own or not other or before is None:
            return self.meaning(row, asked)
        together = [a + b for a, b in zip(own[0], other[0], strict=True)]
        length = math.hypot(*together)
        if not row.flags & self.rows[before].flags & IS_SHORT or not length:
            return self.meaning(row, asked)
        return _dot(together, asked) / length


def _is_owned(row: RowFeatures, owners: Collection[str] | None) -> bool:
    return owners is None or row.owner in (0, *map(hash_name, owners))


def _may_be_seen(row: RowFeatures, allowed: RowFilter) -> bool:
    return (
        (allowed.session is None or row.session == hash_name(allowed.session))
        and (allowed.said is None or _is_in(row, allowed.said))
        and set(allowed.values) <= set(row.values)
    )


def _is_in(row: RowFeatures, periods: Iterable[tuple[date, date]]) -> bool:
    return any(first.toordinal() <= row.day <= last.toordinal() for first, last in periods if row.day)


def _sum_terms(rows: Iterable[RowFeatures]) -> dict[int, int]:
    total: dict[int, int] = {}
    for row in rows:
        for term, often in row.terms.items():
            total[term] = total.get(term, 0) + often
    return total


def _bm25(terms: Mapping[int, int], rarities: Mapping[str, float], average: int) -> float:
    damping = 1.2 * (0.25 + 0.75 * sum(terms.values()) / average)
    often = {stem: terms.get(dimension(stem), 0) for stem in rarities}
    return sum(rarities[stem] * n * 2.2 / (n + damping) for stem, n in often.items())


def _best(scores: Mapping[int, float], limit: int) -> set[int]:
    ordered = sorted(scores, key=lambda seq: (-round(scores[seq], 5), seq))
    last = round(scores[ordered[:limit][-1]], 5) if ordered else 0.0
    return {seq for seq in ordered if round(scores[seq], 5) >= last} & set(ordered[: TIES * limit])


def _dot(one: Sequence[float], other: Sequence[float]) -> float:
    return math.fsum(a * b for a, b in zip(one, other, strict=True))
