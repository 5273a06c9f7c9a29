"""An index in this process alone: nothing is written anywhere, and closing it forgets everything.

It scores exactly and with the formulas of the embedded engine (cosine of the nearest piece, BM25 with
the IDF of the space), so both rank alike. What stands in a space is laid out in arrays by the first
search after a change, which takes time in proportion to the space.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING, Any, Literal, cast

from tiermem.index.encoding import Terms, key
from tiermem.index.fusion import Ranking
from tiermem.index.interface import Collection, Embedder, Period
from tiermem.index.projection import COLLECTIONS, Point, Probe, ProjectedIndex, Scope, Vector

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class MemoryIndex(ProjectedIndex):
    """An index of this process. Opening takes no time; there is nothing to read."""

    exclusive: Literal[True] = True

    def __init__(self, embedder: Embedder) -> None:
        super().__init__(embedder)
        self._lock = RLock()
        self._held: dict[Collection, dict[str, Point]] = {name: {} for name in COLLECTIONS}
        self._tables: dict[tuple[Collection, str], _Table] = {}

    async def compact(self) -> None:
        """What was removed is in no file, and its memory was given back; kept vectors of it go too."""
        self._kept.clear()

    def _upsert(self, collection: Collection, points: Sequence[Point]) -> None:
        with self._lock:
            for point in points:
                self._changed(collection, self._held[collection].get(point.id))
                self._changed(collection, point)
                self._held[collection][point.id] = point

    def _delete(self, collection: Collection, point_ids: Sequence[str]) -> None:
        with self._lock:
            for point_id in point_ids:
                self._changed(collection, self._held[collection].pop(point_id, None))

    def _clear(self, collection: Collection, space: str) -> None:
        with self._lock:
            self._delete(collection, [point.id for point in self._of(collection, space)])

    def _changed(self, collection: Collection, point: Point | None) -> None:
        if point is not None:
            self._tables.pop((collection, point.payload.get("space", "")), None)

    def _of(self, collection: Collection, space: str) -> list[Point]:
        return [point for point in self._held[collection].values() if point.payload.get("space") == space]

    def _table(self, collection: Collection, space: str) -> _Table:
        with self._lock:
            place = (collection, space)
            if place not in self._tables:
                self._tables[place] = _Table(self._of(collection, space))
            return self._tables[place]

    def _find(
        self, collection: Collection, scope: Scope, probes: Sequence[Probe], limit: int
    ) -> list[Ranking]:
        table = self._table(collection, scope.match["space"])
        seen = table.seen(scope)
        return [
            [(table.points[at].payload["id"], score) for at, score in table.best(probe, seen, limit)]
            for probe in probes
        ]

    def _tally(self, collection: Collection, space: str) -> int:
        return len(self._table(collection, space).points)

    def _payloads(self, collection: Collection, point_ids: Sequence[str]) -> list[Mapping[str, Any]]:
        with self._lock:
            held = self._held[collection]
            return [held[point_id].payload for point_id in point_ids if point_id in held]

    def _values(
        self, collection: Collection, scope: Scope, field: str, wanted: Sequence[str]
    ) -> Iterable[str]:
        points = self._table(collection, scope.match["space"]).points
        there = {value for point in points for value in _values_of(point, field)}
        return {value for value in wanted if key(value) in there}

    def _best(
        self, collection: Collection, scope: Scope, probes: Sequence[Probe]
    ) -> list[tuple[float, Terms] | None]:
        table = self._table(collection, scope.match["space"])
        seen = table.seen(scope)
        first = (next(iter(table.best(probe, seen, 1)), None) for probe in probes)
        return [
            (found[1], table.points[found[0]].terms[probe.field]) if found else None
            for found, probe in zip(first, probes, strict=True)
        ]

    def _sync(self) -> None:
        """Nothing to do: there is nothing durable."""

    def _shut(self) -> None:
        with self._lock:
            self._tables.clear()
            for points in self._held.values():
                points.clear()


@dataclass(frozen=True)
class _Rows:
    """Numbers of several points in one array, and the point that each row belongs to."""

    owner: NDArray[np.intp]
    numbers: NDArray[Any]


class _Table:
    """The points of one space in one collection, as arrays. Never changed: a write makes a new one."""

    def __init__(self, points: Sequence[Point]) -> None:
        self.points = points
        self._vectors: dict[str, _Rows] = {}
        self._terms: dict[str, tuple[_Rows, NDArray[np.float64]]] = {}

    def seen(self, scope: Scope) -> NDArray[np.bool_]:
        """Which points a search may see."""
        import numpy as np

        among = self._places(scope.among) if scope.among is not None else range(len(self.points))
        seen = np.zeros(len(self.points), dtype=bool)
        for at in among:
            payload = self.points[at].payload
            seen[at] = _matches(payload, scope.match) and _said_in(payload, scope.said)
        return seen

    def _places(self, point_ids: Iterable[str]) -> Iterator[int]:
        return (self._place[point_id] for point_id in point_ids if point_id in self._place)

    @cached_property
    def _place(self) -> dict[str, int]:
        return {point.id: at for at, point in enumerate(self.points)}

    def best(self, probe: Probe, seen: NDArray[np.bool_], limit: int) -> list[tuple[int, float]]:
        """The places of the best points with their scores, best first, earlier entry ids first."""
        import numpy as np

        scores = self._by_terms(probe) if isinstance(probe.by, dict) else self._by_vector(probe)
        found = np.flatnonzero(seen & (scores > -math.inf))
        if len(found) > limit:
            # All that are as good as the last one stay until ids have decided.
            last = np.partition(scores[found], len(found) - limit)[len(found) - limit]
            found = found[scores[found] >= last]
        pairs = [(int(at), float(scores[at])) for at in found]
        return sorted(pairs, key=lambda pair: (-pair[1], self.points[pair[0]].payload["id"]))[:limit]

    def _by_vector(self, probe: Probe) -> NDArray[np.float64]:
        """The cosine of the nearest vector of each point."""
        import numpy as np

        scores = np.full(len(self.points), -math.inf)
        rows = self._vectors.get(probe.field) or self._stacked(probe.field)
        if len(rows.owner):
            asked = _unit(np.asarray([probe.by], dtype=np.float32))[0]
            np.maximum.at(scores, rows.owner, rows.numbers @ asked)
        return scores

    def _by_terms(self, probe: Probe) -> NDArray[np.float64]:
        """BM25 with the IDF of the space, where a point has one of the terms."""
        import numpy as np

        rows, weights = self._terms.get(probe.field) or self._listed(probe.field)
        scores = np.zeros(len(self.points))
        touched = np.zeros(len(self.points), dtype=bool)
        for term, asked in cast("Terms", probe.by).items():
            here = rows.numbers == term
            owners = rows.owner[here]
            rarity = math.log(1 + (len(self.points) - len(owners) + 0.5) / (len(owners) + 0.5))
            scores[owners] += asked * rarity * weights[here]
            touched[owners] = True
        return np.where(touched, scores, -math.inf)

    def _stacked(self, field: str) -> _Rows:
        import numpy as np

        vectors: list[Vector] = [vector for point in self.points for vector in point.vectors.get(field, ())]
        counts = [len(point.vectors.get(field, ())) for point in self.points]
        rows = np.asarray(vectors, dtype=np.float32)
        made = _Rows(np.repeat(np.arange(len(counts)), counts), _unit(rows) if vectors else rows)
        self._vectors[field] = made
        return made

    def _listed(self, field: str) -> tuple[_Rows, NDArray[np.float64]]:
        import numpy as np

        all_terms = [point.terms.get(field, {}) for point in self.points]
        owner = np.repeat(np.arange(len(all_terms)), [len(terms) for terms in all_terms])
        numbers = np.asarray([term for terms in all_terms for term in terms], dtype=np.int64)
        weights = np.asarray([weight for terms in all_terms for weight in terms.values()], dtype=np.float64)
        self._terms[field] = _Rows(owner, numbers), weights
        return self._terms[field]


def _unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    import numpy as np

    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return cast("NDArray[np.float32]", rows / np.where(lengths > 0, lengths, 1))


def _matches(payload: Mapping[str, Any], match: Mapping[str, str]) -> bool:
    return all(payload.get(field) == value for field, value in match.items())


def _said_in(payload: Mapping[str, Any], periods: Sequence[Period]) -> bool:
    """Whether it was said in one of these periods; without any, always."""
    if not periods:
        return True
    day = str(payload.get("said_at") or "")[:10]
    return any(first.isoformat() <= day <= last.isoformat() for first, last in periods)


def _values_of(point: Point, field: str) -> Sequence[str]:
    value = point.payload.get(field, ())
    return (value,) if isinstance(value, str) else value or ()
