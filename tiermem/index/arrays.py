"""Searching in the memory of this process: what the index of one file and that of a process share.

The entries of a space are kept in arrays that grow at their ends, so that putting one entry does not lay
out the others again. Removed entries stay, unseen, until they are a third of all. Scores are exact, by the
formulas of the embedded engine: cosine of the nearest piece, BM25 with the IDF of what may be seen of the
space.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import date
from threading import RLock
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from tiermem.embedding.interface import Embedder
from tiermem.index.bm25 import Terms, rarity
from tiermem.index.encoding import key
from tiermem.index.engine import (
    FILTERED,
    TERMS,
    TIMED,
    TIMES,
    VECTORS,
    Point,
    PointFilter,
    Probe,
    ProjectedIndex,
)
from tiermem.index.fusion import Ranking
from tiermem.index.interface import Collection, Timeframe

FEW = 8
"""Entries removed that are never worth laying out the others again."""

TERM = [("term", "<u4"), ("weight", "<f4")]
"""How a term and its weight are packed."""

TERM_BYTES = 8

_NO_DAY = 0
"""In place of an unknown day: it is before all days."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PackedPoint:
    """A point as bytes by field: unit vectors of 32-bit floats one after another, terms with weights."""

    id: str
    payload: Mapping[str, Any]
    vectors: Mapping[str, bytes]
    terms: Mapping[str, bytes]


def pack(point: Point) -> PackedPoint:
    """A point in the form in which it is kept; its vectors brought to unit length."""
    return PackedPoint(
        id=point.id,
        payload=point.payload,
        vectors={
            name: _unit(np.asarray(vectors, "<f4")).tobytes() for name, vectors in point.vectors.items()
        },
        terms={name: np.array(list(terms.items()), TERM).tobytes() for name, terms in point.terms.items()},
    )


def by_space(points: Iterable[Point]) -> dict[str, list[PackedPoint]]:
    """Points in the form in which they are kept, by the space they are of."""
    found: dict[str, list[PackedPoint]] = {}
    for point in points:
        found.setdefault(str(point.payload["space"]), []).append(pack(point))
    return found


class ArraysIndex(ProjectedIndex):
    """An index that has every space it searches in arrays; a subclass says where they come from."""

    def __init__(self, embedder: Embedder) -> None:
        super().__init__(embedder)
        self._lock = RLock()
        self._tables: dict[tuple[Collection, str], Table] = {}

    @abstractmethod
    def _table(self, collection: Collection, space: str) -> AbstractContextManager[Table]:
        """The entries of a space, as they are now; they are not changed meanwhile."""

    def _find(
        self, collection: Collection, allowed: PointFilter, probes: Sequence[Probe], limit: int
    ) -> list[Ranking]:
        with self._table(collection, allowed.match["space"]) as table:
            seen, corpus = table.seen(allowed), table.seen(allowed.corpus)
            found = [table.best(probe, seen, corpus, limit) for probe in probes]
            return [[(table.entry(at), score) for at, score in ranking] for ranking in found]

    def _payloads(
        self, collection: Collection, space: str, point_ids: Sequence[str]
    ) -> list[Mapping[str, Any]]:
        with self._table(collection, space) as table:
            return [table.payload(point_id) for point_id in point_ids if point_id in table]

    def _tally(self, collection: Collection, scope: PointFilter) -> int:
        with self._table(collection, scope.match["space"]) as table:
            return int(table.seen(scope).sum())

    def _values(
        self, collection: Collection, corpus: PointFilter, field: str, wanted: Sequence[str]
    ) -> Iterable[str]:
        with self._table(collection, corpus.match["space"]) as table:
            return {value for value in wanted if table.has(field, key(value), corpus.owners)}

    def _rarities(self, corpus: PointFilter, terms: Sequence[int]) -> list[float]:
        with self._table("turns", corpus.match["space"]) as table:
            return table.rarities("around", terms, table.seen(corpus))

    async def compact(self) -> None:
        """See `Compacts.compact`; kept vectors of what was removed go too, and the memory that it takes."""
        self._kept.clear()
        await self._call(self._compact)

    def _compact(self) -> None:
        with self._lock:
            for table in self._tables.values():
                table.close_up()


class Table:
    """The entries of one space in one collection. Each has a place; one that is put again gets a new one."""

    def __init__(self, collection: Collection, dimensions: int) -> None:
        self._payloads: list[Mapping[str, Any]] = []
        self._place: dict[str, int] = {}
        self._there = _Growing("?")
        self._days = {field: _Growing("<i4") for field in TIMED[collection]}
        self._named = tuple(name for name in FILTERED[collection] if name != "space")
        self._names = {name: _Names() for name in ("session", "state", "owner")}
        self._said: Counter[tuple[str | None, str, str]] = Counter()
        """How many entries have a value in a field, of each owner and (`None`) of all."""
        self._vectors = {name: _Vectors(dimensions) for name in VECTORS[collection]}
        self._terms = {name: _Terms() for name in TERMS[collection]}

    def __len__(self) -> int:
        return len(self._place)

    def __contains__(self, point_id: str) -> bool:
        return point_id in self._place

    def payload(self, point_id: str) -> Mapping[str, Any]:
        """What is kept of an entry that is there, apart from vectors."""
        return self._payloads[self._place[point_id]]

    def entry(self, place: int) -> str:
        """The key of the entry in a place."""
        return str(self._payloads[place]["id"])

    def has(self, field: str, value: str, owners: Iterable[str] | None = None) -> bool:
        """Whether a field has a value on an unowned entry or one of these owners; `None`: on any entry."""
        of = (None,) if owners is None else ("", *owners)
        return any(self._said[owner, field, value] > 0 for owner in of)

    def put(self, entries: Sequence[PackedPoint]) -> None:
        """Insert or replace by id; ids are given once."""
        self.remove([entry.id for entry in entries])
        first = len(self._payloads)
        self._place.update((entry.id, first + at) for at, entry in enumerate(entries))
        self._payloads += [entry.payload for entry in entries]
        for entry in entries:
            self._said.update(self._named_in(entry.payload))
        self._there.append([True] * len(entries))
        for field, days in self._days.items():
            days.append([_day(entry.payload, field) for entry in entries])
        for name, column in self._names.items():
            column.append([str(entry.payload.get(name, "")) for entry in entries])
        for name, vectors in self._vectors.items():
            vectors.append(first, [entry.vectors.get(name, b"") for entry in entries])
        for name, terms in self._terms.items():
            terms.append(first, [entry.terms.get(name, b"") for entry in entries])

    def remove(self, point_ids: Iterable[str]) -> None:
        """Forget ids; unknown ids are ignored."""
        for point_id in point_ids:
            place = self._place.pop(point_id, None)
            if place is not None:
                self._said.subtract(self._named_in(self._payloads[place]))
                self._payloads[place] = {}
                self._there.rows[place] = False
        if len(self._payloads) - len(self) > max(FEW, len(self) // 2):
            self.close_up()

    def _named_in(self, payload: Mapping[str, Any]) -> Iterator[tuple[str | None, str, str]]:
        owner = str(payload.get("owner", ""))
        for field in self._named:
            value = payload.get(field, ())
            for one in [value] if isinstance(value, str) else value or ():
                yield from ((None, field, one), (owner, field, one))

    def close_up(self) -> None:
        """Lay out what is there without the places of what was removed."""
        there = self._there.rows
        self._payloads = [payload for payload in self._payloads if payload]
        places = there.cumsum() - 1
        self._place = {point_id: int(places[place]) for point_id, place in self._place.items()}
        for rows in (*self._vectors.values(), *self._terms.values()):
            rows.keep(there, places)
        for column in (*self._days.values(), self._there):
            column.keep(there)
        for names in self._names.values():
            names.keep(there)
        self._said = +self._said

    def seen(self, allowed: PointFilter) -> NDArray[np.bool_]:
        """Which places a search may see."""
        seen = self._there.rows.copy()
        for field, value in allowed.match.items():
            if field != "space":
                seen &= self._names[field].are(value)
        if allowed.owners is not None:
            seen &= self._names["owner"].are("", *allowed.owners)
        for timeframe in allowed.when:
            seen &= self._lie_in(timeframe)
        if allowed.among is not None:
            among = np.zeros_like(seen)
            among[[self._place[point_id] for point_id in allowed.among if point_id in self._place]] = True
            seen &= among
        return seen

    def _lie_in(self, timeframe: Timeframe) -> NDArray[np.bool_]:
        """Which places have a day in one of the periods; what has none lies before all days."""
        inside = np.zeros(len(self._payloads), dtype=bool)
        fields = TIMES[timeframe.about]
        if self._days.keys() >= set(fields):
            since, until = (self._days[field].rows for field in fields)
            for first, last in timeframe.periods:
                inside |= (since <= _number(last)) & (until >= _number(first))
        return inside

    def best(
        self, probe: Probe, seen: NDArray[np.bool_], corpus: NDArray[np.bool_], limit: int
    ) -> list[tuple[int, float]]:
        """The places of the best entries with their scores, best first, earlier entry ids first.

        Terms have the IDF of the corpus.
        """
        scores = self._by_terms(probe, corpus) if isinstance(probe.by, dict) else self._by_vector(probe, seen)
        found = np.flatnonzero(seen & (scores > -math.inf))
        if len(found) > limit:
            # All that are as good as the last one stay until ids have decided.
            last = np.partition(scores[found], len(found) - limit)[len(found) - limit]
            found = found[scores[found] >= last]
        pairs = [(int(at), float(scores[at])) for at in found]
        return sorted(pairs, key=lambda pair: (-pair[1], self.entry(pair[0])))[:limit]

    def rarities(self, field: str, terms: Sequence[int], corpus: NDArray[np.bool_]) -> list[float]:
        """The IDF of each term among the entries of the corpus."""
        column, count = self._terms[field], int(corpus.sum())
        holders = (corpus[column.owner.rows[column.holding(term)]].sum() for term in terms)
        return [rarity(count, int(holding)) for holding in holders]

    def _by_vector(self, probe: Probe, seen: NDArray[np.bool_]) -> NDArray[np.float64]:
        """The cosine of the nearest vector of each entry that is seen."""
        scores = np.full(len(self._payloads), -math.inf)
        vectors = self._vectors[probe.field]
        owner, numbers = vectors.owner.rows, vectors.numbers.rows
        if len(owner):
            asked = _unit(np.asarray([probe.by], dtype=np.float32))[0]
            here = seen[owner]
            if 4 * np.count_nonzero(here) < len(owner):
                owner, numbers = owner[here], numbers[here]
            # Not by `@`: its threads take three times the work to be done no sooner, and what a row scores
            # would depend on the rows beside it.
            cosines = np.einsum("ij,j->i", numbers, asked)
            first = np.flatnonzero(np.diff(owner, prepend=-1))  # owners are in rising order
            scores[owner[first]] = np.maximum.reduceat(cosines, first)
        return scores

    def _by_terms(self, probe: Probe, corpus: NDArray[np.bool_]) -> NDArray[np.float64]:
        """BM25 with the IDF of the corpus, where an entry of it has one of the terms."""
        column = self._terms[probe.field]
        owner, weights = column.owner.rows, column.weights.rows
        count = int(corpus.sum())
        scores = np.zeros(len(self._payloads))
        touched = np.zeros(len(self._payloads), dtype=bool)
        for term, asked in cast("Terms", probe.by).items():
            here = column.holding(term)
            places = owner[here]
            allowed = corpus[places]
            if not allowed.all():
                here, places = here[allowed], places[allowed]
            scores[places] += asked * rarity(count, len(here)) * weights[here]
            touched[places] = True
        return np.where(touched, scores, -math.inf)


class _Growing:
    """An array that is appended to; `rows` are what it holds, in the order they came."""

    def __init__(self, kind: Any, width: int | None = None) -> None:
        self._room: NDArray[Any] = np.empty((0,) if width is None else (0, width), kind)
        self._length = 0

    @property
    def rows(self) -> NDArray[Any]:
        return self._room[: self._length]

    def append(self, rows: Any) -> None:
        given = np.asarray(rows, self._room.dtype)
        length = self._length + len(given)
        if length > len(self._room):
            room = np.empty((length + length // 4, *self._room.shape[1:]), self._room.dtype)
            room[: self._length] = self.rows
            self._room = room
        self._room[self._length : length] = given
        self._length = length

    def keep(self, which: NDArray[np.bool_]) -> None:
        """Only those rows."""
        self._room = self.rows[which]
        self._length = len(self._room)


class _Names:
    """A column of names, as a number for each different one."""

    def __init__(self) -> None:
        self.codes = _Growing("<i4")
        self._known: dict[str, int] = {}

    def append(self, names: Sequence[str]) -> None:
        self.codes.append([self._known.setdefault(name, len(self._known)) for name in names])

    def keep(self, which: NDArray[np.bool_]) -> None:
        """Keep only those rows, and only the names that they have."""
        self.codes.keep(which)
        present = np.unique(self.codes.rows)
        names = list(self._known)
        self._known = {names[code]: number for number, code in enumerate(present)}
        self.codes.rows[:] = np.searchsorted(present, self.codes.rows)

    def are(self, *names: str) -> NDArray[np.bool_]:
        """Which rows hold one of the names."""
        if len(names) == 1:
            return cast("NDArray[np.bool_]", self.codes.rows == self._known.get(names[0], -1))
        return np.isin(self.codes.rows, [self._known[name] for name in names if name in self._known])


class _Rows:
    """Rows of several entries, and the place that each belongs to, in rising order."""

    def __init__(self, *columns: _Growing) -> None:
        self.owner = _Growing("<i8")
        self._columns = columns

    def _append(self, first: int, counts: Sequence[int], *columns: NDArray[Any]) -> None:
        """So many rows for each place from `first` on."""
        self.owner.append(np.repeat(np.arange(first, first + len(counts)), counts))
        for column, rows in zip(self._columns, columns, strict=True):
            column.append(rows)

    def keep(self, there: NDArray[np.bool_], places: NDArray[np.intp]) -> None:
        """Only the rows of places that are there, which are called otherwise now."""
        which = there[self.owner.rows]
        for column in (self.owner, *self._columns):
            column.keep(which)
        self.owner.rows[:] = places[self.owner.rows]


class _Vectors(_Rows):
    def __init__(self, dimensions: int) -> None:
        self.numbers = _Growing("<f4", dimensions)
        self._dimensions = dimensions
        super().__init__(self.numbers)

    def append(self, first: int, given: Sequence[bytes]) -> None:
        """The packed vectors of each place from `first` on."""
        counts = [len(one) // (4 * self._dimensions) for one in given]
        self._append(first, counts, np.frombuffer(b"".join(given), "<f4").reshape(-1, self._dimensions))


class _Terms(_Rows):
    def __init__(self) -> None:
        self.terms, self.weights = _Growing("<u4"), _Growing("<f4")
        self._order: NDArray[np.int32] = np.zeros(0, np.int32)
        self._ordered: NDArray[np.uint32] = np.zeros(0, np.uint32)
        super().__init__(self.terms, self.weights)

    def holding(self, term: int) -> NDArray[np.intp]:
        """The rows of a term, in rising order. Rows are sorted once, and again when a quarter is new."""
        terms = self.terms.rows
        if len(terms) - len(self._order) > max(FEW, len(self._order) // 4):
            self._order = np.argsort(terms, kind="stable").astype(np.int32)
            self._ordered = terms[self._order]
        wanted = np.uint32(term)  # of another kind, all terms would be copied
        first = np.searchsorted(self._ordered, wanted)
        last = np.searchsorted(self._ordered, wanted, side="right")
        newer = np.flatnonzero(terms[len(self._order) :] == term) + len(self._order)
        return np.concatenate([self._order[first:last].astype(np.intp), newer])

    def keep(self, there: NDArray[np.bool_], places: NDArray[np.intp]) -> None:
        """See `_Rows.keep`."""
        super().keep(there, places)
        self._order, self._ordered = self._order[:0], self._ordered[:0]

    def append(self, first: int, given: Sequence[bytes]) -> None:
        """The packed terms of each place from `first` on."""
        rows = np.frombuffer(b"".join(given), TERM)
        self._append(first, [len(one) // TERM_BYTES for one in given], rows["term"], rows["weight"])


def _unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    return cast("NDArray[np.float32]", rows / np.where(lengths > 0, lengths, 1))


def _day(payload: Mapping[str, Any], field: str) -> int:
    """The day that a field tells, as a number that rises with the days."""
    return int(str(payload[field])[:10].replace("-", "")) if payload.get(field) else _NO_DAY


def _number(day: date) -> int:
    return int(day.isoformat().replace("-", ""))
