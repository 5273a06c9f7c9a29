"""Candidates for a question: rows of turns with how near they are, whatever index they are of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tiermem.index.features import Array, Block, RowFeatures, join_blocks, pack


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """Rows that may hold what is asked, in the order in which they were said, with how near they are.

    `block` holds the candidates, then the adjacent rows that are no candidates, all without vectors. `before`
    and `after` are
    places in it: of the nearest rows in the thread that may be seen, -1 where there is none on the same page
    or the next. `meaning` is the cosine of the best sentence, `exchange` that of the row and the one before
    it, both NaN without vectors. `around` is the BM25 score of the words around.

    `rarity` is the IDF of each stem that was looked for, by words around, among the rows that the caller may
    see, and `total` how many rows these are. `named` are the asked words that name a speaker there.
    """

    block: Block
    before: Array
    after: Array
    meaning: Array
    exchange: Array
    around: Array
    named: frozenset[str]
    rarity: Mapping[str, float]
    total: int

    def __len__(self) -> int:
        return len(self.meaning)

    @property
    def seqs(self) -> list[int]:
        """The numbers in the log of all rows of the block."""
        seqs: list[int] = self.block.rows["seq"].tolist()
        return seqs

    def without(self, is_hidden: Array) -> Candidates:
        """The same without the rows of the block that are hidden, which count for no other row either."""
        if not is_hidden.any():
            return self
        count = len(self)
        kept = np.flatnonzero(~is_hidden[:count])
        places = np.full(len(is_hidden) + 1, -1)
        left = np.concatenate([kept, count + np.flatnonzero(~is_hidden[count:])])
        places[left] = np.arange(len(left))
        return replace(
            self,
            block=self.block.select(left),
            before=places[self.before[kept]],
            after=places[self.after[kept]],
            meaning=self.meaning[kept],
            exchange=self.exchange[kept],
            around=self.around[kept],
        )

    def with_rows(self, numbers: Sequence[int], rows: Sequence[RowFeatures]) -> Candidates:
        """The same with other rows in these places of the block."""
        others = pack_without_vectors(rows)
        return replace(self, block=self.block.replace(numbers, others))

    def join(self, others: Candidates) -> Candidates:
        """These and others, in the order in which they were said; what is asked is the same for both."""
        counts, total = (len(self), len(others)), len(self.block.rows)
        # Candidates of both, then the other rows of both.
        places = [np.arange(len(one.block.rows)) for one in (self, others)]
        order = np.argsort(np.concatenate([self.seqs[: counts[0]], others.seqs[: counts[1]]]), kind="stable")
        joined = np.concatenate([places[0][: counts[0]], total + places[1][: counts[1]]])[order]
        everything = np.concatenate([joined, places[0][counts[0] :], total + places[1][counts[1] :]])
        moved = np.full(total + len(others.block.rows) + 1, -1)
        moved[everything] = np.arange(len(everything))

        def move(mine: Array, theirs: Array) -> Array:
            places: Array = moved[np.concatenate([mine, np.where(theirs >= 0, total + theirs, -1)])[order]]
            return places

        return replace(
            self,
            block=join_blocks([self.block, others.block]).select(everything),
            before=move(self.before, others.before),
            after=move(self.after, others.after),
            meaning=np.concatenate([self.meaning, others.meaning])[order],
            exchange=np.concatenate([self.exchange, others.exchange])[order],
            around=np.concatenate([self.around, others.around])[order],
        )


def pack_without_vectors(rows: Sequence[RowFeatures]) -> Block:
    """The block of some rows, as candidates have it."""
    return pack(rows, {}, 1)


def gather_candidates(
    block: Block,
    adjacent: Sequence[Sequence[int]],
    count: int,
    *,
    scores: Sequence[Array] | None = None,
    named: frozenset[str] = frozenset(),
    rarity: Mapping[str, float] | None = None,
    total: int = 0,
) -> Candidates:
    """Candidates of a block: its first `count` rows, which are in the order in which they were said.

    `adjacent` are the numbers in the log of the turns right before and after each row. `scores` are meaning,
    exchange and around of each candidate; without them nothing is known but its words.
    """
    seqs: list[int] = block.rows["seq"].tolist()
    places = {seq: place for place, seq in enumerate(seqs)}
    before, after = np.full(len(seqs), -1), np.full(len(seqs), -1)
    for place, others in enumerate(adjacent):
        for other in others:
            there = places.get(other)
            if there is not None:
                first, second = (there, place) if other < seqs[place] else (place, there)
                before[second], after[first] = first, second
    unknown = np.full(count, np.nan)
    meaning, exchange, around = scores or (unknown, unknown, np.zeros(count))
    return Candidates(
        block=block,
        before=before[:count],
        after=after[:count],
        meaning=meaning,
        exchange=exchange,
        around=around,
        named=named,
        rarity=rarity or {},
        total=total,
    )
