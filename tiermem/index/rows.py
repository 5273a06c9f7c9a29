"""The rows of one space in memory, and the candidates for a question among them.

Rows are numbered as they were appended, and a number never changes. The turns of one session and owner form a
thread: each row is linked to the one before and after it there, whatever was appended in between.

A search is exact. Rows that a caller may not see have no part in what is found, in scores or in rarity.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tiermem.index.bm25 import (
    AVERAGE_STEMS,
    SCENE,
    dimension,
    query_stems,
    rarity,
    weigh_term,
)
from tiermem.index.candidates import Candidates
from tiermem.index.entries import AROUND
from tiermem.index.features import (
    EXACT,
    HAS_WHOLE,
    IS_EMPTY,
    IS_INACTIVE,
    IS_SHORT,
    ITEM_TYPES,
    ITEMS,
    MOST_VALUES,
    ROW,
    Array,
    Block,
    first_items,
    hash_name,
    name_label,
    quantise,
    ranges,
)
from tiermem.index.values import Collection as IndexCollection
from tiermem.index.values import Period, turn_id
from tiermem.text import without_possessive, words

TIES = 2
"""How many times as many rows as were asked for a ranking gives where many have equal scores."""

_DIGITS = 5
"""Decimals in which scores are compared."""

_CHUNK = 2**18
"""Numbers of vectors that are multiplied at a time: with more of them numpy starts threads."""

_LEFT_OUT = -2.0
"""In place of the cosine of a vector that does not count."""


_Held = tuple[Array, Array]
"""The rows that hold a stem, and how often each does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowFilter:
    """Which rows may be seen; `None` and empty ask nothing.

    `owners` are those whose rows are seen in addition to rows without an owner. `said` are days, of which one
    must hold the day of a row, and `events` days of which one must be a day on which what it says may have
    happened. Inactive rows are seen only with `inactive`. A row has all of `values` (see `wanted_values`).
    """

    session: str | None = None
    owners: Collection[str] | None = None
    said: tuple[Period, ...] | None = None
    events: tuple[Period, ...] | None = None
    inactive: bool = False
    values: tuple[int, ...] = ()


ALL_ROWS = RowFilter()
"""Every row may be seen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowQuery:
    """A question for candidates, with the days that it names. Without a vector they are found by words."""

    text: str
    vector: Sequence[float] | None = None
    periods: tuple[Period, ...] = ()


class Rows:
    """The turns or the units of one space. Not safe to use from several threads at once."""

    def __init__(self, dimensions: int, *, kind: IndexCollection = "turns") -> None:
        self._kind = kind
        self._columns = {name: _Column(ROW[name]) for name in ROW.names or ()}
        self._items = {name: _Column(kind) for name, kind in ITEM_TYPES.items() if name != "vectors"}
        self._items["vectors"] = _Column(ITEM_TYPES["vectors"], dimensions)
        self._first = {kind: _Column("<i8") for kind in ITEMS}
        self._left_out = _Column("?")
        self._is_live = _Column("?")
        self._before, self._after = _Column("<i4"), _Column("<i4")
        self._window = _Column("<i4", 2 * AROUND + 1)
        """Numbers, plus one, of the rows that a row is around of; 0 for none."""
        self._around_length = _Column("<i4")
        self._newest: dict[tuple[int, int], int] = {}
        self._terms, self._labels, self._values = _Postings(), _Postings(), _Postings()

    def __len__(self) -> int:
        return len(self._is_live.values)

    def append(self, block: Block) -> None:
        """Add rows after the last one."""
        start, count = len(self), len(block.rows)
        for name, column in self._columns.items():
            column.append(block.rows[name])
        for kind, names in ITEMS.items():
            self._first[kind].append(first_items(block.rows[kind]) + len(self._items[names[0]].values))
            for name in names:
                self._items[name].append(getattr(block, name))
        row_of_vector = np.repeat(np.arange(count), block.rows["vectors"])
        is_first = np.isin(np.arange(len(row_of_vector)), first_items(block.rows["vectors"]))
        self._left_out.append(is_first & ((block.rows["flags"][row_of_vector] & HAS_WHOLE) > 0))
        is_live = (block.rows["flags"] & IS_EMPTY) == 0
        self._is_live.append(is_live)
        for column in (self._before, self._after):
            column.append(np.full(count, -1))
        self._window.append(np.zeros((count, 2 * AROUND + 1)))
        self._around_length.append(np.zeros(count))
        row_of_term = np.repeat(np.arange(count), block.rows["terms"])
        shown = is_live[row_of_term]
        self._terms.add(block.terms[shown], start + row_of_term[shown], block.counts[shown])
        for postings, kind in ((self._labels, "labels"), (self._values, "values")):
            row_of_item = np.repeat(np.arange(count), block.rows[kind])
            shown = is_live[row_of_item]
            items = getattr(block, kind)[shown]
            postings.add(items, start + row_of_item[shown], np.ones(len(items)))
        if self._kind == "turns":
            self._link(start + np.flatnonzero(is_live))

    def ids(self, start: int = 0) -> dict[str, int]:
        """The numbers of rows from one on, those that are not empty, by the ids of turns or units."""
        numbers = start + np.flatnonzero(self._is_live.values[start:])
        if self._kind == "turns":
            return dict(
                zip(
                    map(turn_id, self._columns["seq"].values[numbers].tolist()), numbers.tolist(), strict=True
                )
            )
        return {self.id(number): number for number in numbers.tolist()}

    def key(self, number: int) -> tuple[int, str]:
        """By what rows with equal scores are ordered, and their ids."""
        return int(self._columns["seq"].values[number]), self.id(number)

    def id(self, number: int) -> str:
        """The id of the turn or unit of a row."""
        if self._kind == "turns":
            return turn_id(int(self._columns["seq"].values[number]))
        written: bytes = self._items["id"].values[self._places("id", number)].tobytes()
        return written.decode(errors="surrogatepass")

    def empty(self, numbers: Iterable[int]) -> None:
        """Remove what rows hold. The numbers of turns stay; the adjacent rows become neighbours."""
        near: list[int] = []
        for number in numbers:
            if self._is_live.values[number]:
                near += self._unlink(number) if self._kind == "turns" else []
                kinds = {"terms": self._terms, "labels": self._labels, "values": self._values}
                for kind, postings in kinds.items():
                    postings.remove(self._items[kind].values[self._places(kind, number)], number)
            for kind, names in ITEMS.items():
                for name in names:
                    self._items[name].values[self._places(kind, number)] = 0
            self._left_out.values[self._places("vectors", number)] = True
            seq = self._columns["seq"].values[number] if self._kind == "turns" else 0
            for column in self._columns.values():
                column.values[number] = 0
            self._columns["seq"].values[number], self._columns["flags"].values[number] = seq, IS_EMPTY
            self._is_live.values[number] = False
            self._window.values[number] = self._around_length.values[number] = 0
        self._set_windows(np.array(near, np.int64))

    def select(self, numbers: Array) -> Block:
        """What rows hold, in the order of `numbers`."""
        rows = np.empty(len(numbers), ROW)
        for name, column in self._columns.items():
            rows[name] = column.values[numbers]
        taken: dict[str, Array] = {}
        for kind, names in ITEMS.items():
            places = ranges(self._first[kind].values[numbers], rows[kind])
            taken |= {name: self._items[name].values[places] for name in names}
        return Block(rows=rows, **taken)

    def candidates(self, query: RowQuery, allowed: RowFilter = ALL_ROWS, *, limit: int) -> Candidates:
        """The best `limit` rows by meaning, by words and by words around, and their neighbours.

        With `periods`, as many again of those said in one of them. All that tie with the last of a ranking
        are among them, up to `TIES` times as many.
        """
        corpus = self._corpus(allowed)
        seen = self._visible(allowed, corpus)
        named = frozenset(
            word
            for word in dict.fromkeys(map(without_possessive, words(query.text)))
            if corpus[self._labels.rows(name_label(word))].any()
        )
        stems = query_stems(query.text, without=named)
        by_words, held = self._score_words(stems, corpus)
        around, rarities = self._score_around(held, corpus)
        meaning = self._score_meaning(query.vector, seen)
        then = self._are_said(query.periods) & seen if query.periods else None
        found: list[Array] = []
        for scores in (meaning, by_words, around):
            rows = np.flatnonzero(seen & (scores > 0 if scores is not meaning else np.isfinite(scores)))
            groups = [rows] if then is None else [rows, rows[then[rows]]]
            found += [self._best(scores, some, limit) for some in groups]
        numbers = self._with_neighbours(np.unique(np.concatenate(found)), seen)
        numbers = numbers[np.argsort(self._columns["seq"].values[numbers])]
        nearby = self._visible(replace(allowed, values=()), corpus)
        before, after = (self._nearest(link, numbers, nearby) for link in (self._before, self._after))
        others = np.setdiff1d(np.concatenate([before, after]), [-1, *numbers])
        everything = np.concatenate([numbers, others])
        own, linked = meaning[numbers], self._within_reach(self._before.values[numbers], numbers, 1)
        own[~np.isfinite(own)] = np.nan
        return Candidates(
            block=self.select(everything).without_vectors(),
            before=_places_in(everything, before),
            after=_places_in(everything, after),
            meaning=own,
            exchange=self._score_exchange(query.vector, numbers, linked, own),
            around=around[numbers],
            named=named,
            rarity=rarities,
            total=int(corpus.sum()),
        )

    def rank_by_meaning(
        self, vector: Sequence[float], allowed: RowFilter, limit: int
    ) -> list[tuple[int, float]]:
        """The rows with the best cosines, and these, in no order; all that tie with the last."""
        scores = self._score_meaning(vector, self.visible(allowed))
        return self._with_scores(scores, np.flatnonzero(np.isfinite(scores)), limit)

    def rank_by_words(self, stems: Sequence[str], allowed: RowFilter, limit: int) -> list[tuple[int, float]]:
        """The rows with the best BM25 scores, and these, in no order; all that tie with the last."""
        corpus = self._corpus(allowed)
        scores, _ = self._score_words(stems, corpus)
        rows = np.flatnonzero((scores > 0) & self._visible(allowed, corpus))
        return self._with_scores(scores, rows, limit)

    def similarities(self, vector: Sequence[float], numbers: Sequence[int]) -> list[float | None]:
        """The cosine of each of these rows; `None` of one without vectors."""
        seen = np.zeros(len(self), bool)
        seen[list(numbers)] = True
        cosines = self._score_meaning(vector, seen)[list(numbers)]
        return [cosine if math.isfinite(cosine) else None for cosine in cosines.tolist()]

    def _with_scores(self, scores: Array, rows: Array, limit: int) -> list[tuple[int, float]]:
        best = self._best(scores, rows, limit)
        return list(zip(best.tolist(), scores[best].tolist(), strict=True))

    def _best(self, scores: Array, rows: Array, limit: int) -> Array:
        """The best of some rows, with those that tie with the last; of too many the first by `seq`."""
        if len(rows) <= limit:
            return rows
        some = scores[rows]
        least = np.partition(some, len(some) - limit)[len(some) - limit]
        kept = np.flatnonzero(some >= round(float(least), _DIGITS) - 0.5 * 10**-_DIGITS)
        order = np.lexsort((self._columns["seq"].values[rows[kept]], -np.round(some[kept], _DIGITS)))
        return rows[kept[order[: TIES * limit]]]

    def rarities(self, stems: Iterable[str], allowed: RowFilter) -> dict[str, float]:
        """The IDF of each stem by the words of each row, among the rows that the caller may see."""
        corpus = self._corpus(allowed)
        total, holders = int(corpus.sum()), {stem: self._terms.rows(dimension(stem)) for stem in stems}
        return {stem: rarity(total, int(corpus[rows].sum())) for stem, rows in holders.items()}

    def count(self, allowed: RowFilter = ALL_ROWS) -> int:
        """How many rows may be seen."""
        return int(self.visible(allowed).sum())

    def _corpus(self, allowed: RowFilter) -> Array:
        """Which rows the caller may see, whatever the question is confined to."""
        live, owner = self._is_live.values, self._columns["owner"].values
        if allowed.owners is None:
            return live
        return live & np.isin(owner, np.array([0, *map(hash_name, allowed.owners)], np.uint64))

    def _visible(self, allowed: RowFilter, corpus: Array) -> Array:
        seen = corpus.copy()
        if allowed.session is not None:
            seen &= self._columns["session"].values == np.uint64(hash_name(allowed.session))
        if allowed.said is not None:
            seen &= self._are_said(allowed.said)
        if allowed.events is not None:
            seen &= self._may_have_happened(allowed.events)
        for value in allowed.values:
            has_value = self._columns["values"].values == MOST_VALUES
            has_value[self._values.rows(value)] = True
            seen &= has_value
        if not allowed.inactive:
            seen &= (self._columns["flags"].values & IS_INACTIVE) == 0
        return seen

    def _may_have_happened(self, periods: Iterable[Period]) -> Array:
        rows = np.flatnonzero(self._columns["event"].values > 0)
        places = self._first["event"].values[rows]
        first, last = (self._items["event"].values[places + step] for step in (0, 1))
        inside = np.zeros(len(rows), bool)
        for begin, end in periods:
            inside |= (first <= end.toordinal()) & (last >= begin.toordinal())
        happened = np.zeros(len(self), bool)
        happened[rows[inside]] = True
        return happened

    def _are_said(self, periods: Iterable[Period]) -> Array:
        day = self._columns["day"].values
        inside = np.zeros(len(self), bool)
        for first, last in periods:
            inside |= (day >= first.toordinal()) & (day <= last.toordinal())
        return inside & (day > 0)

    def _score_words(self, stems: Iterable[str], corpus: Array) -> tuple[Array, dict[str, _Held]]:
        """BM25 by the words of each row, and the rows of the corpus that hold each stem."""
        scores, total = np.zeros(len(self)), int(corpus.sum())
        held: dict[str, _Held] = {}
        for stem in stems:
            rows, often = self._terms.get(dimension(stem))
            if total < len(scores):
                shown = corpus[rows]
                rows, often = rows[shown], often[shown]
            scores[rows] += rarity(total, len(rows)) * self._weights(rows, often)
            held[stem] = rows, often
        return scores, held

    def _score_around(self, held: Mapping[str, _Held], corpus: Array) -> tuple[Array, dict[str, float]]:
        """BM25 by the words around each row, and the rarity of each stem there."""
        scores, total = np.zeros(len(self)), int(corpus.sum())
        rarities: dict[str, float] = {}
        for stem, (rows, often) in held.items():
            near, times = self._sum_around(rows, often)
            rarities[stem] = rarity(total, len(near))
            lengths = self._around_length.values[near]
            scores[near] += rarities[stem] * weigh_term(times, lengths, AVERAGE_STEMS["around"])
        return scores, rarities

    def _weights(self, rows: Array, often: Array) -> Array:
        """The weight of a term in each row; a word that only the scene of a unit holds is said no time."""
        lengths = self._columns["length"].values[rows]
        weights: Array = weigh_term(np.maximum(often, 1), lengths, AVERAGE_STEMS[self._kind])
        return np.where(often > 0, weights, SCENE * weights)

    def _sum_around(self, rows: Array, often: Array) -> tuple[Array, Array]:
        """The rows that have some of these around them, and how often a stem occurs there."""
        targets = self._window.values[rows].ravel()
        often = np.repeat(often, 2 * AROUND + 1)
        if len(targets) < len(self) // 8:
            near, places = np.unique(targets, return_inverse=True)
            times = np.bincount(places, often)
        else:
            times = np.bincount(targets, often, len(self) + 1)
            near = np.flatnonzero(times > 0)
            times = times[near]
        return near[near > 0] - 1, times[near > 0]

    def _score_meaning(self, vector: Sequence[float] | None, seen: Array) -> Array:
        """The cosine of the best sentence of each row that may be seen, -inf where there is none."""
        scores = np.full(len(self), -np.inf)
        counts = self._columns["vectors"].values
        rows = np.flatnonzero(counts > 0)
        if vector is None or not len(rows):
            return scores
        shown = rows[seen[rows]]
        if 4 * len(shown) < len(rows):
            starts = first_items(counts[shown])
            cosines = self._cosines(vector, ranges(self._first["vectors"].values[shown], counts[shown]))
            rows = shown
        else:
            starts, cosines = self._first["vectors"].values[rows], self._cosines(vector, slice(None))
        if len(rows):
            scores[rows] = np.maximum.reduceat(cosines, starts)
            scores[(scores <= _LEFT_OUT) | ~seen] = -np.inf
        return scores

    def _cosines(self, vector: Sequence[float], places: Any) -> Array:
        """The cosines of the vectors of sentences at these places."""
        asked, scale = quantise(np.asarray([vector], np.float32))
        products = multiply(self._items["vectors"].values[places], asked[0])
        cosines: Array = products * (self._items["scales"].values[places] * scale[0].astype(np.float64))
        cosines[self._left_out.values[places]] = _LEFT_OUT
        return cosines

    def score_near(self, vector: Sequence[float], numbers: Array, before: Array) -> tuple[Array, Array]:
        """The cosine of the best sentence of each row, and that of it and the row before it, -1 for none."""
        meaning = self._score_meaning(vector, np.ones(len(self), bool))[numbers]
        meaning[~np.isfinite(meaning)] = np.nan
        return meaning, self._score_exchange(vector, numbers, before, meaning)

    def visible(self, allowed: RowFilter) -> Array:
        """Which rows may be seen."""
        return self._visible(allowed, self._corpus(allowed))

    def _score_exchange(
        self, vector: Sequence[float] | None, numbers: Array, before: Array, meaning: Array
    ) -> Array:
        """The cosine of each row and the one before it, taken together; `meaning` where one is long."""
        exchange = meaning.copy()
        flags, counts = self._columns["flags"].values, self._columns["vectors"].values
        short = ((flags & IS_SHORT) > 0) & (counts > 0)
        both = np.flatnonzero((before >= 0) & short[numbers] & short[before])
        if vector is None or not len(both):
            return exchange
        firsts, asked = self._first["vectors"].values, quantise(np.asarray([vector], np.float32))
        own, other = (self._unit_vectors(firsts[rows[both]]) for rows in (numbers, before))
        together = own + other
        length = np.linalg.norm(together, axis=1)
        # Summed row by row: a product of matrices has other last digits where other rows are beside.
        products = (together * (asked[0][0] * asked[1].astype(np.float64))).sum(axis=1)
        cosines = products / np.where(length > 0, length, 1)
        exchange[both] = np.where(length > 0, cosines, exchange[both])
        return exchange

    def _unit_vectors(self, places: Array) -> Array:
        scales = self._items["scales"].values[places].astype(np.float64)
        vectors: Array = self._items["vectors"].values[places] * scales[:, None]
        return vectors

    def _with_neighbours(self, numbers: Array, seen: Array) -> Array:
        """These rows, those before them, and those after them on their page, as far as they may be seen."""
        before = self._within_reach(self._before.values[numbers], numbers, 1)
        after = self._within_reach(self._after.values[numbers], numbers, 0)
        adjacent = np.concatenate([before, after])
        adjacent = adjacent[adjacent >= 0]
        return np.unique(np.concatenate([numbers, adjacent[seen[adjacent]]]))

    def _nearest(self, link: _Column, numbers: Array, seen: Array) -> Array:
        """The nearest rows in one direction of the thread that may be seen."""
        there = self._within_reach(link.values[numbers], numbers, 1)
        while len(passed := np.flatnonzero((there >= 0) & ~seen[there])):
            there[passed] = self._within_reach(link.values[there[passed]], numbers[passed], 1)
        return there

    def _within_reach(self, rows: Array, numbers: Array, pages: int) -> Array:
        """`rows` that are at most so many pages from `numbers`, -1 for others."""
        page = self._columns["page"].values
        distance = page[rows].astype(np.int64) - page[numbers]
        return np.where((rows >= 0) & (abs(distance) <= pages), rows, -1)

    def _places(self, kind: str, number: int) -> slice:
        start = int(self._first[kind].values[number])
        return slice(start, start + int(self._columns[kind].values[number]))

    def _link(self, numbers: Array) -> None:
        """Put new rows in their threads."""
        session, owner, page, line = (
            self._columns[name].values[numbers] for name in ("session", "owner", "page", "line")
        )
        order = np.lexsort((line, page, owner, session))
        ordered, threads = numbers[order], np.stack([session[order], owner[order]], axis=1)
        follows = (threads[1:] == threads[:-1]).all(axis=1)
        self._before.values[ordered[1:][follows]] = ordered[:-1][follows]
        self._after.values[ordered[:-1][follows]] = ordered[1:][follows]
        for group in np.split(ordered, np.flatnonzero(~follows) + 1) if len(ordered) else ():
            first, thread = int(group[0]), self._thread(group[0])
            newest = self._newest.get(thread, -1)
            if newest >= 0 and self._place(first) < self._place(newest):
                for number in group.tolist():
                    self._insert(thread, number)
            else:
                self._connect(thread, newest, first)
                self._newest[thread] = int(group[-1])
        self._set_windows(self._reach(numbers))

    def _insert(self, thread: tuple[int, int], number: int) -> None:
        """Put a row in its place in a thread."""
        after, before = -1, self._newest.get(thread, -1)
        while before >= 0 and self._place(before) > self._place(number):
            after, before = before, int(self._before.values[before])
        self._before.values[number], self._after.values[number] = before, after
        self._connect(thread, before, number)
        self._connect(thread, number, after)

    def _unlink(self, number: int) -> list[int]:
        """Take a row out of its thread; the rows whose surroundings change."""
        before, after = int(self._before.values[number]), int(self._after.values[number])
        near = self._reach(np.array([number]))
        self._before.values[number] = self._after.values[number] = -1
        self._connect(self._thread(number), before, after)
        return [row for row in near.tolist() if row != number]

    def _connect(self, thread: tuple[int, int], before: int, after: int) -> None:
        if before >= 0:
            self._after.values[before] = after
        if after >= 0:
            self._before.values[after] = before
        elif before >= 0:
            self._newest[thread] = before
        else:
            self._newest.pop(thread, None)

    def _thread(self, number: int) -> tuple[int, int]:
        return int(self._columns["session"].values[number]), int(self._columns["owner"].values[number])

    def _place(self, number: int) -> tuple[int, int]:
        return int(self._columns["page"].values[number]), int(self._columns["line"].values[number])

    def _reach(self, numbers: Array) -> Array:
        """Rows and those around them."""
        found = np.zeros(len(self), bool)
        found[numbers] = True
        for link in (self._before, self._after):
            at = numbers
            for _ in range(AROUND):
                at = link.values[at]
                at = at[at >= 0]
                found[at] = True
        return np.flatnonzero(found)

    def _set_windows(self, numbers: Array) -> None:
        """Compute which rows these are around of, and how many stems are around them."""
        numbers = numbers[self._is_live.values[numbers]]
        window = np.zeros((len(numbers), 2 * AROUND + 1), np.int64)
        window[:, AROUND] = numbers + 1
        lengths = self._columns["length"].values
        total = lengths[numbers].astype(np.int64)
        for step, link in ((-1, self._before), (1, self._after)):
            at = numbers
            for distance in range(1, AROUND + 1):
                at = np.where(at >= 0, link.values[at], -1)
                same = self._within_reach(at, numbers, 0)
                near = self._within_reach(at, numbers, 1)
                window[:, AROUND + step * distance] = 1 + (same if step < 0 else near)
                around = near if step < 0 else same
                total += np.where(around >= 0, lengths[around], 0)
        self._window.values[numbers] = window
        self._around_length.values[numbers] = total


def multiply(vectors: Array, asked: Array) -> Array:
    """The products of 8-bit vectors with one, exact: no product depends on other rows."""
    products = np.zeros(len(vectors))
    for first in range(0, len(asked), EXACT):
        part = asked[first : first + EXACT].astype(np.float32)
        chunk = _CHUNK // len(part)
        numbers = np.empty((min(chunk, len(vectors)), len(part)), np.float32)
        for start in range(0, len(vectors), chunk):
            some = vectors[start : start + chunk, first : first + EXACT]
            numbers[: len(some)] = some
            products[start : start + chunk] += numbers[: len(some)] @ part
    return products


def _places_in(numbers: Array, wanted: Array) -> Array:
    """The places of the wanted numbers, -1 for -1."""
    order = np.argsort(numbers)
    places = order[np.searchsorted(numbers, wanted, sorter=order)]
    return np.where(wanted >= 0, places, -1)


class _Column:
    """An array that grows at its end."""

    def __init__(self, kind: Any, width: int | None = None) -> None:
        self._room: Array = np.empty((0,) if width is None else (0, width), kind)
        self.values: Array = self._room

    def append(self, values: Array) -> None:
        length = len(self.values) + len(values)
        if length > len(self._room):
            room = np.empty((length + length // 4, *self._room.shape[1:]), self._room.dtype)
            room[: len(self.values)] = self.values
            self._room = room
        self._room[len(self.values) : length] = values
        self.values = self._room[:length]


class _Postings:
    """The rows that hold each key, in rising order, and how often."""

    def __init__(self) -> None:
        self._held: dict[int, tuple[array[int], array[int]]] = {}

    def add(self, keys: Array, rows: Array, often: Array) -> None:
        """Add rows that are after all others."""
        # Sorted as whole numbers with their places: many times as fast as a stable sort.
        order = np.sort((keys.astype(np.uint64) << np.uint64(32)) | np.arange(len(keys), dtype=np.uint64))
        order = (order & np.uint64(2**32 - 1)).astype(np.int64)
        keys, rows, often = keys[order], rows[order].astype(np.uint32), often[order].astype(np.uint8)
        starts = np.flatnonzero(np.diff(keys.astype(np.int64), prepend=-1))
        ends = [*starts[1:].tolist(), len(order)]
        for key, start, end in zip(keys[starts].tolist(), starts.tolist(), ends, strict=False):
            some, times = rows[start:end].tobytes(), often[start:end].tobytes()
            if key not in self._held:
                self._held[key] = array("I", some), array("B", times)
                continue
            self._held[key][0].frombytes(some)
            self._held[key][1].frombytes(times)

    def remove(self, keys: Array, row: int) -> None:
        for key in keys.tolist():
            rows, often = self._held[key]
            at = bisect_left(rows, row)
            del rows[at], often[at]
            if not rows:
                del self._held[key]

    def get(self, key: int) -> tuple[Array, Array]:
        """The rows that hold a key, and how often each does."""
        rows, often = self._held.get(key, (array("I"), array("B")))
        # Copies: an array that is looked at cannot grow.
        return np.array(rows, np.int64), np.array(often, np.float64)

    def rows(self, key: int) -> Array:
        """The rows that hold a key."""
        return self.get(key)[0]
